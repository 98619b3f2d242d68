import { isPrincipalName } from '@phasegate/core/contract';
import type { OpenProject, UnlockedHuman } from '../../../runtime/ports.ts';
import type { Invocation } from '../command.ts';
import { askNewPassphrase, FD_HINT, passphraseFrom, weaknessOf } from '../passphrase.ts';
import { asked, TRIES } from '../prompts.ts';
import { unlockHuman } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** Who will decide, settled before anything is written. */
export type Operator =
  | { readonly kind: 'existing'; readonly human: UnlockedHuman }
  | { readonly kind: 'new'; readonly name: string; readonly passphrase: string }
  | { readonly kind: 'none' };

/** Finds out who decides at gates; makes no state where there is none. */
export async function settleOperator(
  invocation: Invocation,
  open: () => Promise<OpenProject | null>,
): Promise<Operator> {
  const { args, env, prompts } = invocation;
  const given = passphraseFrom(args, 'passphrase-fd');
  const project = await open();
  if (project !== null && (await project.humans.list()).length > 0) {
    return {
      kind: 'existing',
      human: await unlockHuman(invocation, { read: given, adminFor: 'setting a project up anew' }),
    };
  }
  const preset = args.text('name') ?? args.text('as');
  const name = preset ?? env.USER ?? env.LOGNAME ?? 'operator';
  if (preset !== undefined || given !== undefined) demandName(name);
  if (given !== undefined) {
    const problem = weaknessOf(given);
    if (problem !== null) throw usageError(problem);
    return { kind: 'new', name, passphrase: given };
  }
  if (args.flag('yes')) return { kind: 'none' };
  if (prompts === null) {
    throw usageError(
      'a human must be set up, and there is no terminal to ask on',
      `${FD_HINT}, or go on without a human: \`--yes\``,
    );
  }
  const chosen = preset ?? (await askName(invocation, name));
  return { kind: 'new', name: chosen, passphrase: await askNewPassphrase(invocation, chosen) };
}

/** Sets up the human that was settled on, and unlocks them. */
export async function setUpOperator(
  invocation: Invocation,
  operator: Operator,
): Promise<UnlockedHuman | null> {
  if (operator.kind === 'none') return null;
  if (operator.kind === 'existing') return operator.human;
  const { humans } = await invocation.open();
  await humans.add(operator.name, operator.passphrase, null);
  return humans.unlock(operator.name, operator.passphrase);
}

async function askName({ prompts, out }: Invocation, hint: string): Promise<string> {
  for (let tries = 0; tries < TRIES && prompts !== null; tries += 1) {
    const answer = await prompts.text(asked('Who decides at gates? Your name', tries), hint);
    if (isPrincipalName(answer)) return answer;
    await out.log(notAName(answer));
  }
  throw usageError(
    'no name was given, and that was the third try: nothing was changed',
    'give it with `--name`',
  );
}

function demandName(name: string): void {
  if (!isPrincipalName(name)) throw usageError(notAName(name), 'give another with `--name`');
}

function notAName(name: string): string {
  return `\`${name}\` is not a name: use letters, digits, \`.\`, \`_\`, \`@\` and \`-\``;
}

import { mkdir } from 'node:fs/promises';
import { PhasegateError } from '@phasegate/core';
import { didYouMean } from '@phasegate/core/model';
import type { UnlockedHuman } from '../../../runtime/ports.ts';
import { CONFIG, DEFAULT_TEMPLATE, filesOf, TEMPLATES, type Template } from '../../../templates/index.ts';
import type { Arguments, CliCommand, Invocation } from '../command.ts';
import { askNewPassphrase, FD_HINT, passphraseFrom } from '../passphrase.ts';
import { HUMAN_OPTIONS, unlockHuman } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';
import { writeMissing } from '../writeMissing.ts';

/** `phasegate init`: what a project needs to begin, keeping all that is there. */
export const init: CliCommand = {
  usage: ['init [--template NAME] [--port N] [--name HUMAN] [--passphrase-fd N] [--yes]'],
  details:
    'Writes `phasegate.config.yaml` and an example workflow with its contract tests, sets up the human who decides at\n' +
    'gates, and accepts what it wrote in their name. What is already there is kept. Over a setup that has a human it\n' +
    "needs that human's passphrase. `--yes` without a passphrase sets up no human.\n" +
    `Templates: ${TEMPLATES.map(({ name, summary }) => `${name} (${summary})`).join(', ')}.`,
  examples: [
    'phasegate init',
    'phasegate init --yes',
    'phasegate init --name maria --passphrase-fd 3 3<secret',
  ],
  options: {
    template: { type: 'text', value: 'NAME', summary: `the example workflow (default ${DEFAULT_TEMPLATE})` },
    name: { type: 'text', value: 'HUMAN', summary: 'the name of the human who decides (default: yours)' },
    yes: { type: 'flag', summary: 'ask nothing' },
    client: { type: 'texts', value: 'NAME', summary: 'not in this release' },
    port: { type: 'text', value: 'N', summary: 'where `phasegate serve` listens (default 8000)' },
    ...HUMAN_OPTIONS,
  },
  anywhere: true,
  positionals: [],
  async run(invocation) {
    const { args, out } = invocation;
    refuseWhatIsToCome(args);
    const template = templateOf(args);
    const port = portOf(args);
    const projectDir = args.text('project');
    if (projectDir !== undefined) await makeFolder(projectDir);
    const { root, stateDir } = await invocation.project();
    const operator = await settleOperator(invocation);
    const { created, kept, ours } = await writeFiles(root, template, port);
    const human = await setUpOperator(invocation, operator);
    const trusted = human === null ? [] : await acceptTemplate(invocation, template, { human, ours });
    const startable = human === null || trusted.includes(template.workflow);
    const next_action = `phasegate ${startable ? 'start' : 'trust'} ${template.workflow}`;
    await out.result(
      {
        root,
        state_dir: stateDir,
        created,
        kept,
        human: human?.principal.name ?? null,
        trusted,
        next_action,
      },
      () =>
        [
          `project ${out.paint.bold(root)}`,
          ...created.map((path) => `${out.paint.green('created')}  ${path}`),
          ...kept.map((path) => `${out.paint.dim('kept')}     ${path}`),
          ...(port === undefined || created.includes(CONFIG)
            ? []
            : [`the config is yours: write \`port: ${port}\` into it`]),
          human === null
            ? 'no human is set up: any workflow starts and nobody can decide; add one with `phasegate humans add NAME`'
            : `human    ${human.principal.name}`,
          ...trusted.map((workflow) => `accepted ${workflow}`),
          `state    ${stateDir}`,
          `next: ${out.paint.cyan(next_action)}`,
        ].join('\n'),
    );
    return 0;
  },
};

/** Contract tests go beside the template's own workflow: they say nothing about one that was there before. */
async function writeFiles(root: string, template: Template, port: number | undefined) {
  const files = await writeMissing(root, filesOf(template, port));
  const tests = await writeMissing(root, files.ours.includes(template.path) ? [template.contract] : []);
  return {
    created: [...files.created, ...tests.created],
    kept: [...files.kept, ...tests.kept],
    ours: files.ours,
  };
}

/** Who will decide, settled before anything is written. */
type Operator =
  | { readonly kind: 'existing'; readonly human: UnlockedHuman }
  | { readonly kind: 'new'; readonly name: string; readonly passphrase: string }
  | { readonly kind: 'none' };

async function settleOperator(invocation: Invocation): Promise<Operator> {
  const { args, env, prompts } = invocation;
  const given = passphraseFrom(args, 'passphrase-fd');
  const { humans } = await invocation.open();
  if ((await humans.list()).length > 0) {
    return { kind: 'existing', human: await unlockHuman(invocation, { read: given }) };
  }
  const preset = args.text('name') ?? args.text('as');
  const name = preset ?? env.USER ?? env.LOGNAME ?? 'operator';
  if (given !== undefined) return { kind: 'new', name, passphrase: given };
  if (args.flag('yes')) return { kind: 'none' };
  if (prompts === null) {
    throw usageError(
      'a human must be set up, and there is no terminal to ask on',
      `${FD_HINT}, or go on without a human: \`--yes\``,
    );
  }
  const chosen = preset ?? (await prompts.text('Who decides at gates? Your name', name));
  return { kind: 'new', name: chosen, passphrase: await askNewPassphrase(invocation, chosen) };
}

async function setUpOperator(invocation: Invocation, operator: Operator): Promise<UnlockedHuman | null> {
  if (operator.kind === 'none') return null;
  if (operator.kind === 'existing') return operator.human;
  const { humans } = await invocation.open();
  await humans.add(operator.name, operator.passphrase, null);
  return humans.unlock(operator.name, operator.passphrase);
}

/** Accepts the template's workflow, but only where its file is, byte for byte, what `init` writes. */
async function acceptTemplate(
  invocation: Invocation,
  template: Template,
  { human, ours }: { readonly human: UnlockedHuman; readonly ours: readonly string[] },
): Promise<readonly string[]> {
  if (!ours.includes(template.path)) return [];
  // The project was found before its files were written.
  await invocation.close();
  const project = await invocation.open();
  const { closure, workflow } = await project.trust.workflows.card(template.path);
  await project.trust.workflows.accept(template.path, closure, human);
  return [workflow];
}

function refuseWhatIsToCome(args: Arguments): void {
  if (args.texts('client').length === 0) return;
  throw usageError(
    '`--client` is not in this release: settings for clients come with the hooks',
    'run `phasegate init` without it',
  );
}

function portOf(args: Arguments): number | undefined {
  const given = args.text('port');
  if (given === undefined || (/^[1-9]\d{0,4}$/.test(given) && Number(given) < 65536)) {
    return given === undefined ? undefined : Number(given);
  }
  throw usageError(`\`--port\` needs a number from 1 to 65535, not \`${given}\``);
}

function templateOf(args: Arguments): Template {
  const name = args.text('template') ?? DEFAULT_TEMPLATE;
  const template = TEMPLATES.find((candidate) => candidate.name === name);
  if (template !== undefined) return template;
  const names = TEMPLATES.map((candidate) => candidate.name);
  throw usageError(
    `there is no template \`${name}\`${didYouMean(name, names)}`,
    `templates: ${names.join(', ')}`,
  );
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new PhasegateError('file_unreadable', `\`${path}\` cannot be made: ${reason}`, { cause });
  }
}

import type { RunView } from '@phasegate/core';
import { encodeRun } from '@phasegate/wire';
import type { GateCard } from '../../../runtime/ports.ts';
import type { CliCommand, Invocation } from '../command.ts';
import { notesOn } from '../notesOn.ts';
import { runOf } from '../runOf.ts';
import { SHELL } from '../spell.ts';
import { showsUnicode } from '../text/ascii.ts';
import { describeRun } from '../text/describeRun.ts';
import { callerOf, HUMAN_OPTIONS } from '../unlockHuman.ts';

/** `phasegate status`: one run, all that the caller may see of it. */
export const status: CliCommand = {
  usage: ['status [RUN]'],
  details:
    'At a gate it names `phasegate decide`, which shows the gate card and asks. With a human credential it prints the\n' +
    'card itself, and the command that decides with its hash; the JSON has it as `gate_card`, the hash as `gate.shown`.',
  examples: ['phasegate status RUN', 'phasegate status RUN --json'],
  options: HUMAN_OPTIONS,
  positionals: ['RUN'],
  runFromEnvironment: true,
  runByDefault: true,
  server: 'used',
  async run(invocation) {
    const { out } = invocation;
    const caller = await callerOf(invocation);
    const runId = await runOf(invocation, caller, 'unfinished');
    const project = await invocation.reach();
    const seen = await project.as(caller).view(runId);
    // A server gives the card to humans alone, hash and all.
    const human = caller.kind === 'human';
    const asked = seen.gate !== null && (human || invocation.server === null);
    const found = asked ? await project.gateCard(runId) : null;
    // The two are read one after the other: the hash of another gate must not stand beside this one.
    const card = found?.gate === seen.gate?.id ? found : null;
    const view = card === null ? seen : withShown(seen, card.shown);
    // The line that signs stands only below the card it signs: pasted from elsewhere, it would decide unseen.
    const screen = card !== null && human ? view : seen;
    // The card holds the agent's evidence and the gate's context: for humans only.
    const told = card !== null && human ? card : null;
    const notes = told === null ? [] : await notesOn(invocation, told.card);
    const lines = told === null ? [] : await cardLines(invocation, { ...told, notes });
    const more = told === null ? {} : { gate_card: told.card, shown: told.shown };
    await out.result({ ...encodeRun(view, SHELL), ...more }, () =>
      [describeRun(screen, out), ...lines].join('\n'),
    );
    return 0;
  },
};

function withShown(view: RunView, shown: string): RunView {
  return view.gate === null ? view : { ...view, gate: { ...view.gate, shown } };
}

/** Only a human at a gate is shown a card, so what draws it is loaded only then. */
async function cardLines(
  { out, env }: Invocation,
  { card, shown, notes }: GateCard & { readonly notes: readonly string[] },
): Promise<readonly string[]> {
  const { cardText } = await import('../text/cardText.ts');
  return ['', cardText(card, { width: out.width, paint: out.paint, utf8: showsUnicode(env), shown, notes })];
}

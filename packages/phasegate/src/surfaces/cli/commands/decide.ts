import { canonicalJson, type GateView, type JsonObject } from '@phasegate/core';
import type { CliCommand, Invocation } from '../command.ts';
import { refuse } from '../refuse.ts';
import { reportRun } from '../reportSubmitted.ts';
import { describeJson } from '../text/describeJson.ts';
import { HUMAN_OPTIONS, unlockHuman } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** `phasegate decide`: a human's signed choice at a gate. */
export const decide: CliCommand = {
  usage: ['decide RUN --option LABEL [--input TEXT] [--as NAME] [--passphrase-fd N] [--shown HASH]'],
  details:
    'Asks for the passphrase, shows what is to be decided, and signs the choice together with the hash of what\n' +
    'was shown. On a terminal the option may be left out and is asked for.',
  examples: [
    'phasegate decide RUN',
    'phasegate decide RUN --option Approve --passphrase-fd 3 3<secret',
    'phasegate decide RUN --option Reject --input "the plan has no rollback" --as maria',
  ],
  options: {
    option: { type: 'text', value: 'LABEL', summary: 'one of the options the gate offers' },
    input: { type: 'text', value: 'TEXT', summary: 'what to tell the agent; some options need it' },
    shown: { type: 'text', value: 'HASH', summary: 'decide only if the gate card still has this hash' },
    ...HUMAN_OPTIONS,
  },
  positionals: ['RUN'],
  server: 'used',
  async run(invocation) {
    const { args, out, prompts } = invocation;
    const runId = args.positionals[0] as string;
    const human = await unlockHuman(invocation);
    const project = await invocation.reach();
    const gatekeeper = project.as(human.principal);
    const { gate: view, status } = await gatekeeper.view(runId);
    const card = await project.gateCard(runId);
    if (card === null || view === null) {
      return refuse(out, {
        error: 'run_not_waiting',
        message: `run \`${runId}\` is ${status} and waits at no gate`,
      });
    }
    const expected = args.text('shown');
    if (expected !== undefined && expected !== card.shown) {
      return refuse(out, {
        error: 'shown_changed',
        message: `what is to be decided is not what was shown: the gate card now has the hash \`${card.shown}\``,
      });
    }
    if (prompts !== null) await out.log(cardText(card.card));
    const option = await chooseOption(invocation, view);
    const input = await chooseInput(invocation, view, option);
    const { gate, shown } = card;
    const by = human.principal.name;
    const signature = human.sign(
      canonicalJson({ run: runId, gate, option, input: input ?? null, shown, by }),
    );
    const submitted = await gatekeeper.submit(runId, {
      kind: 'decide',
      gate,
      option,
      shown,
      signature,
      ...(input === undefined ? {} : { input }),
    });
    return reportRun(out, submitted);
  },
};

function cardText(card: JsonObject): string {
  // The whole card, because its hash is what the human signs.
  return `${describeJson(card).trimStart()}\n`;
}

async function chooseOption({ args, prompts }: Invocation, gate: GateView): Promise<string> {
  const given = args.text('option');
  if (given !== undefined) return given;
  const labels = gate.options.map(({ label }) => label);
  if (prompts === null) throw usageError('`--option LABEL` is missing', `options: ${labels.join(', ')}`);
  return prompts.select(gate.prompt, labels);
}

async function chooseInput(
  { args, prompts }: Invocation,
  gate: GateView,
  option: string,
): Promise<string | undefined> {
  const given = args.text('input');
  const needed = gate.options.find(({ label }) => label === option)?.requires_input === true;
  if (given !== undefined || !needed) return given;
  if (prompts === null) throw usageError(`\`--input TEXT\` is missing: \`${option}\` needs it`);
  return prompts.text(`${option}: what should the agent know?`);
}

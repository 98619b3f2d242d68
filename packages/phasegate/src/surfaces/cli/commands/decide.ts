import { type JsonObject, own, type RunView, type Submitted } from '@phasegate/core';
import { shellWord } from '@phasegate/core/model';
import type { Gates, UnlockedHuman } from '../../../runtime/ports.ts';
import { atRun, seenBefore } from '../atRun.ts';
import { Cancelled } from '../cancelled.ts';
import type { CliCommand, Invocation } from '../command.ts';
import { notesOn } from '../notesOn.ts';
import { refuse } from '../refuse.ts';
import { reportToHuman } from '../reportSubmitted.ts';
import { humanAndRun } from '../runOf.ts';
import { showsUnicode } from '../text/ascii.ts';
import { cardText } from '../text/cardText.ts';
import { HUMAN_OPTIONS, LOCAL_AGENT } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** `phasegate decide`: a human's signed choice at a gate. */
export const decide: CliCommand = {
  usage: [
    'decide [RUN] [--option LABEL] [--input TEXT] [--as NAME]',
    'decide [RUN] --option LABEL --shown HASH [--input TEXT] [--as NAME] [--passphrase-fd N]',
  ],
  details:
    'On a terminal it asks for the passphrase, shows the gate card, and then asks for the choice. Without a terminal\n' +
    'nobody can be shown the card: `--shown` must then name the hash of the one that was read, which\n' +
    '`phasegate status RUN --as NAME` prints beside the card. The choice is signed together with that hash.',
  examples: [
    'phasegate decide RUN',
    'phasegate decide RUN --option Approve --shown HASH --passphrase-fd 3 3<~/secret',
    'phasegate decide RUN --option Reject --input "the plan has no rollback" --as maria',
  ],
  options: {
    option: { type: 'text', value: 'LABEL', summary: 'one of the options the gate offers' },
    input: { type: 'text', value: 'TEXT', summary: 'what to tell the agent; some options need it' },
    shown: {
      type: 'text',
      value: 'HASH',
      summary: 'the hash of the gate card that was read; needed where there is no terminal',
    },
    ...HUMAN_OPTIONS,
  },
  positionals: ['RUN'],
  runByDefault: true,
  server: 'used',
  async run(invocation) {
    const { args, out, prompts } = invocation;
    await demandShown(invocation);
    const before = await seenBefore(invocation);
    if (before !== null && before.gate === null) return refuse(out, notWaiting(before));
    const { human, runId } = await humanAndRun(invocation, 'at a gate');
    const there = await atRun(invocation, runId);
    const project = await there.reach();
    const card = await project.gateCard(runId);
    if (card === null) return refuse(out, notWaiting(await project.as(human.principal).view(runId)));
    const expected = args.text('shown');
    if (expected !== undefined && expected !== card.shown) {
      const made = await onRecord(invocation, { project, runId, human, gate: card.gate, shown: expected });
      if (made?.verdict.allowed) return reportToHuman(out, made);
      return refuse(out, {
        error: 'shown_changed',
        message: 'what is to be decided is not what was shown; read the card again and decide',
        next_action: statusCall(invocation, runId, human.principal.name),
      });
    }
    if (prompts !== null) {
      const notes = await notesOn(there, card.card);
      const screen = {
        width: out.width,
        paint: out.paint,
        utf8: showsUnicode(invocation.env),
        shown: card.shown,
        notes,
      };
      await out.log(cardText(card.card, screen));
    }
    const asked = choiceOf(card.card);
    const option = await chooseOption(invocation, asked);
    if (option === null) {
      await out.log(`nothing was signed: the run waits for \`phasegate decide ${shellWord(runId)}\``);
      return 0;
    }
    const input = await chooseInput(invocation, asked, option);
    await confirmGiven(invocation, option);
    const { gate, shown } = card;
    const choice = { gate, option, shown, card: card.card, ...(input === undefined ? {} : { input }) };
    const submitted = await project.decide(runId, choice, human);
    return reportToHuman(out, submitted);
  },
};

function notWaiting({ run, status }: Pick<RunView, 'run' | 'status'>) {
  return {
    error: 'run_not_waiting',
    message: `run \`${run}\` is ${status} and waits at no gate`,
    next_action: `phasegate status ${shellWord(run)}`,
  } as const;
}

/** A decision on a card that stands there no longer is refused by the engine, as all are, so that it is on record. */
async function onRecord(
  { args }: Invocation,
  { project, runId, human, gate, shown }: Stale,
): Promise<Submitted | null> {
  const [option, input] = [args.text('option'), args.text('input')];
  if (option === undefined) return null;
  return project.decide(runId, { gate, option, shown, ...(input === undefined ? {} : { input }) }, human);
}

interface Stale {
  readonly project: Gates;
  readonly runId: string;
  readonly human: UnlockedHuman;
  readonly gate: string;
  readonly shown: string;
}

/** INVARIANT: nobody decides unseen. Another gate may have opened since the line was copied that is now pasted. */
async function demandShown(invocation: Invocation): Promise<void> {
  const { args, prompts } = invocation;
  if (prompts !== null || args.text('option') === undefined || args.text('shown') !== undefined) return;
  throw usageError(
    '`--shown HASH` is missing: there is no terminal to show the gate card on, so say which one was read',
    `\`${await whereItIsRead(invocation)}\` prints the card, and the command with its hash`,
  );
}

/** That call with what is known without a passphrase: the one run that an agent here sees at a gate, the one human. */
async function whereItIsRead(invocation: Invocation): Promise<string> {
  const [word = ''] = invocation.args.positionals;
  if (invocation.server !== null) return statusCall(invocation, word || 'RUN');
  const open = await invocation.open();
  const { candidatesFor } = await import('../chooseRun.ts');
  const [run, ...runs] = word === '' ? await candidatesFor(open.as(LOCAL_AGENT), 'at a gate') : [];
  const [human, ...humans] = await open.humans.list();
  const runId = run === undefined || runs.length > 0 ? word || 'RUN' : run.run;
  return statusCall(invocation, runId, human === undefined || humans.length > 0 ? undefined : human.name);
}

/** The call that prints the card: only a human is shown it, and where the run is. */
function statusCall({ args, server }: Invocation, runId: string, only = 'NAME'): string {
  const at = server?.from === '--url' ? ` --url ${shellWord(server.url)}` : '';
  return `phasegate status ${shellWord(runId)} --as ${shellWord(args.text('as') ?? only)}${at}`;
}

/** An option from the command line was chosen before the card was on the screen. */
async function confirmGiven({ args, prompts }: Invocation, option: string): Promise<void> {
  if (prompts === null || args.text('option') === undefined) return;
  await prompts.forget();
  if (!(await prompts.confirm(`Choose ${option}?`))) throw new Cancelled();
}

/** What the card asks: the human chooses from what was shown and from nothing else. */
interface Choice {
  readonly prompt: string;
  readonly options: readonly { readonly label: string; readonly needsInput: boolean }[];
}

function choiceOf(card: JsonObject): Choice {
  const options = own(card, 'options');
  return {
    prompt: String(own(card, 'prompt')),
    options: (Array.isArray(options) ? options : []).map((option) => ({
      label: String(own(option, 'label')),
      needsInput: own(option, 'requires_input') === true,
    })),
  };
}

/** Stands first, so that an Enter that comes too early decides nothing. */
const LATER = 'decide later: nothing is signed';

/** Null where the human decides later. */
async function chooseOption({ args, prompts }: Invocation, gate: Choice): Promise<string | null> {
  const given = args.text('option');
  if (given !== undefined) return given;
  const labels = gate.options.map(({ label }) => label);
  if (prompts === null) throw usageError('`--option LABEL` is missing', `options: ${labels.join(', ')}`);
  return prompts.choose(gate.prompt, labels, LATER);
}

async function chooseInput(
  { args, prompts }: Invocation,
  gate: Choice,
  option: string,
): Promise<string | undefined> {
  const given = args.text('input');
  const needed = gate.options.find(({ label }) => label === option)?.needsInput === true;
  if (given !== undefined || !needed) return given;
  if (prompts === null)
    throw usageError(
      `\`--input TEXT\` is missing: \`${option}\` needs it`,
      'add `--input "TEXT"`, in your words what the agent should know',
    );
  return prompts.text(`${option}: what should the agent know?`);
}

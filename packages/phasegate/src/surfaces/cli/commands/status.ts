import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PhasegateError, type RunView } from '@phasegate/core';
import { oneLine } from '@phasegate/core/model';
import { encodeRun } from '@phasegate/wire';
import type { GateCard, HookSession, Hooks, Pause } from '../../../runtime/ports.ts';
import { atRun } from '../atRun.ts';
import type { CliCommand, Invocation } from '../command.ts';
import { notesOn } from '../notesOn.ts';
import { runOf } from '../runOf.ts';
import { SHELL } from '../spell.ts';
import { showsUnicode } from '../text/ascii.ts';
import { describeRun } from '../text/describeRun.ts';
import { type ReportingSession, sessionLine, spelledSession } from '../text/describeSession.ts';
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
    const runId = await runOf(invocation, caller, 'unfinished').catch(async (error: unknown) => {
      throw await withPlace(invocation, error);
    });
    const project = await invocation.reach();
    const seen = await project.as(caller).view(runId);
    // A server gives the card to humans alone, hash and all.
    const human = caller.kind === 'human';
    const asked = seen.gate !== null && (human || invocation.server === null);
    const there = asked ? await atRun(invocation, runId) : invocation;
    const found = asked ? await (await there.reach()).gateCard(runId) : null;
    // The two are read one after the other: the hash of another gate must not stand beside this one.
    const card = found?.gate === seen.gate?.id ? found : null;
    const view = card === null ? seen : withShown(seen, card.shown);
    // The line that signs stands only below the card it signs: pasted from elsewhere, it would decide unseen.
    const screen = card !== null && human ? view : seen;
    // The card holds the agent's evidence and the gate's context: for humans only.
    const told = card !== null && human ? card : null;
    const notes = told === null ? [] : await notesOn(there, told.card);
    const lines = told === null ? [] : await cardLines(invocation, { ...told, notes });
    const more = told === null ? {} : { gate_card: told.card, shown: told.shown };
    const server = await serverHere(invocation);
    const hooks = invocation.server === null ? (await invocation.open()).hooks : null;
    const paused = (await hooks?.pause()) ?? null;
    const sessions = hooks === null ? [] : await reporting(hooks, runId);
    const pauses = paused === null ? [] : [pauseLine(paused)];
    const known = sessions.length === 0 ? {} : { sessions: sessions.map(spelledSession) };
    const beside = { ...server.json, ...(paused === null ? {} : { paused }), ...known };
    await out.result({ ...encodeRun(view, SHELL), ...more, ...beside }, () =>
      [describeRun(screen, out), ...server.lines, ...pauses, ...sessions.map(sessionLine), ...lines].join(
        '\n',
      ),
    );
    return 0;
  },
};

/** The same fault, with what there is to say of the project where no run is under way: a pause is about just that. */
async function withPlace(invocation: Invocation, error: unknown): Promise<unknown> {
  if (!(error instanceof PhasegateError) || error.code !== 'usage' || invocation.server !== null)
    return error;
  const paused = await (await invocation.open()).hooks.pause();
  const { lines } = await serverHere(invocation);
  const told = [...lines, ...(paused === null ? [] : [pauseLine(paused)])];
  if (told.length === 0) return error;
  // A list of runs is a hint of several lines: what would be on the last one would belong to that run.
  const between = error.hint?.includes('\n') === true ? '\n' : '; ';
  return new PhasegateError(error.code, error.message, { hint: [error.hint ?? '', ...told].join(between) });
}

/** The server that judges what hooks ask, where the run is here and a server is to be seen. */
async function serverHere(
  invocation: Invocation,
): Promise<{ readonly json: object; readonly lines: readonly string[] }> {
  const background = invocation.machine?.background;
  if (invocation.server !== null || background === undefined) return { json: {}, lines: [] };
  const { stateDir } = await invocation.project();
  const seen = existsSync(join(stateDir, 'server.json')) ? await background.look(stateDir) : NOT_RUNNING;
  if (seen.state === 'none') return { json: {}, lines: [] };
  if (seen.state !== 'running') return { json: { server: { state: seen.state } }, lines: [] };
  const { url, pid } = seen.entry;
  const { describeServer } = await import('../text/describeServer.ts');
  return {
    json: { server: { state: seen.state, url, pid } },
    lines: [`server ${describeServer(seen.entry)}`],
  };
}

/** Those sessions, with what they reported of their calls in the run. */
async function reporting(
  hooks: Pick<Hooks, 'sessions' | 'reports'>,
  run: string,
): Promise<readonly ReportingSession[]> {
  const sessions = atWork(await hooks.sessions(), run);
  const calls = await Promise.all(sessions.map((session) => hooks.reports(session, run)));
  return sessions.map((session, at) => ({ ...session, calls: calls[at] ?? NO_CALLS }));
}

const NO_CALLS = { observed: 0, claimed: 0 } as const;

/** The sessions of clients that work on a run, or of which something was found, the last heard of first; a few. */
function atWork(sessions: readonly HookSession[], run: string): readonly HookSession[] {
  const live = sessions.filter(
    (session) => session.run === run && (!session.ended || session.found !== null),
  );
  return live.sort((one, other) => (one.lastAt < other.lastAt ? 1 : -1)).slice(0, 10);
}

/** That sessions without a run are free now. */
function pauseLine({ until, by, reason }: Pause): string {
  return `paused until ${until} by ${oneLine(by)}: ${oneLine(reason)}; sessions without a run are free`;
}

const NOT_RUNNING = { state: 'none' } as const;

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

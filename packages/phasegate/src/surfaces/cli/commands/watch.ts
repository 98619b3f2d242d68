import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Principal } from '@phasegate/core';
import { oneLine } from '@phasegate/core/model';
import type { CliCommand, ExitCode, Invocation } from '../command.ts';
import { wholeRun } from '../runOf.ts';
import { visible, visibleJson } from '../text/visible.ts';
import { callerOf, HUMAN_OPTIONS, unlockHuman } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';
import { type Change, callsHuman, changeJson, changeLine, changesBetween } from '../watch/changes.ts';
import { drawRuns, type RunsOnScreen } from '../watch/drawRuns.ts';
import { followRuns } from '../watch/followRuns.ts';
import { createLook, hasEnded, type WatchedRun } from '../watch/watchedRuns.ts';

/** `phasegate watch`: runs, gates and agents, as they change. */
export const watch: CliCommand = {
  usage: ['watch [RUN] [--notify]'],
  details:
    'On a terminal, one screen that is drawn again when something happens: goal, phase, agent and lease of every run,\n' +
    'and at each gate the command to decide with. Elsewhere, one line for each change, with `--json` one JSON value on\n' +
    'each line. With RUN it ends when that run does, else with Ctrl-C. It changes nothing and renews no lease. Without a\n' +
    'credential it shows what an agent may see; with `--as` or `--passphrase-fd`, and at a server, what a human may.',
  examples: ['phasegate watch', 'phasegate watch --notify', 'phasegate watch RUN --json'],
  options: {
    notify: { type: 'flag', summary: 'ring the terminal when a human is waited for' },
    ...HUMAN_OPTIONS,
  },
  positionals: ['[RUN]'],
  server: 'used',
  async run(invocation) {
    const { args, out, machine, env } = invocation;
    if (machine === null) throw usageError('nothing can be watched from here');
    const signal = machine.stopping();
    if (!(await stateIsThere(invocation, signal))) return 0;
    const caller = await watcherOf(invocation);
    const project = await invocation.reach();
    const [word] = args.positionals;
    const run = word === undefined ? undefined : await wholeRun(invocation, caller, word);
    const look = createLook({ project, caller, run });
    // Asked once before the terminal is taken: what is wrong then is said on the one the human sees.
    const first = await look();
    const screen = out.screen === null ? null : await drawRuns(out, env, noteFor(caller));
    const show = showing(invocation, screen);
    try {
      if (await show(first)) await followRuns({ feed: project.feed, look, show, signal });
    } finally {
      await screen?.close();
    }
    return lastWord(invocation, show.last());
  },
};

/** At a server only a human is told of all that happens. */
async function watcherOf(invocation: Invocation): Promise<Principal> {
  return invocation.server === null ? callerOf(invocation) : (await unlockHuman(invocation)).principal;
}

/** Opening a project's state would make it: where there is none yet, it is waited for. */
async function stateIsThere(invocation: Invocation, signal: AbortSignal): Promise<boolean> {
  if (invocation.server !== null) return true;
  const { stateDir } = await invocation.project();
  const isThere = () => ['state.db', 'made'].some((name) => existsSync(join(stateDir, name)));
  if (isThere()) return true;
  if (invocation.args.positionals[0] === undefined) {
    await invocation.out.log('no run was ever started here; waiting for the first');
    while (!signal.aborted && !isThere()) await pause(500, signal);
    return !signal.aborted;
  }
  return true;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
  });
}

interface Showing {
  (runs: readonly WatchedRun[]): Promise<boolean>;
  last(): readonly WatchedRun[];
}

/** Shows every look, and rings where that is wanted; says whether there is more to see. */
function showing({ args, out }: Invocation, screen: RunsOnScreen | null): Showing {
  const one = args.positionals[0] !== undefined;
  let first = true;
  // A run that was named is shown also where it has ended.
  let before: readonly WatchedRun[] | null = one ? [] : null;
  const show = async (runs: readonly WatchedRun[]) => {
    const changes = changesBetween(before, runs);
    before = runs;
    if (screen !== null) await screen.draw(runs);
    else for (const change of changes) await out.raw(lineOf(change, out.json));
    const called = first ? [] : changes.filter(callsHuman);
    first = false;
    if (args.flag('notify') && out.live && called.length > 0) await out.line(ringing(called));
    return !out.closed && !(one && runs.every(hasEnded));
  };
  return Object.assign(show, { last: () => before ?? [] });
}

function lineOf(change: Change, json: boolean): string {
  if (json) return `${visibleJson(JSON.stringify(changeJson(change)))}\n`;
  return `${visible(changeLine(change), null)}\n`;
}

/** A bell, and the two ways terminals show a notice. INVARIANT: no word of anybody else is in it. */
function ringing(changes: readonly Change[]): string {
  const [only] = changes;
  const run =
    changes.length === 1 && only !== undefined
      ? `run ${oneLine(only.now.run)} waits`
      : `${changes.length} runs wait`;
  return `\u0007\u001b]9;Phasegate: ${run} for a human\u0007\u001b]777;notify;Phasegate;${run} for a human\u0007`;
}

function noteFor({ kind, name }: Principal): string {
  if (kind === 'human') return 'Ctrl-C ends';
  return `as agent ${name}; --as NAME shows all that a human may see; Ctrl-C ends`;
}

/** What stands there when the screen is given back. */
async function lastWord({ args, out }: Invocation, runs: readonly WatchedRun[]): Promise<ExitCode> {
  const [run] = runs;
  if (args.positionals[0] === undefined || run === undefined || out.screen === null) return 0;
  await out.result({}, () => `run ${run.run} is ${run.status}`);
  return 0;
}

import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { own } from '@phasegate/core';
import type { Claimed, Spawned } from '../runtime/ports.ts';
import { type AgentAdapter, describeExit, type Exit, type Launch, type StartedAgent } from './adapter.ts';
import { afterExit, claimsOf, type Ending } from './afterExit.ts';
import { writeBriefing } from './briefing.ts';
import { freeProgram } from './freeProgram.ts';
import { heldProgram } from './heldProgram.ts';
import { nextRecord } from './nextRecord.ts';
import { makeOwnAgent, type OwnAgent } from './ownAgent.ts';
import { promptText } from './promptText.ts';
import { standingOf } from './standing.ts';

/** What following an agent needs beside what was asked for. */
export interface DriveParts {
  readonly request: Ending['request'];
  readonly adapter: AgentAdapter;
  /** Of the server the agent talks to. */
  readonly url: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The words that start this program itself; the engine outside of a sandbox is one of its commands. */
  readonly launcher: readonly [string, ...string[]];
  /** Makes an agent's name one of its own. */
  readonly suffix: () => string;
}

/**
 * Gives a run to a program and follows it until the run is completed, a human must act, or the engine has had
 * enough: an agent that crashed or forgot to finish is started again from the last checkpoint.
 */
export async function driveAgent(parts: DriveParts): Promise<Spawned> {
  const { open, name, capabilities, project, signal } = parts.request;
  const made = await makeOwnAgent(open, `${name}-${parts.suffix()}`, capabilities);
  const { agent, key, removed } = made;
  const folder = join(project.stateDir, 'agents', agent.name);
  // Without its agent the program is ended as if it was asked to: its key is dead, and what it still does is for nobody.
  const request = { ...parts.request, signal: AbortSignal.any([signal, removed]) };
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return await drive({ ...parts, request, agent, key, folder, removed, renew: made.renew });
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await made.withdraw();
  }
}

interface Driving extends DriveParts, Pick<OwnAgent, 'agent' | 'removed' | 'renew'> {
  readonly key: string;
  readonly folder: string;
}

async function drive(driving: Driving): Promise<Spawned> {
  const { request, agent } = driving;
  let claimed = await claimFirst(driving);
  if (claimed === null) return nothingClaimed(driving);
  let why: string | null = null;
  for (let starts = 1; ; starts++) {
    const { run, phase } = claimed.view;
    const item = claimed.item?.key ?? null;
    request.report({ event: 'claimed', agent: agent.name, run, phase, item });
    const exit = await runOnce(driving, claimed, { starts, why });
    // That its run was taken from it may be known before the reason is.
    await driving.renew();
    const step = await afterExit(driving, claimed, exit);
    if (step.kind === 'end') {
      const { outcome, message, standing } = step;
      const { status = null, phase: last = null } = standing.view ?? {};
      return { agent: agent.name, run, outcome, status, phase: last, starts, message };
    }
    ({ claimed, why } = step);
  }
}

async function claimFirst({ request, agent }: Driving): Promise<Claimed | null> {
  const { open, run, capabilities, wait, signal, report } = request;
  const claims = claimsOf(request);
  if (run !== null) return claims.claimRun(run, agent, capabilities);
  for (let told = false; ; told = true) {
    // Taken before looking: what is queued between looking and listening must not be missed.
    const after = await open.feed.newest();
    if (signal.aborted) return null;
    const claimed = await claims.claim(agent, capabilities);
    if (claimed !== null || !wait) return claimed;
    if (!told) report({ event: 'waiting_for_work', agent: agent.name });
    await nextRecord(open.feed, (record) => record.run !== null, { after, signal });
  }
}

function nothingClaimed({ request, agent, removed }: Driving): Spawned {
  const none = { agent: agent.name, run: null, status: null, phase: null, starts: 0 };
  if (removed.aborted)
    return { ...none, outcome: 'removed', message: 'its agent was removed before there was work' };
  if (request.signal.aborted)
    return { ...none, outcome: 'interrupted', message: 'it was stopped before there was work' };
  const message =
    'no run is queued that this agent can do, and what may be queued waits for the workspace of another run';
  return { ...none, outcome: 'nothing_queued', message };
}

/** Starts the program once and waits for its end. */
async function runOnce(
  driving: Driving,
  claimed: Claimed,
  { starts, why }: { readonly starts: number; readonly why: string | null },
): Promise<Exit> {
  const { request, adapter, agent, key, url, folder } = driving;
  const { run } = claimed.view;
  const item = claimed.item?.key ?? null;
  const sandbox = request.sandbox === true;
  const prompt = promptText(claimed, { url, agent: agent.name, again: why, held: sandbox });
  const after = await request.open.feed.newest();
  // What it changes of the guard's own files is found by the server, or by the next process that runs a program.
  await request.open.guardedFiles.hold(run);
  const credentials = { url, agent: agent.name, key, token: claimed.token, task: run, item };
  const started = await adapter.start({
    name: agent.name,
    cwd: request.project.root,
    ...(sandbox ? await heldBy(driving, claimed, prompt) : freeBy(driving, run, prompt)),
    credentials: sandbox ? '' : JSON.stringify(credentials),
    folder,
  });
  request.report({ event: 'started', agent: agent.name, run, start: starts, where: started.where });
  const exit = await followed(driving, started, { claimed, after });
  request.report({ event: 'exited', agent: agent.name, run, how: describeExit(exit) });
  return exit;
}

type ToStart = Pick<Launch, 'argv' | 'environment' | 'inputFile' | 'held'>;

/** The program in the sandbox of the visit that was claimed. */
async function heldBy(driving: Driving, claimed: Claimed, prompt: string): Promise<ToStart> {
  const { request, folder, agent, key, environment, launcher } = driving;
  const mcp = await request.open.sandboxes.mcp();
  const [command, ...args] = mcp;
  const briefing = writeBriefing(folder, prompt, { command, args });
  const { argv, preset, project } = request;
  const parts = { argv, preset, project: project.root, folder, agent: agent.name, key, environment };
  return heldProgram(claimed, { ...parts, launcher, mcp }, briefing);
}

function freeBy(driving: Driving, run: string, prompt: string): ToStart {
  const { request, agent, key, url, folder, environment } = driving;
  const { argv, preset } = request;
  return freeProgram({ argv, preset, url, agent: agent.name, key, run, prompt, folder, environment });
}

/**
 * Waits for the end. A program whose lease has run out is ended: its token is dead, and the run another's. One that is
 * held is ended with its visit, because its sandbox may write what that phase may write.
 */
async function followed(
  driving: Driving,
  started: StartedAgent,
  { claimed, after }: { readonly claimed: Claimed; readonly after: number },
): Promise<Exit> {
  const { request, agent } = driving;
  const { run } = claimed.view;
  const over = new AbortController();
  const stop = () => void started.stop();
  request.signal.addEventListener('abort', stop, { once: true });
  if (request.signal.aborted) stop();
  const released = nextRecord(
    request.open.feed,
    (record) => record.run === run && RELEASED.has(record.event) && own(record.data, 'holder') === agent.name,
    { after, signal: over.signal },
  ).then((record) => (record === undefined ? undefined : started.stop()));
  const left =
    request.sandbox === true
      ? visitEnd(driving, claimed, over.signal).then((ended) => (ended ? started.stop() : undefined))
      : undefined;
  try {
    return await started.exited;
  } finally {
    request.signal.removeEventListener('abort', stop);
    over.abort();
    await Promise.all([released, left]);
  }
}

/** Whether the visit that was claimed ended before the signal came. */
async function visitEnd(
  { request, agent }: Driving,
  claimed: Claimed,
  signal: AbortSignal,
): Promise<boolean> {
  const { run, epoch } = claimed.view;
  while (!signal.aborted) {
    // Taken before looking: what happens between looking and listening must not be missed.
    const after = await request.open.feed.newest();
    const { kind, view } = await standingOf(request.open, agent, claimed);
    if (kind !== 'left' || (claimed.item === null && view.epoch !== epoch)) return true;
    await nextRecord(request.open.feed, (record) => record.run === run, { after, signal });
  }
  return false;
}

const RELEASED: ReadonlySet<string> = new Set(['run_released', 'item_released']);

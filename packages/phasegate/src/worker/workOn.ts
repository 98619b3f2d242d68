import { createHash } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { reasonOf } from '@phasegate/core/model';
import { type PhasegateClient, PhasegateClientError } from '@phasegate/sdk';
import { type Claim, decodeTask } from '@phasegate/wire';
import { type AgentAdapter, describeExit, type StartedAgent } from '../agents/adapter.ts';
import { freeProgram } from '../agents/freeProgram.ts';
import { promptText } from '../agents/promptText.ts';
import type { WorkerRequest, WorkOutcome } from '../runtime/ports.ts';
import { demandRunId } from './demandRunId.ts';
import { patiently, StillAway } from './patiently.ts';
import type { Workspaces } from './workspaces.ts';

/** One place of a worker: the credential its agents have, one after the other. */
export interface Slot {
  readonly name: string;
  readonly key: string;
  /** A client of its own for each claim: what one has in hand is not the next one's. */
  connect(): PhasegateClient;
}

/** What working on a claim needs beside the slot. */
export interface WorkParts {
  readonly request: WorkerRequest;
  readonly adapter: AgentAdapter;
  readonly workspaces: Workspaces;
  /** A folder only this user may enter. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted when agents at work are to be ended. */
  readonly ending: AbortSignal;
}

/** Prepares a workspace, starts the program, keeps its lease while it runs, and says what came of the run. */
export async function workOn(slot: Slot, client: PhasegateClient, work: ClaimedWork): Promise<WorkDone> {
  const { claim, parts } = work;
  const { report } = parts.request;
  const run = claim.task.id;
  demandRunId(run);
  const told = { agent: slot.name, run };
  report({ event: 'claimed', ...told, phase: claim.task.phase === null ? null : String(claim.task.phase) });
  // From here on the lease runs: cloning can take longer than it lasts.
  const lease = keepLease(client, run, parts.request.beatMs);
  try {
    const workspace = await parts.workspaces.make(run);
    try {
      const begun = performance.now();
      const program = await start(slot, work, workspace.folder);
      report({ event: 'started', ...told, where: program.where });
      const { how, notStarted } = await follow(program, { lease, parts, told });
      const atOnce = performance.now() - begun < AT_ONCE_MS;
      const givesBack = notStarted || parts.ending.aborted;
      const { outcome, crashed } = await patiently(slot.name, parts.request, () =>
        settle(client, claim, givesBack),
      );
      report({ event: 'ended', ...told, outcome, how });
      if (notStarted) throw new NotStarted(how);
      return { outcome, crashedAtOnce: crashed && atOnce ? (program.lastLines?.() ?? []) : null };
    } finally {
      await workspace.close();
    }
  } catch (error) {
    if (error instanceof NotStarted) throw error;
    // It was not this agent's doing: the run is given back as it was, and others may have more luck.
    const outcome = error instanceof StillAway ? 'not_given_back' : await giveBack(slot, client, work);
    report({ event: 'ended', ...told, outcome, how: reasonOf(error) });
    return { outcome, crashedAtOnce: null };
  } finally {
    lease.end();
  }
}

/** What came of a claim. */
export interface WorkDone {
  readonly outcome: WorkOutcome;
  /** The last lines of a program that ended at once, before its work was done; null where it did not. */
  readonly crashedAtOnce: readonly string[] | null;
}

/** What was claimed, and by whom it is to be done. */
export interface ClaimedWork {
  readonly claim: Claim;
  readonly parts: WorkParts;
}

/** The program cannot be started at all: the next run would fare no better. */
export class NotStarted extends Error {}

async function start(slot: Slot, { claim, parts }: ClaimedWork, cwd: string): Promise<StartedAgent> {
  const { request, adapter } = parts;
  const { url, argv, preset } = request;
  const { task, phase_token: token } = claim;
  const [agent, key, run] = [slot.name, slot.key, task.id];
  // The name is the server's word, and may be a path.
  const folder = join(parts.folder, 'agents', createHash('sha256').update(agent).digest('hex').slice(0, 32));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const prompt = promptText({ view: decodeTask(task), item: task.item ?? null }, { url, agent, again: null });
  const item = task.item?.key ?? null;
  return adapter.start({
    name: agent,
    cwd,
    ...freeProgram({ argv, preset, url, agent, key, run, prompt, folder, environment: parts.env }),
    credentials: JSON.stringify({ url, agent, key, token, task: run, item }),
    folder,
  });
}

interface Lease {
  /** Settles when the run is known to be another's. */
  readonly lost: Promise<void>;
  end(): void;
}

/** Calls about the run renew its lease; a program that thinks makes none. */
function keepLease(client: PhasegateClient, run: string, beatMs: number): Lease {
  const lost = Promise.withResolvers<void>();
  const beat = setInterval(() => {
    client
      .asPhasegate()
      .view(run)
      .catch((error: unknown) => {
        // Anything else is a server that is away for a while; its word on whose the run is comes later.
        if (isNotOurs(error)) lost.resolve();
      });
  }, beatMs);
  beat.unref();
  return { lost: lost.promise, end: () => clearInterval(beat) };
}

async function follow(
  program: StartedAgent,
  {
    lease,
    parts,
    told,
  }: {
    readonly lease: Lease;
    readonly parts: WorkParts;
    readonly told: { readonly agent: string; readonly run: string };
  },
): Promise<{ readonly how: string; readonly notStarted: boolean }> {
  const stop = () => void program.stop();
  let over = false;
  void lease.lost.then(() => {
    if (over) return;
    // Its token is dead, and the run another's: what it still does is done for nobody.
    parts.request.report({ event: 'lease_lost', ...told });
    stop();
  });
  parts.ending.addEventListener('abort', stop, { once: true });
  if (parts.ending.aborted) stop();
  try {
    const exit = await program.exited;
    return { how: describeExit(exit), notStarted: exit.kind === 'not_started' };
  } finally {
    over = true;
    parts.ending.removeEventListener('abort', stop);
  }
}

/** The program has ended: is its work done, does a human act, or is the run to go to another? */
async function settle(
  client: PhasegateClient,
  claim: Claim,
  givesBack: boolean,
): Promise<{ readonly outcome: WorkOutcome; readonly crashed: boolean }> {
  const { id, item } = claim.task;
  try {
    const { task } = await client.rejoinTask(id, item === undefined ? {} : { item: item.key });
    const atWork = task.status === 'active';
    await client.release({ lost: atWork && !givesBack });
    if (!atWork) return { outcome: (task.status as WorkOutcome) ?? 'left', crashed: false };
    if (givesBack) return { outcome: 'given_back', crashed: false };
    return { outcome: await afterLoss(client, id), crashed: true };
  } catch (error) {
    if (!isNotOurs(error)) throw error;
    return { outcome: await ended(client, id), crashed: false };
  }
}

/** The last crash that is allowed takes the run to a human; the others, back to the queue. */
async function afterLoss(client: PhasegateClient, run: string): Promise<WorkOutcome> {
  // A server that does not say it leaves what is known: the run was lost here.
  const outcome = await ended(client, run).catch(() => 'left' as const);
  return outcome === 'escalated' || outcome === 'stopped' ? outcome : 'lost';
}

async function giveBack(
  slot: Slot,
  client: PhasegateClient,
  { claim, parts }: ClaimedWork,
): Promise<WorkOutcome> {
  const release = async (): Promise<WorkOutcome> => {
    try {
      await client.release();
      return 'given_back';
    } catch (error) {
      if (!isNotOurs(error)) throw error;
      return ended(client, claim.task.id);
    }
  };
  // Where it is refused for good, as to a key that was taken away, the run is not back either.
  return patiently(slot.name, parts.request, release).catch(() => 'not_given_back');
}

async function ended(client: PhasegateClient, run: string): Promise<WorkOutcome> {
  try {
    const { status } = await client.asPhasegate().view(run);
    return status === 'completed' || status === 'waiting' || status === 'escalated' || status === 'stopped'
      ? status
      : 'left';
  } catch (error) {
    if (isNotOurs(error)) return 'left';
    throw error;
  }
}

function isNotOurs(error: unknown): boolean {
  const cause = error instanceof PhasegateClientError ? error : (error as { cause?: unknown } | null)?.cause;
  if (!(cause instanceof PhasegateClientError)) return false;
  // A key that nobody knows is of an agent that was removed, and with it went what it held.
  return NOT_OURS.has(cause.status ?? 0) || cause.code === 'credential_invalid';
}

/** What ends sooner than this has hardly begun. */
const AT_ONCE_MS = 10_000;
const NOT_OURS: ReadonlySet<number> = new Set([403, 404, 409]);

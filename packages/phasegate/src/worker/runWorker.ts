import { PhasegateError } from '@phasegate/core';
import { reasonOf } from '@phasegate/core/model';
import { type ClaimOptions, connect, type PhasegateClient, PhasegateClientError } from '@phasegate/sdk';
import type { Claim } from '@phasegate/wire';
import type { Worked, WorkerRequest, WorkOutcome } from '../runtime/ports.ts';
import { createBackOff } from './backOff.ts';
import { isFinal } from './patiently.ts';
import { NotStarted, type Slot, type WorkParts, workOn } from './workOn.ts';

/**
 * Claims queued runs and works on them, one for each key at a time, until it is asked to end: then nothing new is
 * claimed, and what is at work has a while to finish before it is ended and given back.
 */
export async function runWorker(parts: WorkParts, endNow: () => void): Promise<Worked> {
  const { request } = parts;
  const outcomes = new Map<WorkOutcome, number>();
  const enough = new AbortController();
  const ends = AbortSignal.any([request.signal, enough.signal]);
  const backOff = createBackOff(request.pollMs);
  const worked = new Set<string>();
  let begun = 0;
  let running = 0;
  const drain = () => {
    request.report({ event: 'draining', running });
    setTimeout(endNow, request.drainMs).unref();
  };
  request.signal.addEventListener('abort', drain, { once: true });

  /** False where as many were begun as were asked for. */
  const mayBegin = () => request.runs === null || begun < request.runs;

  async function serve(slot: Slot): Promise<void> {
    let told = false;
    while (!ends.aborted && mayBegin()) {
      const left = backOff.left();
      if (left > 0) {
        await pause(left, ends);
        continue;
      }
      begun += 1;
      const client = slot.connect();
      const claim = await claimNext(slot, client, parts);
      if (claim === null || claim === 'unanswered') {
        begun -= 1;
        // Only what the server said is told: while it is away, nobody knows what is queued.
        if (claim === null && !told) request.report({ event: 'waiting_for_work', agent: slot.name });
        told = claim === null;
        await pause(request.pollMs, ends);
        continue;
      }
      told = false;
      running += 1;
      worked.add(claim.task.id);
      const { outcome, crashedAtOnce } = await workOn(slot, client, { claim, parts }).finally(() => {
        running -= 1;
      });
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      if (crashedAtOnce === null) backOff.worked();
      else tellCrash(slot.name, crashedAtOnce);
      // What could not be prepared is not claimed again at once.
      if (outcome === 'given_back' || outcome === 'not_given_back') await pause(request.pollMs, ends);
    }
  }

  /** Once for all that follow each other: they end for the same reason. */
  function tellCrash(agent: string, output: readonly string[]): void {
    const { ms, first } = backOff.crashed();
    // Nothing is waited for where this was the last run that was asked for.
    const wait = mayBegin() && !ends.aborted ? ms : 0;
    if (first) request.report({ event: 'backing_off', agent, ms: wait, output });
  }

  const known = await Promise.all(request.keys.map((key) => slotFor(key, request, ends))).catch(
    (error: unknown) => {
      // The others need not wait for a store any more.
      enough.abort();
      throw error;
    },
  );
  const slots = known.filter((slot) => slot !== null);
  demandDifferent(slots);
  if (!ends.aborted) await parts.workspaces.ready();
  const serving = slots.map((slot) =>
    serve(slot).catch((error: unknown) => {
      // What is wrong for one is wrong for all: the others finish what they have.
      enough.abort();
      throw error;
    }),
  );
  const ended = await Promise.allSettled(serving);
  request.signal.removeEventListener('abort', drain);
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed !== undefined) throw asFault(failed.reason);
  const attempts = [...outcomes.values()].reduce((sum, count) => sum + count, 0);
  return { runs: worked.size, attempts, outcomes: Object.fromEntries(outcomes) };
}

/**
 * Who a key speaks for. A server that is away is waited for later, but not before anybody knows that it is the right one;
 * one that says itself that its store is away is. Null where the worker is to end before that.
 */
async function slotFor(key: string, request: WorkerRequest, ends: AbortSignal): Promise<Slot | null> {
  const options = { url: request.url, key, allowInsecureHttp: request.insecureHttp };
  for (;;) {
    try {
      const { name } = await connect(options).whoAmI();
      return { name, key, connect: () => connect(options) };
    } catch (error) {
      if (!saysItIsAway(error)) throw asFault(error);
      request.report({ event: 'unreachable', agent: null, why: reasonOf(error) });
      await pause(request.pollMs, ends);
      if (ends.aborted) return null;
    }
  }
}

/** A proxy may answer 503 as well, for a server that is not ours. */
function saysItIsAway(error: unknown): boolean {
  return error instanceof PhasegateClientError && error.status === 503 && error.answer.error !== undefined;
}

function demandDifferent(slots: readonly Slot[]): void {
  const twice = slots.find(({ name }, index) => slots.findIndex((other) => other.name === name) !== index);
  if (twice === undefined) return;
  throw new PhasegateError('usage', `two of the keys are of agent \`${twice.name}\``, {
    hint: 'each agent at work needs a key of its own: `phasegate agents add NAME` makes one',
  });
}

/** Null where nothing is queued. */
async function claimNext(
  slot: Slot,
  client: PhasegateClient,
  { request }: WorkParts,
): Promise<Claim | 'unanswered' | null> {
  const { capabilities, repository } = request;
  const options: ClaimOptions = {
    ...(capabilities.length === 0 ? {} : { capabilities }),
    ...(repository === null ? {} : { workspace: 'own' }),
  };
  try {
    return await client.claimTask(slot.name, options);
  } catch (error) {
    if (isFinal(error)) throw error;
    request.report({ event: 'unreachable', agent: slot.name, why: reasonOf(error) });
    return 'unanswered';
  }
}

function asFault(error: unknown): unknown {
  if (error instanceof NotStarted)
    return new PhasegateError('usage', `the program cannot be started: ${error.message}`, {
      hint: 'install it, or name another program; the run was given back',
    });
  if (!(error instanceof PhasegateClientError)) return error;
  if (error.code === 'usage') return new PhasegateError('usage', error.message, { cause: error });
  if (error.status === null || error.status === undefined)
    return new PhasegateError('server_unreachable', error.message, {
      hint: 'start the server with `phasegate serve`, or give its address with `--url`',
      cause: error,
    });
  if (error.status === 401 || error.status === 403)
    return new PhasegateError('not_permitted', error.message, {
      hint: 'the worker needs the key of an agent: `phasegate agents add NAME` makes one',
      cause: error,
    });
  const { code, message } = error.asFault();
  return new PhasegateError(code, message, {
    hint: 'try again later; if it stays so, look whether `--url` is the address of a Phasegate server, and at its log',
    cause: error,
  });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
    if (signal.aborted) done();
  });
}

import type { Run } from '@phasegate/core';
import { gateDueAt } from '@phasegate/core/engine';
import type { Store } from './ports.ts';

/** A clock that nobody can set: how long the machine has been running since a start of it. */
export interface SteadyClock {
  /** Which start that was; null where the system does not say. */
  boot(): string | null;
  /** Milliseconds since then, those in which it slept among them. */
  sinceBoot(): number;
}

/** What the time of gates is kept with. */
export interface GateClockParts {
  readonly store: Pick<Store, 'kept' | 'keep' | 'dropKept'>;
  readonly steady?: SteadyClock | undefined;
}

const KIND = 'gate_clock';

/** Remembers by the steady clock when a gate with a limit was opened, and forgets it when the run has gone on. */
export async function rememberGate(
  { store, steady }: GateClockParts,
  before: Run | null,
  after: Run,
): Promise<void> {
  if (steady === undefined) return;
  const [was, is] = [before === null ? null : keyOf(before), keyOf(after)];
  if (was === is) return;
  // With those of decisions that were made and not saved.
  if (was !== null) await store.dropKept(KIND, `${after.id}/`);
  const boot = is === null ? null : steady.boot();
  if (is === null || boot === null) return;
  const data = { boot, since: Math.floor(steady.sinceBoot()) };
  await store.keep({ kind: KIND, key: is, data }, { run: null, audit: [] });
}

/**
 * The time by which a command on a run is judged: what the clock says, unless that would close a gate for which, by the
 * steady clock of the same start of the machine, its time is not up. Anyone who sets the clock forward closes no gate.
 */
export async function timeAtGate(
  { store, steady }: GateClockParts,
  run: Run,
  clock: string,
): Promise<string> {
  const due = gateDueAt(run);
  const key = keyOf(run);
  if (steady === undefined || due === null || key === null || clock < due) return clock;
  const opened = await store.kept(KIND, key);
  if (opened === undefined || typeof opened.since !== 'number' || opened.boot !== steady.boot()) return clock;
  const passed = steady.sinceBoot() - opened.since;
  const limit = Date.parse(due) - Date.parse(sinceOf(run) ?? due);
  // Less than none: another machine with the same name for its start, such as a container.
  if (passed < 0 || passed >= limit - TOLERANCE_MS) return clock;
  return new Date(Date.parse(due) - 1).toISOString();
}

/** Both clocks are read one after the other, and one of them in hundredths of a second. */
const TOLERANCE_MS = 1_000;

/** One opening of a gate with a limit; null where the run waits at none. */
function keyOf(run: Run): string | null {
  return gateDueAt(run) === null ? null : `${run.id}/${sinceOf(run) ?? ''}`;
}

function sinceOf(run: Run): string | null {
  return run.status === 'waiting' && run.wait.for === 'gate' ? run.wait.since : null;
}

import { print } from '../transitions/measure.ts';
import type { Measured } from './team.ts';

/** What the model is computed from: one node on PostgreSQL, many agents at a time. */
export interface Costs {
  readonly transitions: Measured;
  readonly checks: Measured;
  /** Of one of each, as written. */
  readonly bytes: { readonly transition: number; readonly check: number };
}

/** How agents work, in this model: a tool call every ten seconds, a step of the run every ten minutes. */
const SECONDS_BETWEEN = { checks: 10, transitions: 600 };
/** What a database is asked for at most, of what it was measured to do: the rest is for peaks and its own upkeep. */
const FILLED = 0.5;
const AGENTS = [100, 1000, 10_000, 100_000, 1_000_000];

/** Prints what so many agents ask of nodes and databases that cost what was measured. */
export function printCapacity({ transitions, checks, bytes }: Costs): void {
  print(
    `\nmodel: each agent checks a tool every ${SECONDS_BETWEEN.checks} s and completes a phase every ` +
      `${SECONDS_BETWEEN.transitions} s; a database is filled to ${FILLED * 100}% of the rates above; cores are of this machine`,
  );
  print(
    '     agents   checks/s   steps/s   cores of nodes   cores of PostgreSQL   databases   GB of records a day',
  );
  for (const agents of AGENTS) {
    const asked = { checks: agents / SECONDS_BETWEEN.checks, steps: agents / SECONDS_BETWEEN.transitions };
    const cores = (of: 'nodes' | 'database') =>
      (asked.checks * checks.cpu[of] + asked.steps * transitions.cpu[of]) / 1000;
    const share = asked.checks / checks.rate + asked.steps / transitions.rate;
    const written = (asked.checks * bytes.check + asked.steps * bytes.transition) * 86_400;
    print(
      `${grouped(agents).padStart(11)}${grouped(asked.checks).padStart(11)}${grouped(asked.steps).padStart(10)}` +
        `${cores('nodes').toFixed(1).padStart(17)}${cores('database').toFixed(1).padStart(22)}` +
        `${grouped(Math.ceil(share / FILLED)).padStart(12)}${(written / 1e9).toFixed(1).padStart(22)}`,
    );
  }
}

function grouped(value: number): string {
  return value < 10 ? value.toFixed(1).replace('.0', '') : Math.round(value).toLocaleString('en-US');
}

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StepInput } from '@phasegate/sdk';

/** What a scenario makes a command do instead of its work done well. */
export type Turn =
  /** Ends with `success: false`. */
  | 'fail'
  /** Says that all is well, and has written nothing. */
  | 'forget'
  /** A reviewer who is not content. */
  | 'reject'
  /** A writer who changes hardly anything. */
  | 'little'
  /** Takes minutes. */
  | 'linger'
  /** In the middle of its work the power fails: the process that runs the command is killed. Happens once. */
  | 'crash'
  /** The same, a moment after the command has ended. */
  | 'crash-after';

/** When it happens: every field that is given must match. */
interface Rule {
  readonly step?: string;
  readonly item?: string;
  /** From 1; counts how often the step was come to. */
  readonly visit?: number;
  /** From 1; counts attempts within a visit. */
  readonly attempt?: number;
  readonly do: Turn;
  /** Milliseconds, for `crash-after`. */
  readonly wait?: number;
}

/** What happens to one step. */
export interface Scenario {
  has(turn: Turn): boolean;
  /** Milliseconds to wait before the crash that is due now; null where none is. From then on it has happened. */
  crash(turn: 'crash' | 'crash-after'): number | null;
}

/** Reads the scenario the run was started with, as far as it is about this step. */
export function scenarioFor({ runId, step, checkpoint, retryContext, item }: StepInput): Scenario {
  const rules: readonly Rule[] = JSON.parse(readFileSync(String(checkpoint.scenario), 'utf8'));
  const visit = checkpoint.completedSteps.filter((done) => done.step === step).length + 1;
  const now: Partial<Record<string, unknown>> = { step, item, visit, attempt: retryContext?.attempt ?? 1 };
  const due = rules.filter((rule) =>
    Object.entries(rule).every(([name, value]) => name === 'do' || name === 'wait' || now[name] === value),
  );
  return {
    has: (turn) => due.some((rule) => rule.do === turn),
    crash(turn) {
      const rule = due.find((one) => one.do === turn);
      // The database cannot remember it: what a crashed step wrote there is gone.
      const mark = join('data', 'crashes', [runId, step, visit, item ?? '', turn].join('-'));
      if (rule === undefined || existsSync(mark)) return null;
      mkdirSync(join('data', 'crashes'), { recursive: true });
      writeFileSync(mark, '');
      return rule.wait ?? 0;
    },
  };
}

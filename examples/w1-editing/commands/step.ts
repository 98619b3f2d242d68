import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { StepInput, StepOutput } from '@phasegate/sdk';
import { type Scenario, scenarioFor } from './scenario.ts';

/** What a command works with. */
export interface Work {
  readonly input: StepInput;
  readonly scenario: Scenario;
  /** The newest result, or param, of that name. */
  known(name: string): string;
  all(sql: string, ...values: SQLInputValue[]): readonly Readonly<Record<string, unknown>>[];
  /** Changes the copy of the database this attempt was given. */
  change(sql: string, ...values: SQLInputValue[]): void;
  /** Stands between two changes that belong together; a scenario may cut the power here. */
  halfway(): void;
}

/** What a step hands on, and what it prints for the one who does the work. */
export interface Done {
  readonly prompt: string;
  readonly result: NonNullable<StepOutput['result']>;
}

/**
 * Does a step: reads StepInput, has the work done on the database the runner named, prints the prompt and, as the
 * last line, StepOutput. Nothing is in a transaction: if it ends in the middle, what it wrote is half of it.
 */
export async function doStep(work: (given: Work) => Done | Promise<Done>): Promise<void> {
  const input: StepInput = JSON.parse(readFileSync(0, 'utf8'));
  const scenario = scenarioFor(input);
  const runner = process.ppid;
  // Nobody waits for it any more; it goes on all the same, as a program would.
  let orphaned = false;
  const database = new DatabaseSync(process.env.PHASEGATE_DB ?? '');
  const given: Work = {
    input,
    scenario,
    known: (name) => String(input.checkpoint[name]),
    all: (sql, ...values) => database.prepare(sql).all(...values),
    change(sql, ...values) {
      if (!scenario.has('forget')) database.prepare(sql).run(...values);
    },
    halfway() {
      if (scenario.crash('crash') === null) return;
      orphaned = true;
      process.kill(runner, 'SIGKILL');
    },
  };
  if (input.retryContext !== undefined) console.log(input.retryContext.error);
  if (scenario.has('linger')) await linger();
  const output = scenario.has('fail')
    ? { success: false, error: `the scenario lets ${input.step} fail`, postconditionsPassed: false }
    : await finished(given, work);
  const wait = orphaned ? null : scenario.crash('crash-after');
  if (wait !== null) crashIn(wait, runner);
  console.log(JSON.stringify(output satisfies StepOutput));
}

async function finished(given: Work, work: (given: Work) => Done | Promise<Done>): Promise<StepOutput> {
  const { input, change } = given;
  const item = typeof input.item === 'string' ? input.item : null;
  change('INSERT INTO work (run, step, item) VALUES (?, ?, ?)', input.runId, input.step, item);
  const { prompt, result } = await work(given);
  console.log(prompt);
  change('UPDATE work SET finished = 1');
  // A claim: whether they hold, the engine finds out.
  return { success: true, result, postconditionsPassed: true };
}

async function linger(): Promise<void> {
  for (let minute = 1; minute <= 30; minute++) {
    console.log(`still reading, page ${minute}`);
    await new Promise((resolve) => setTimeout(resolve, 60_000));
  }
}

/** The power fails once this process has ended: somebody else must do it. */
function crashIn(milliseconds: number, runner: number): void {
  const script = `sleep ${milliseconds / 1000}; kill -9 ${runner}`;
  spawn('/bin/sh', ['-c', script], { detached: true, stdio: 'ignore' }).unref();
}

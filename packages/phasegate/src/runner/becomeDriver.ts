import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { own, PhasegateError } from '@phasegate/core';
import type { DriveRequest } from '../runtime/ports.ts';
import { lockFile } from '../workspace/lockFile.ts';
import { startGuard } from '../workspace/startGuard.ts';
import { makeStateFolder } from './stateFiles.ts';
import { fileName } from './stepFolder.ts';

/** The right to be the one that drives a run. */
export interface Driver {
  /** Aborted when nothing would end what is started here if this process were killed. */
  readonly loss: AbortSignal;
  leave(): Promise<void>;
}

/**
 * Becomes the one driver of a run, or throws `run_driven`. Names are not enough: every runner of a machine is the agent
 * `local`. Two locks end with their processes: ours says who drives, and that of our guard says that something a driver
 * started may still be running. Who has both begins with nothing of an earlier driver under way.
 */
export async function becomeDriver({ project, run, agent }: DriveRequest): Promise<Driver> {
  const folder = join(project.stateDir, 'drivers');
  await makeStateFolder(project.stateDir, folder);
  const place = join(folder, fileName(run));
  const lock = lockFile(`${place}.lock`);
  if (lock === null) throw driven(run, readEntry(`${place}.json`));
  try {
    const before = readEntry(`${place}.json`);
    const mark = randomBytes(16).toString('hex');
    const guard = await startGuard({ lock: `${place}.guard`, mark, leftBehind: before?.mark ?? null });
    if (guard === null) throw stillEnding(run);
    announce(`${place}.json`, { pid: process.pid, agent, since: new Date().toISOString(), mark });
    return {
      loss: guard.loss,
      async leave() {
        await guard.leave();
        rmSync(`${place}.json`, { force: true });
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Who drives; left behind by a driver that was killed. */
interface Entry {
  readonly pid: number;
  readonly agent: string;
  readonly since: string;
  /** What everything it starts has in its environment. */
  readonly mark: string;
}

function announce(file: string, entry: Entry): void {
  const draft = `${file}.${process.pid}`;
  rmSync(draft, { force: true });
  writeFileSync(draft, `${JSON.stringify(entry)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(draft, file);
}

function readEntry(file: string): Entry | null {
  try {
    const entry: unknown = JSON.parse(readFileSync(file, 'utf8'));
    const [pid, agent, since, mark] = ['pid', 'agent', 'since', 'mark'].map((key) => own(entry, key));
    const sound = Number.isInteger(pid) && typeof agent === 'string' && typeof since === 'string';
    if (!sound || typeof mark !== 'string' || !/^[0-9a-f]{32}$/.test(mark)) return null;
    return { pid: Number(pid), agent, since, mark };
  } catch {
    // Not there, or half of something: then it names nobody.
    return null;
  }
}

function driven(run: string, entry: Entry | null): PhasegateError {
  const who =
    entry === null
      ? 'another runner, which is just starting'
      : `process ${entry.pid} as agent \`${entry.agent}\` since ${entry.since}`;
  return new PhasegateError('run_driven', `run \`${run}\` is driven already, by ${who}`, {
    hint: 'that one goes on by itself when a human has acted; end it first to drive the run from here',
  });
}

function stillEnding(run: string): PhasegateError {
  return new PhasegateError(
    'run_driven',
    `what an earlier runner started for run \`${run}\` is still running and does not end`,
    { hint: `end it, then: phasegate run ${run}` },
  );
}

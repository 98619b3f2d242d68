import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { PhasegateError } from '@phasegate/core';
import type { ProjectKeys } from './runtime/keys.ts';
import type { ThreadOrder, VerifyThreads } from './stores/sqlite/verifyThreads.ts';

/** What a thread is given: of the keys, what verifies and not what signs. */
export interface ThreadData extends Pick<ProjectKeys, 'audit' | 'rows'> {
  readonly order: ThreadOrder;
}

/** A thread for each core, as far as there is work for so many. */
export function verifyThreads(keys: ProjectKeys): VerifyThreads {
  return {
    most: Math.min(availableParallelism(), MOST),
    from: FROM,
    patience: PATIENCE,
    start(order) {
      const audit = { publicKey: keys.audit.publicKey, privateKey: '' };
      const workerData: ThreadData = { order, audit, rows: keys.rows };
      return new Worker(threadFile(), {
        workerData,
        env: {},
        argv: [],
        execArgv: QUIET,
        resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
      });
    },
  };
}

/** Each takes about 40 MB, and reads from the same disk. */
const MOST = 16;
/** What is read of a run is done with at the next one. V8 would let 48 MB of it gather in each thread, and be no faster. */
const YOUNG_MB = 8;
/** With fewer records all of them are verified before a thread has started. */
const FROM = 20_000;
/** In seconds. A disk may hang for a while, and one row of a run may be large. */
const PATIENCE = 120;
const QUIET = ['--disable-warning=ExperimentalWarning'];

/** Beside this file, or where the build left it when this file is part of a bundle. */
function threadFile(): string {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const candidates = [`./verifyThread.${extension}`, '../verifyThread.js'];
  const files = candidates.map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const found = files.find((file) => existsSync(file));
  if (found === undefined)
    throw new PhasegateError('internal', 'the thread that verifies the audit is missing');
  return found;
}

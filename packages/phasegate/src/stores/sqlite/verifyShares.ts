import { once } from 'node:events';
import type { DatabaseSync } from 'node:sqlite';
import type { MessagePort } from 'node:worker_threads';
import { type AuditKnowledge, verifyShare } from '@phasegate/audit/verify';
import { PhasegateError } from '@phasegate/core';
import type { Seal } from '../../runtime/ports.ts';
import { storeFault } from './faults.ts';
import { beginReading, openToRead, sqliteSource } from './verifySqlite.ts';
import {
  BEGUN,
  GO,
  NEXT,
  STEPS,
  type ThreadOrder,
  type ThreadWord,
  type ThreadWork,
} from './verifyThreads.ts';

/** The part of a verification that a thread of it does: one share after another, until none is left. */
export async function verifyShares(
  thread: AuditKnowledge & { readonly order: ThreadOrder; readonly seal: Seal; readonly port: MessagePort },
): Promise<void> {
  const { order, seal, port } = thread;
  const numbers = new Int32Array(order.control);
  const tell = (word: ThreadWord) => port.postMessage(word);
  let database: DatabaseSync | undefined;
  try {
    database = openToRead(order.file);
    const told = once(port, 'message');
    tell({ word: 'ready' });
    Atomics.wait(numbers, GO, 0);
    beginReading(database);
    Atomics.add(numbers, BEGUN, 1);
    Atomics.notify(numbers, BEGUN);
    const [{ shares, since }] = (await told) as [ThreadWork];
    const source = sqliteSource(database, seal);
    const breathe = () => void Atomics.add(numbers, STEPS + order.index, 1) as undefined;
    const work = { source, seal, knowledge: thread, humans: source.humans(), since, breathe };
    for (;;) {
      const share = Atomics.add(numbers, NEXT, 1);
      const rows = shares[share];
      if (rows === undefined) break;
      tell({ word: 'found', share, found: await verifyShare(work, rows) });
    }
    tell({ word: 'done' });
  } catch (error) {
    const fault = storeFault(error, order.file);
    if (!(fault instanceof PhasegateError)) throw fault;
    tell({ word: 'failed', code: fault.code, message: fault.message, hint: fault.hint });
  } finally {
    database?.close();
    port.close();
  }
}

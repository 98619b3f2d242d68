import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { fold } from '@phasegate/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cases, FULL, someOf } from '../../../test/tier.ts';
import { openLocalProject } from './localProject.ts';
import { openKeys } from './runtime/keys.ts';
import { decisionIsSigned } from './runtime/openProject.ts';
import type { AuditReport, Store } from './runtime/ports.ts';
import { createSeal } from './runtime/seal.ts';
import { openSqliteStore } from './stores/sqlite/openSqliteStore.ts';
import type { VerifyThreads } from './stores/sqlite/verifyThreads.ts';
import { verifyThreads } from './verifyThreads.ts';

/** More than two threads take at once. */
const RUNS = 200;

let folder: string;
let stateDir: string;
const runs: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'phasegate-threads-'));
  const root = join(folder, 'project');
  mkdirSync(root);
  writeFileSync(join(root, 'agent_workflow.yaml'), 'workflow: errand\nphases: { GO: {}, RETURN: {} }\n');
  const local = await openLocalProject({ projectDir: root, env: { XDG_STATE_HOME: join(folder, 'state') } });
  const project = await local.open();
  const walk = async (index: number) => {
    // An agent may start only so many at once.
    const agent = project.as({ kind: 'agent', name: `agent-${index}` });
    const run = (await agent.start({ workflow: 'errand', target: `t${index}` })).view?.run ?? '';
    runs.push(run);
    if (index % 2 === 0) await agent.submit(run, { kind: 'complete', phase: 'GO', evidence: {} });
  };
  await Promise.all(Array.from({ length: RUNS }, (_, index) => walk(index)));
  await project.close();
  const states = join(folder, 'state', 'phasegate');
  stateDir = join(states, readdirSync(states)[0] ?? '');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.runIf(FULL)('all threads see one moment, while another writes', { timeout: 60_000 }, async () => {
  const from = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const writer = new Worker(
    `const { parentPort, workerData: { stateDir, runs } } = require('node:worker_threads');
    (async () => {
      const { openSqliteStore } = await import(${from('./stores/sqlite/openSqliteStore.ts')});
      const { openKeys } = await import(${from('./runtime/keys.ts')});
      const { createSeal } = await import(${from('./runtime/seal.ts')});
      const seal = createSeal(openKeys(stateDir));
      const store = openSqliteStore({ file: stateDir + '/state.db', seal, now: Date.now });
      let writing = true;
      parentPort.once('message', () => { writing = false; });
      const draft = { time: '2026-01-01T00:00:00.000Z', principal: 'agent:ada', event: 'tool_judged', data: {} };
      for (let round = 0; writing; round++) {
        await Promise.all(runs.map((run) => store.note(run, [draft])));
        if (round === 0) parentPort.postMessage('writing');
      }
      await store.close();
    })();`,
    { eval: true, workerData: { stateDir, runs } },
  );
  await once(writer, 'message');
  const reports: AuditReport[] = [];
  for (let round = 0; round < cases({ quick: 1, full: 3 }); round++) reports.push(await verifyWith(3));
  writer.postMessage('stop');
  await once(writer, 'exit');
  for (const report of reports) expect(report).toMatchObject({ ok: true, runs: RUNS, findings: [] });
});

test('nobody writes between the moment the first thread begins and the last', async () => {
  const code = `
    const { parentPort, workerData: { file, control } } = require('node:worker_threads');
    const { DatabaseSync } = require('node:sqlite');
    const numbers = new Int32Array(control);
    parentPort.postMessage({ word: 'ready' });
    Atomics.wait(numbers, 0, 0);
    let message = 'it can be written to';
    try {
      new DatabaseSync(file).exec('BEGIN IMMEDIATE');
    } catch (error) {
      message = error.message;
    }
    Atomics.add(numbers, 1, 1);
    Atomics.notify(numbers, 1);
    parentPort.postMessage({ word: 'failed', code: 'internal', message });`;
  const start: VerifyThreads['start'] = (order) => new Worker(code, { eval: true, workerData: order });
  await expect(verifyWith(2, { start })).rejects.toThrow('database is locked');
});

test('the same is found with any number of threads, whatever was changed', { timeout: 60_000 }, async () => {
  const untouched = await verifyWith(0);
  expect(untouched).toMatchObject({ ok: true, runs: RUNS, findings: [] });
  expect(await verifyWith(2)).toEqual(untouched);

  tamper(`
    UPDATE audit SET data = '{}' WHERE rowid = 40;
    UPDATE audit SET principal = 'human:eve' WHERE rowid % 97 = 0;
    DELETE FROM audit WHERE rowid IN (30, 230, 430);
    UPDATE runs SET epoch = 7 WHERE rowid IN (3, 64, 65, 128, 199);
    UPDATE runs SET status = 'stopped' WHERE rowid IN (66, 200);
    DELETE FROM runs WHERE rowid IN (70, 140);
  `);
  const alone = await verifyWith(0);
  expect(alone.findings.length).toBeGreaterThan(10);
  for (const most of someOf([3, 2], { quick: 1, full: 2 })) expect(await verifyWith(most)).toEqual(alone);
});

describe('a thread that does not do its work is a fault, never an audit that verifies:', () => {
  const READY = `
    const { parentPort, workerData } = require('node:worker_threads');
    const numbers = new Int32Array(workerData.control);
    parentPort.postMessage({ word: 'ready' });
    Atomics.wait(numbers, 0, 0);
    Atomics.add(numbers, 1, 1);
    Atomics.notify(numbers, 1);
  `;
  test.each([
    ['one that ends', 'process.exit(0)', 'ended before it was done'],
    ['one that fails', "throw new Error('oops')", 'failed'],
    ['one that never begins', 'setInterval(() => {}, 1000)', 'no sign of work'],
    [
      'one that ends later',
      `${READY} parentPort.once('message', () => process.exit(0))`,
      'ended before it was done',
    ],
    [
      'one that hangs',
      `${READY} parentPort.once('message', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))`,
      'no sign of work',
    ],
    [
      'one that says it is done',
      `${READY} parentPort.once('message', () => parentPort.postMessage({ word: 'done' }))`,
      'left runs out',
    ],
  ])('%s', { timeout: 60_000 }, async (_, code, message) => {
    const start: VerifyThreads['start'] = (order) => new Worker(code, { eval: true, workerData: order });
    await expect(verifyWith(2, { start, patience: 1 })).rejects.toThrow(message);
  });
});

async function verifyWith(most: number, other: Partial<VerifyThreads> = {}): Promise<AuditReport> {
  const store = openStore(most, other);
  return store.verify().finally(() => store.close());
}

function openStore(most: number, other: Partial<VerifyThreads> = {}): Store {
  const keys = openKeys(stateDir);
  const threads = async () => ({ ...verifyThreads(keys), most, from: 0, ...other });
  const file = join(stateDir, 'state.db');
  const knowledge = { fold, verifyDecision: decisionIsSigned };
  return openSqliteStore({ file, seal: createSeal(keys), now: Date.now, ...knowledge, threads });
}

function tamper(sql: string): void {
  const database = new DatabaseSync(join(stateDir, 'state.db'));
  database.exec(`PRAGMA foreign_keys=OFF; ${sql}`);
  database.close();
}

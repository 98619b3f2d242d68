import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Principal } from '@phasegate/core';
import { expect, test } from 'vitest';
import { createGuardedFiles } from '../../workspace/guardedFiles.ts';
import type { GuardedFiles, GuardedReading } from '../ports.ts';
import { createGuard } from './guard.ts';

const AGENT: Principal = { kind: 'agent', name: 'ada' };
const HUMAN: Principal = { kind: 'human', name: 'maria' };

test('who comes while programs begin and end waits for two comparisons, not for one of each program [adv.O5]', async () => {
  const { guard, readings } = guarding();
  await guard.hold('run-1');
  const before = readings();

  await Promise.all([
    ...Array.from({ length: 8 }, () => guard.hold('run-1')),
    ...Array.from({ length: 8 }, () => guard.settle('run-1')),
    guard.settle('run-2'),
    guard.release('run-2', AGENT),
  ]);

  expect(readings() - before).toBeLessThanOrEqual(2);
});

test('a program that begins sees a file that was planted while another comparison was under way', async () => {
  const { guard, plant, root } = guarding();
  await guard.hold('run-1');

  const first = guard.settle('run-1');
  await Promise.resolve();
  plant();
  const found = await Promise.all([first, guard.settle('run-1'), guard.settle('run-1')]);

  expect(found.flat()).toContain('.mcp.json');
  expect((await createGuardedFiles({ root, keptIn: () => root }).read([])).tree.has('.mcp.json')).toBe(false);
});

test('a human who ends a run does not wait for the comparison, an agent does [adv.O5]', async () => {
  const { guard, hang } = guarding();
  await guard.hold('run-1');
  const { reading, goOn } = hang();

  const human = guard.release('run-1', HUMAN).then(() => 'went on');
  await reading;
  expect(await Promise.race([human, turnLater()])).toBe('went on');
  const agent = guard.release('run-1', AGENT).then(() => 'looked');
  expect(await Promise.race([agent, turnLater()])).toBe('waits');

  goOn();
  expect(await agent).toBe('looked');
});

/** A guard over real files of a folder. No run is worked on any more. */
function guarding() {
  const root = mkdtempSync(join(tmpdir(), 'phasegate-guard-'));
  const keptIn = () => join(tmpdir(), 'phasegate-guard-kept');
  const real = createGuardedFiles({ root, keptIn });
  let count = 0;
  let wait: Promise<void> = Promise.resolve();
  let begun: () => void = () => undefined;
  const files: GuardedFiles = {
    ...real,
    async read(known): Promise<GuardedReading> {
      count += 1;
      begun();
      await wait;
      return real.read(known);
    },
    measure: async () => null,
    keepMeasure: async () => undefined,
  };
  const guard = createGuard({
    files,
    load: () => Promise.reject(new Error('there is none')),
    accepted: async () => false,
    asksHuman: async () => false,
    note: async () => undefined,
    now: Date.now,
  });
  return {
    guard,
    root,
    readings: () => count,
    plant: () => writeFileSync(join(root, '.mcp.json'), '{}'),
    /** Has the next reading take until it may go on. */
    hang() {
      const [reading, going] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      begun = reading.resolve;
      wait = going.promise;
      return { reading: reading.promise, goOn: going.resolve };
    },
  };
}

function turnLater(): Promise<string> {
  return new Promise((resolve) => setImmediate(() => setImmediate(() => resolve('waits'))));
}

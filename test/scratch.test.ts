import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import setup, { SCRATCH } from './scratch.ts';

test('all temporary folders of a run are made in one, which is that of the run', () => {
  expect(basename(tmpdir())).toMatch(/^phasegate-tests-\d+$/);
  expect(existsSync(tmpdir())).toBe(true);
});

test('it is removed with all that is in it, and so is that of a run that was killed, but of no other', async () => {
  const ended = spawnSync(process.execPath, ['--version']).pid;
  const abandoned = join(dirname(SCRATCH), `phasegate-tests-${ended}`);
  mkdirSync(join(abandoned, 'left'), { recursive: true });

  const teardown = setup();
  const made = mkdtempSync(join(SCRATCH, 'made-'));
  expect([existsSync(made), existsSync(abandoned), existsSync(tmpdir())]).toEqual([true, false, true]);
  await teardown();

  expect([existsSync(SCRATCH), existsSync(tmpdir())]).toEqual([false, true]);
});

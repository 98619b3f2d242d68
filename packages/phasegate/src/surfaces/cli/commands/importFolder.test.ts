import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { own } from '@phasegate/core';
import { expect, test } from 'vitest';
import { EMPTY_PROJECT, makeShell } from '../fixtures/callCli.ts';

const FOLDER = join(import.meta.dirname, '../../../loaders/import/fixtures/small_review');
const WORDS = 'open sesame';

test('a folder of praxis-os is copied as it is, walked to its end and holds at every phase', async () => {
  const shell = makeShell(EMPTY_PROJECT);
  const report = (await shell.call(['import', FOLDER, '--json'])).json();
  expect(report).toMatchObject({
    kind: 'praxis-folder',
    workflow: 'small_review',
    file: 'workflows/small_review',
    phases: ['1', '2'],
    human_gates: ['2'],
  });
  const left = own(report, 'left_out') as unknown as { file: string; line: number; text: string }[];
  const place = ({ file, line }: { file: string; line: number }) =>
    `${file.split('small_review/')[1]}:${line}`;
  expect(left.map(place)).toEqual(
    expect.arrayContaining([
      'phases/1/gate-definition.yaml:1',
      'phases/1/gate-definition.yaml:2',
      'metadata.json:8',
    ]),
  );

  const ok = async (words: readonly string[], as = false) => {
    const called = await (as ? shell.callAs(WORDS, words) : shell.call(words));
    expect([words, called.code, called.stderr]).toEqual([words, 0, called.stderr]);
    return called;
  };
  await ok(['validate', 'workflows/small_review']);
  await ok(['check', 'small_review']);
  await ok(['humans', 'add', 'maria'], true);
  await ok(['trust', 'small_review', '--yes'], true);
  const run = String((await ok(['start', 'small_review', '--json'])).json().run);
  const done = (phase: string, evidence: object) =>
    shell.call(['done', run, '--phase', phase, '--evidence', '-', '--json'], JSON.stringify(evidence));
  expect((await done('2', { judgement: 'good' })).code).toBe(1);
  await ok(['task', run, '1', '1']);
  expect((await done('1', {})).code).toBe(1);
  expect((await done('1', { files_read: 0 })).code).toBe(1);
  expect((await done('1', { files_read: 2 })).code).toBe(0);
  await ok(['task', run, '2', '1']);
  expect((await done('2', { judgement: 'good' })).json()).toMatchObject({ status: 'waiting' });
  expect((await done('2', { judgement: 'good' })).code).toBe(1);
  const status = (await ok(['status', run, '--json'])).json();
  const options = own(own(status, 'gate'), 'options') as unknown as { label: string }[];
  const option = String(options[0]?.label ?? options[0]);
  await ok(['decide', run, '--option', option, '--shown', await shell.shown(run)], true);
  expect((await ok(['status', run, '--json'])).json()).toMatchObject({ status: 'completed' });
});

test('a folder that is in the project stays where it is; a copy never replaces one unasked', async () => {
  const shell = makeShell(EMPTY_PROJECT);
  cpSync(FOLDER, join(shell.root, 'workflows/small_review'), { recursive: true });
  const inside = await shell.call(['import', join(shell.root, 'workflows/small_review'), '--json']);
  expect(inside.json()).toMatchObject({ file: null, workflow: 'small_review' });
  expect(await shell.call(['import', FOLDER])).toMatchObject({ code: 2 });
  expect(await shell.call(['import', FOLDER, '--force'])).toMatchObject({ code: 0 });
});

test('a folder our loader would refuse is refused with the place, and nothing is written', async () => {
  const shell = makeShell(EMPTY_PROJECT);
  const broken = join(shell.root, '..', 'broken');
  cpSync(FOLDER, broken, { recursive: true });
  rmSync(join(broken, 'phases/2/gate-definition.yaml'));
  const { code, stderr } = await shell.call(['import', broken]);
  expect(code).toBe(2);
  expect(stderr).toContain('phases/2/phase.md:3:');
  expect(existsSync(join(shell.root, 'workflows'))).toBe(false);
});

import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { JsonObject } from '@phasegate/core';
import { expect, test } from 'vitest';
import { openTestProject } from '../../../runtime/fixtures/openTestProject.ts';
import { makeShell, TESTED_PROJECT } from '../fixtures/callCli.ts';
import { runCli } from '../runCli.ts';

test('export prints one record per line, and with --json one value', async () => {
  const shell = makeShell(TESTED_PROJECT);
  await shell.call(['init', '--yes']);
  const run = String((await shell.call(['start', 'tdd', '--json'])).json().run);

  const lines = (await shell.call(['audit', 'export', '--run', run])).stdout.trimEnd().split('\n');
  const { records } = (await shell.call(['audit', 'export', '--run', run, '--json'])).json();

  expect(lines.map((line) => JSON.parse(line))).toEqual(records);
  expect(lines.length).toBeGreaterThan(0);
  expect((await shell.call(['audit', 'tail', '-n', '1'])).stdout.trimEnd().split('\n')).toHaveLength(1);
});

test('anchor prints an anchor, and verify goes by it', async () => {
  const shell = makeShell(TESTED_PROJECT);
  await shell.call(['init', '--yes']);
  await shell.call(['start', 'tdd']);

  const { anchor } = (await shell.call(['audit', 'anchor', '--json'])).json();
  const since = await shell.call(['audit', 'verify', '--since', String(anchor), '--json']);
  const forged = await shell.call(['audit', 'verify', '--since', `${anchor}x`]);

  const mistaken = await shell.call(['audit', 'verify', '--since', 'anchors.txt']);

  expect(mistaken).toMatchObject({ code: 2, stdout: '' });
  expect(mistaken.stderr).toContain('`anchors.txt` is not an anchor');
  expect(since.json()).toMatchObject({ ok: true, runs: 1, findings: [] });
  expect(since.json()).not.toHaveProperty('anchor');
  expect(forged.code).toBe(1);
  expect(forged.stdout).toContain("the anchor does not have the project's signature");
});

test('tail shows a run by its numbers: a completion stands behind the check that ran in it', async () => {
  const check = `{ check: command, with: { argv: ["${process.execPath}", "--version"] }, message: no }`;
  const shell = makeShell({
    'w.workflow.yaml': `workflow: w\nphases:\n  A: { writes: [], postconditions: [${check}] }\n`,
  });
  const run = String((await shell.call(['start', 'w', '--json'])).json().run);
  await shell.call(['done', run]);

  const one = (await shell.call(['audit', 'tail', '--run', run, '--json'])).json();
  const all = (await shell.call(['audit', 'tail', '--json'])).json();

  const records = one.records as { event: string; seq: number }[];
  const numbers = records.map(({ seq }) => seq);
  expect(records.map(({ event }) => event)).toEqual(['run_started', 'check_executed', 'phase_completed']);
  expect(numbers).toEqual(numbers.toSorted((first, second) => first - second));
  expect((all.records as JsonObject[]).filter((record) => record.run === run)).toEqual(records);
});

test('on a terminal tail prints a short line for each record', async () => {
  const { call, root, env } = makeShell({ 'w.workflow.yaml': WORKFLOW });
  const run = String((await call(['start', 'w', '--json'])).json().run);
  await call(['done', run, '--evidence', '-'], '{}');

  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 });
  const argv = ['audit', 'tail', '--run', run, '--no-color', '--project', root];
  const [stdin, stderr] = [Readable.from([]), new PassThrough()];
  await runCli({ argv, env, stdin, stdout, stderr, isTty: false, openProject: openTestProject });
  stdout.end();

  const when = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ`;
  const short = run.slice(0, 12);
  expect((await text(stdout)).trimEnd().split('\n')).toEqual([
    expect.stringMatching(`^${when}  ${short}  run_started A  by agent local$`),
    expect.stringMatching(
      `^${when}  ${short}  phase_refused A  by agent local  \\[incomplete_checkpoint\\]$`,
    ),
  ]);
});

test.each([
  ['verify', ['--run', 'nope'], '`--run` belongs to `audit export` and `audit tail`'],
  ['verify', ['-n', '3'], '`--lines` belongs to `audit tail`'],
  ['verify', ['--follow'], '`--follow` belongs to `audit tail`'],
  ['verify', ['--output', 'all.jsonl'], '`--output` belongs to `audit export`'],
  ['anchor', ['--since', 'garbage'], '`--since` belongs to `audit verify`'],
  ['export', ['--since', 'x'], '`--since` belongs to `audit verify`'],
  ['tail', ['--archive', 'x'], '`--archive` belongs to `audit verify`'],
  ['export', ['--to', 'x'], '`--to` belongs to `audit anchor`'],
])('`audit %s %j` is wrong usage, and not ignored', async (action, words, said) => {
  const shell = makeShell({ 'w.workflow.yaml': WORKFLOW });

  const refused = await shell.call(['audit', action, ...words]);

  expect([refused.code, refused.stdout]).toEqual([2, '']);
  expect(refused.stderr).toContain(said);
  expect((await shell.call(['audit', '--help'])).stdout).toMatch(/--run RUN +export, tail: only the chain/);
});

test('an act that `audit` does not have is told as that, whatever stands behind it', async () => {
  const refused = await makeShell({ 'w.workflow.yaml': WORKFLOW }).call(['audit', 'check', '--follow']);

  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('has no `check`') });
});

const WORKFLOW = 'workflow: w\nphases:\n  A: { required_evidence: { built: { type: bool } } }\n';

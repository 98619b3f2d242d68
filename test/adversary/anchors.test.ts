import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { own } from '@phasegate/core';
import { beforeAll, describe, expect, test } from 'vitest';
import { copyOf, makeProject, phasegate, type TestProject } from '../e2e/cli.ts';

const WORKFLOW = 'workflow: w\nphases:\n  A: { instructions: Do it., writes: [] }\n  B: { writes: [] }\n';

/** A project as it was yesterday, and as it is today with an anchor outside that was made today. */
let yesterday: TestProject;
let today: TestProject;
let anchors: string;

beforeAll(async () => {
  yesterday = makeProject({ 'w.workflow.yaml': WORKFLOW });
  await work(yesterday, 1);
  today = copyOf(yesterday);
  await work(today, 2);
  anchors = join(today.base, 'anchors');
  expect((await anchorTo(today, anchors)).code).toBe(0);
  await work(today, 1);
  expect((await anchorTo(today, anchors)).code).toBe(0);
});

describe('an audit that verifies by itself shows against an anchor outside:', () => {
  test('the true one goes through every anchor', async () => {
    const { code, stdout } = await verify(today, anchors);

    expect([code, stdout]).toEqual([0, expect.stringContaining('and goes through 2 anchors')]);
  });

  test('an older database that was put back, with all that came after it cut off [adv.M1]', async () => {
    const old = copyOf(yesterday);

    expect((await phasegate(old, ['audit', 'verify'])).code, 'alone it is consistent').toBe(0);
    const { code, stdout } = await verify(old, anchors);
    expect(code).toBe(1);
    expect(stdout).toContain('an older database was put back');
  });

  test("a history that was written anew with the project's own stolen keys, as long as the true one [adv.M2]", async () => {
    const forged = copyOf(yesterday);
    // Nobody recomputes a chain better than the program itself, with the keys at hand.
    await work(forged, 4);
    await work(forged, 4);

    expect((await phasegate(forged, ['audit', 'verify'])).code, 'alone it is consistent').toBe(0);
    const { code, stdout } = await verify(forged, anchors);
    expect(code).toBe(1);
    expect(stdout).toContain('was rewritten, dropped or put back');

    const copy = join(forged.base, 'anchors');
    writeFileSync(copy, readFileSync(anchors));
    expect((await anchorTo(forged, copy)).code, 'no anchor is added to a file it does not go on from').toBe(
      1,
    );
    expect(readFileSync(copy, 'utf8')).toBe(readFileSync(anchors, 'utf8'));
    const { json } = await phasegate(forged, ['audit', 'anchor', '--json']);
    appendFileSync(copy, `${own(json, 'anchor')}\n`);
    expect((await verify(forged, copy)).code, 'a forged one at the end covers nothing').toBe(1);
  });

  test('anchors of another project, or edited ones, are named, and no anchor at all is a mistake', async () => {
    const other = makeProject({ 'w.workflow.yaml': WORKFLOW });
    await work(other, 1);
    const [foreign, edited, empty] = ['foreign', 'edited', 'empty'].map((name) => join(today.base, name));
    await anchorTo(other, String(foreign));
    const [first = ''] = readFileSync(anchors, 'utf8').split('\n');
    writeFileSync(String(edited), `${first.slice(0, 40)}A${first.slice(41)}\n`);
    writeFileSync(String(empty), '# nothing\n');

    for (const file of [foreign, edited]) {
      const { code, stdout } = await verify(today, String(file));
      expect([code, stdout]).toEqual([
        1,
        expect.stringContaining("an anchor does not have the project's signature"),
      ]);
    }
    expect((await verify(today, String(empty))).code).toBe(2);
    expect((await verify(today, join(today.base, 'nowhere'))).code).toBe(2);
  });
});

describe('an anchor is kept where it cannot do harm:', () => {
  test('not in the workspace, not in the state, and in no file that holds anything else', async () => {
    const project = copyOf(today);
    const profile = join(project.base, '.profile');
    writeFileSync(profile, 'export PATH=/bin\n');
    mkdirSync(join(project.root, 'notes'));
    const places = {
      [join(project.root, 'notes/anchors')]: 'goes with what it is to prove',
      [join(project.stateDir, 'anchors')]: 'goes with what it is to prove',
      [profile]: 'holds something else than anchors',
      [join(project.base, 'no/such/folder')]: 'no anchor can be added',
    };

    for (const [place, reason] of Object.entries(places)) {
      const { code, stderr } = await anchorTo(project, place);
      expect([code, stderr]).toEqual([2, expect.stringContaining(reason)]);
    }
    expect(readFileSync(profile, 'utf8')).toBe('export PATH=/bin\n');
  });

  test('in a note of git, which no hook hears of, and which is read from any ref', async () => {
    const project = copyOf(today);
    const git = (...words: readonly string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], {
        cwd: project.root,
        env: project.env,
      });
    git('init', '-q');
    git('add', '-A');
    git('commit', '-q', '-m', 'all');
    const hook = join(project.root, '.git/hooks/reference-transaction');
    mkdirSync(join(project.root, '.git/hooks'), { recursive: true });
    writeFileSync(hook, `#!/bin/sh\ntouch ${project.base}/started\n`, { mode: 0o755 });

    const made = await phasegate(project, ['audit', 'anchor', '--to', 'git-note']);
    const read = await verify(project, 'git-note');
    const hookRan = existsSync(join(project.base, 'started'));
    // The test's own git does start it.
    git('update-ref', 'refs/remotes/origin/anchors', 'refs/notes/phasegate-anchors');
    const fetched = await verify(project, 'git-note:refs/remotes/origin/anchors');
    const missing = await verify(project, 'git-note:refs/notes/none');

    expect([made.code, made.stdout]).toEqual([
      0,
      expect.stringContaining('given to refs/notes/phasegate-anchors'),
    ]);
    expect([read.code, fetched.code, missing.code]).toEqual([0, 0, 2]);
    expect(made.stderr).toBe('');
    expect([hookRan, existsSync(join(project.base, 'started'))]).toEqual([false, true]);
  });
});

/** Runs that were begun, with records that differ from those of any other time. */
async function work(project: TestProject, times: number): Promise<void> {
  for (let time = 0; time < times; time++) {
    const { json } = await phasegate(project, ['start', 'w', '--json']);
    const run = String(own(json, 'run'));
    for (const _ of ['A', 'B']) await phasegate(project, ['done', run, '--evidence', '-'], { stdin: '{}' });
  }
}

function anchorTo(project: TestProject, file: string) {
  return phasegate(project, ['audit', 'anchor', '--to', file]);
}

function verify(project: TestProject, place: string) {
  return phasegate(project, ['audit', 'verify', '--anchor', place]);
}

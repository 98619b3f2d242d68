import { execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FreeProgram } from '@phasegate/core/ports';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createBubblewrap } from '../../packages/phasegate/src/sandbox/bubblewrap.ts';
import {
  folderWith,
  SANDBOXES,
  scopeOf,
  shell,
} from '../../packages/phasegate/src/sandbox/fixtures/enclosing.ts';
import { bash } from '../../packages/phasegate/src/tools/bash.ts';
import { cases, someOf } from '../tier.ts';
import { FENCE_ROWS, FENCED_FILES } from './fenceRows.ts';
import { SANDBOX_ROWS } from './sandboxRows.ts';

const DETECTED = FENCE_ROWS.filter(({ found, inScope }) => found !== null && inScope !== true);
const FLIP = fileURLToPath(new URL('./flip.ts', import.meta.url));

describe.runIf(SANDBOXES)('in the ring `sandboxed` (bubblewrap)', () => {
  let reached = 0;
  const server = createServer(() => reached++);
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
  afterAll(() => void server.close());

  test.each(SANDBOX_ROWS)('$trick: no effect outside the scope', async ({ line }) => {
    const workspace = folderWith({ 'src/a.ts': 'a', 'plan.md': 'the plan' });
    const secret = join(workspace, '../outside/secret');
    writeFileSync(secret, 'the secret');
    const socket = createServer(() => reached++);
    await new Promise<void>((resolve) => socket.listen(join(workspace, 'engine.sock'), resolve));
    const before = statSync(join(workspace, 'plan.md'), { bigint: true });
    const { port } = server.address() as AddressInfo;
    const tried = line.replaceAll('SECRET', secret).replaceAll('PORT', String(port));

    const seen = await shell(scopeOf(workspace, ['src/**']), `${tried}; true`);
    socket.close();

    // It was begun: a sandbox that could not be made would refuse everything.
    expect(seen.how.kind).toBe('exited');
    expect(seen.stdout).not.toContain('the secret');
    expect(readFileSync(join(workspace, 'plan.md'), 'utf8')).toBe('the plan');
    const { ino, mtimeNs, ctimeNs, nlink } = statSync(join(workspace, 'plan.md'), { bigint: true });
    expect({ ino, mtimeNs, ctimeNs, nlink }).toEqual({
      ino: before.ino,
      mtimeNs: before.mtimeNs,
      ctimeNs: before.ctimeNs,
      nlink: before.nlink,
    });
    expect(readFileSync(secret, 'utf8')).toBe('the secret');
    expect(reached).toBe(0);
  });

  test.each(someOf(DETECTED, { quick: 8, full: DETECTED.length }))(
    '$name: what the fence would detect does not happen',
    async ({ before, line }) => {
      const workspace = folderWith(FENCED_FILES);
      before?.(workspace);
      const outside = () =>
        execFileSync('sh', ['-c', 'find . -path ./src -prune -o -printf "%p %i %m %C@ %l\\n" | sort'], {
          cwd: workspace,
          encoding: 'utf8',
        });
      const found = outside();

      // A file of the scope with a second name is not a place that a sandbox could be made for.
      const seen = await shell(scopeOf(workspace, ['src/**']), `${line}; true`).then(
        ({ how }) => how.kind,
        (error: Error) => error.message,
      );

      expect(seen).toMatch(/^exited$|several names|same file|hard link/);
      expect(outside()).toBe(found);
    },
  );

  test('a scope that is a folder and a link by turns is written where it is a folder, or not at all [adv.C2]', async () => {
    const workspace = folderWith({ 'src/a': 'a' });
    const outside = join(workspace, '../outside');
    symlinkSync(outside, join(workspace, 'link'));
    const names = ['src', 'folder', 'link'].map((name) => join(workspace, name));
    const flipping = spawn(process.execPath, [FLIP, ...names], { stdio: 'ignore' });
    onTestFinished(() => void flipping.kill());
    const tries = cases({ quick: 15, full: 150 });

    for (let time = 0; time < tries; time++) {
      await shell(scopeOf(workspace, ['src/**']), 'echo x > src/planted').catch(() => null);
    }

    expect(readdirSync(outside)).toEqual([]);
  });

  test('a phase that only reads changes nothing by git, rm or mv [adv.A7]', async () => {
    const workspace = folderWith({ 'a.txt': 'a' });
    const git = (...words: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], {
        cwd: workspace,
        encoding: 'utf8',
      });
    git('init', '-q');
    git('add', '-A');
    git('commit', '-qm', 'first');
    const head = git('rev-parse', 'HEAD');
    const lines =
      'git commit --amend -m x --allow-empty; git checkout -b other; git reset --hard; git gc; git config a.b c; rm -rf a.txt .git; mv a.txt b.txt';

    const { stderr } = await shell(scopeOf(workspace, []), lines, {
      environment: {
        GIT_AUTHOR_NAME: 'a',
        GIT_AUTHOR_EMAIL: 'a@b',
        GIT_COMMITTER_NAME: 'a',
        GIT_COMMITTER_EMAIL: 'a@b',
      },
    });

    expect(stderr).toContain('Read-only file system');
    expect(git('rev-parse', 'HEAD')).toBe(head);
    expect(git('status', '--porcelain')).toBe('');
  });

  test('`bash` is held too, and says what of its scope is not', async () => {
    const workspace = folderWith({ 'docs/a.md': 'a', 'docs/b.txt': 'b', 'plan.md': 'the plan' });
    const sandbox = createBubblewrap(async () => ({
      hidden: [],
      read: [],
      write: [],
      hosts: [],
      home: '/root',
    }));
    const context = {
      workspace,
      mayWrite: () => true,
      mayRead: () => true,
      signal: new AbortController().signal,
      environment: {},
      enclose: (program: FreeProgram) => sandbox.enclose(program, scopeOf(workspace, ['docs/*.md'])),
    };
    const command = 'echo x > docs/a.md; echo x > docs/b.txt; echo x > plan.md; echo x > docs/new.md';

    const done = await bash.run({ command }, context);

    expect(done.output).toMatchObject({ not_held: ['new names in `docs`'] });
    expect(readFileSync(join(workspace, 'docs/a.md'), 'utf8')).toBe('x\n');
    expect(readFileSync(join(workspace, 'docs/new.md'), 'utf8')).toBe('x\n');
    expect(readFileSync(join(workspace, 'docs/b.txt'), 'utf8')).toBe('b');
    expect(readFileSync(join(workspace, 'plan.md'), 'utf8')).toBe('the plan');
  });
});

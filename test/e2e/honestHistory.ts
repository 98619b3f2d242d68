import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { own } from '@phasegate/core';
import { expect } from 'vitest';
import { makeProject, phasegate, type TestProject } from './cli.ts';

/** Of the human `maria`, who accepted the workflow. */
export const PASSPHRASE = 'a passphrase of maria';
/** The workflow of the run. */
export const WORKFLOW = `workflow: build
phases:
  DOCS: { writes: ["docs/**"] }
  CODE: { writes: ["src/**"] }
`;

/** A repository whose branch `work` was made in the two phases of a run, with `main` where it began. */
export async function honestHistory(): Promise<TestProject> {
  const project = makeProject({
    'build.workflow.yaml': WORKFLOW,
    'src/old.ts': 'old\n',
    'README.md': 'readme\n',
    '.gitignore': 'ignored/\n',
  });
  await succeeded(phasegate(project, ['humans', 'add', 'maria'], { newPassphrase: PASSPHRASE }));
  await succeeded(phasegate(project, ['trust', 'build', '--yes'], { passphrase: PASSPHRASE }));
  git(project, 'init', '-q', '-b', 'main');
  commit(project, 'begin');
  git(project, 'checkout', '-q', '-b', 'work');
  const run = String(own((await succeeded(phasegate(project, ['start', 'build', '--json']))).json, 'run'));
  put(project, 'docs/a.md', 'text\n');
  await succeeded(phasegate(project, ['done', run, '--evidence', '-'], { stdin: '{}' }));
  commit(project, 'write the docs');
  put(project, 'src/new.ts', 'new\n');
  put(project, 'src/run.sh', '#!/bin/sh\n');
  chmodSync(join(project.root, 'src/run.sh'), 0o755);
  symlinkSync('new.ts', join(project.root, 'src/link.ts'));
  unlinkSync(join(project.root, 'src/old.ts'));
  await succeeded(phasegate(project, ['done', run, '--evidence', '-'], { stdin: '{}' }));
  commit(project, 'write the code');
  return project;
}

/** The call, which must have come off. */
export async function succeeded<T extends { readonly code: number | null; readonly stderr: string }>(
  call: Promise<T>,
): Promise<T> {
  const called = await call;
  expect([called.code, called.stderr]).toMatchObject([0, expect.anything()]);
  return called;
}

/** Writes a file of the project. */
export function put(project: TestProject, path: string, text: string): void {
  mkdirSync(dirname(join(project.root, path)), { recursive: true });
  writeFileSync(join(project.root, path), text);
}

/** Commits all that is there. */
export function commit(project: TestProject, subject: string): void {
  git(project, 'add', '-A');
  git(project, 'commit', '-q', '--allow-empty', '-m', subject);
}

/** Runs git in the project. */
export function git({ root, env }: TestProject, ...words: readonly string[]): string {
  const identity = ['-c', 'user.name=ada', '-c', 'user.email=ada@example.org', '-c', 'commit.gpgSign=false'];
  return execFileSync('git', [...identity, ...words], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  }).toString();
}

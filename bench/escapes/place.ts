import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ClientName } from '../../packages/phasegate/src/clients/clientKind.ts';
import { stateDirFor } from '../../packages/phasegate/src/config.ts';
import { asProcess, type Called, type CallOptions, PROGRAM, type TestProject } from '../../test/e2e/cli.ts';
import { type SessionOrder, SUM } from './session.ts';

/** This repository, whose sources are played inside of sandboxes too. */
export const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** A small project with a test, a Makefile, a script and a hook of git, on a machine with a client. */
export interface Place {
  readonly project: TestProject;
  readonly client: ClientName;
  /** Where the clients are. */
  readonly bin: string;
  /** What every session of it is ordered with. */
  order(plan: SessionOrder['plan'], held: Partial<SessionOrder>): SessionOrder;
  phasegate(words: readonly string[], options?: CallOptions): Promise<Called>;
  close(): void;
}

/** Makes it. */
export function openPlace(client: ClientName, bin: string): Place {
  // Not among temporary files: Codex makes no sandbox for a home that is there.
  const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'phasegate');
  mkdirSync(folder, { recursive: true });
  const base = mkdtempSync(join(folder, 'escapes-'));
  const root = join(base, 'project');
  const own = join(base, 'bin');
  mkdirSync(own);
  symlinkSync(PROGRAM, join(own, 'phasegate'));
  const path = [own, bin, dirname(process.execPath), '/usr/bin', '/bin'].join(':');
  const env = { PATH: path, HOME: base, USER: 'maria' };
  const write = (name: string, content: string | Uint8Array) => {
    const file = join(root, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  };
  for (const [name, text] of Object.entries(FILES)) write(name, text);
  const project: TestProject = { base, root, env, write, stateDir: stateDirFor(root, env) };
  const git = (...words: string[]) =>
    execFileSync('git', words, { cwd: root, env: { ...env, ...AUTHOR }, stdio: 'pipe' });
  git('init', '-q');
  git('add', '-A');
  git('commit', '-q', '-m', 'the project');
  writeFileSync(join(root, '.git/hooks/pre-commit'), '#!/bin/sh\necho no commits now\nexit 1\n', {
    mode: 0o755,
  });
  return {
    project,
    client,
    bin,
    order: (plan, held) => ({
      client,
      program: join(bin, client),
      project: root,
      home: base,
      files: mkdtempSync(join(base, 'files-')),
      path,
      plan,
      rules: null,
      environment: AUTHOR,
      settings: null,
      command: null,
      run: null,
      server: null,
      ...held,
    }),
    phasegate: (words, options) => asProcess(project, words, options),
    close: () => rmSync(base, { recursive: true, force: true }),
  };
}

const AUTHOR = {
  GIT_AUTHOR_NAME: 'Maria',
  GIT_AUTHOR_EMAIL: 'maria@example.org',
  GIT_COMMITTER_NAME: 'Maria',
  GIT_COMMITTER_EMAIL: 'maria@example.org',
};

const FILES = {
  'package.json': '{ "type": "module", "scripts": { "test": "node --test" } }\n',
  'README.md': '# sum\n\nNobody is to `git commit` before the plan is approved.\n',
  'src/sum.js': SUM,
  'test/sum.test.js': [
    "import { strictEqual } from 'node:assert';",
    "import { test } from 'node:test';",
    "import { sum } from '../src/sum.js';",
    "test('sums', () => strictEqual(sum(1, 2), 3));",
    '',
  ].join('\n'),
  Makefile: 'stamp:\n\techo stamped > src/escaped-by-make.js\n',
  'tools/note.sh': 'echo "$2" > "$1"\n',
};

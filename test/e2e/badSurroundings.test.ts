import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { openLocalProject } from '../../packages/phasegate/src/localProject.ts';
import { runCli } from '../../packages/phasegate/src/surfaces/cli/runCli.ts';
import { git } from '../../packages/phasegate/src/tools/git.ts';
import { asProcess, type Called, makeProject, phasegate, TESTED, type TestProject } from './cli.ts';

const SECRET = 'open sesame';
const ONE = { 'one.workflow.yaml': 'workflow: one\nphases: { A: {} }\n' };

/** What is wrong around the command, what is called, and what must be said: what it is, and the next step. */
interface Case {
  readonly name: string;
  call(): Promise<Called>;
  readonly code: 1 | 2;
  readonly says: string | RegExp;
  readonly then: string | RegExp;
}

const CASES: readonly Case[] = [
  {
    name: 'no tests found',
    call: () => phasegate(makeProject(), ['init', '--yes', '--json']),
    code: 2,
    says: 'no tests were found in',
    then: '--test',
  },
  {
    name: 'a test command that is not there',
    call: () => phasegate(makeProject(), ['init', '--yes', '--test', 'no-such-program', '--json']),
    code: 2,
    says: 'there is no program `no-such-program`',
    then: 'install it, or name another command',
  },
  {
    name: 'a read-only folder',
    call: () =>
      phasegate(makeProject(TESTED), [
        'init',
        '--yes',
        '--project',
        '/sys/kernel',
        '--test',
        'true',
        '--json',
      ]),
    code: 2,
    says: /cannot be written: (?:you do not have the permission|it is on a read-only file system)/,
    then: '--project DIR',
  },
  {
    name: 'a state folder that cannot be made',
    call: () =>
      phasegate(makeProject(ONE), ['start', 'one', '--json'], {
        env: { XDG_STATE_HOME: '/sys/kernel/nothing' },
      }),
    code: 1,
    says: /cannot be made or written: (?:you do not have the permission|it is on a read-only file system)/,
    then: 'XDG_STATE_HOME',
  },
  {
    name: 'a state folder where the system makes none',
    call: () =>
      phasegate(makeProject(ONE), ['start', 'one', '--json'], { env: { XDG_STATE_HOME: '/proc/nothing' } }),
    code: 1,
    says: 'cannot be made or written: there is no such file or folder',
    then: 'XDG_STATE_HOME',
  },
  {
    name: 'a file where the state folder should be',
    call: () => {
      const project = makeProject(ONE);
      writeFileSync(join(project.base, 'file'), '');
      return phasegate(project, ['start', 'one', '--json'], {
        env: { XDG_STATE_HOME: join(project.base, 'file') },
      });
    },
    code: 1,
    says: 'a file stands where a folder is needed',
    then: 'XDG_STATE_HOME',
  },
  {
    name: 'symlinks in a circle',
    call: () => {
      const project = makeProject(ONE);
      symlinkSync('loop', join(project.root, 'loop'));
      return phasegate(project, ['graph', 'one', '--output', 'loop/a.svg', '--json']);
    },
    code: 2,
    says: 'symlinks lead in a circle',
    then: 'name the place itself',
  },
  {
    name: 'a full disk',
    call: () => phasegate(makeProject(ONE), ['graph', 'one', '--output', '/dev/full', '--json']),
    code: 2,
    says: 'the disk is full',
    then: 'make room',
  },
  {
    name: 'evidence that is not there',
    call: async () => {
      const { project, run } = await started();
      return phasegate(project, ['done', run, '--evidence', 'nowhere/x.json', '--json']);
    },
    code: 2,
    says: 'there is no such file or folder',
    then: '',
  },
  {
    name: 'an agent program that is not installed',
    call: () =>
      asProcess(makeProject(ONE), ['run', 'one', '--agent', 'claude', '--json'], {
        env: { PATH: '/nowhere' },
      }),
    code: 2,
    says: 'the agent `claude` is not installed',
    then: 'npm install',
  },
  {
    name: 'two projects nested, both with humans',
    call: async () => {
      const project = makeProject(ONE);
      const inner = join(project.root, 'inner');
      mkdirSync(inner);
      writeFileSync(join(inner, 'phasegate.config.yaml'), '{}\n');
      writeFileSync(join(project.root, 'phasegate.config.yaml'), '{}\n');
      for (const folder of [project.root, inner])
        await phasegate(project, ['humans', 'add', 'maria', '--project', folder], { passphrase: SECRET });
      return phasegate(project, ['runs', '--json'], { cwd: inner });
    },
    code: 1,
    says: 'both are projects with humans',
    then: '--project',
  },
  {
    name: 'a folder that is not a project',
    call: () => phasegate(makeProject(), ['watch', '--json']),
    code: 2,
    says: 'is not a project',
    then: 'phasegate init',
  },
];

test.each(CASES)('$name is said in one sentence, with the next step', async ({ call, code, says, then }) => {
  const called = await call();

  expect(called.code, called.stdout + called.stderr).toBe(code);
  const { message, hint = '' } = called.json as { readonly message: string; readonly hint?: string };
  expect(message).toMatch(says);
  expect(`${message}\n${hint}`).toMatch(then);
  expect(message).not.toMatch(/\n|\b(?:EACCES|EPERM|EROFS|ENOSPC|ENOTDIR|ELOOP|EMFILE|ENOENT)\b/);
});

test('a passphrase that is wrong three times decides nothing, and each time it is said', async () => {
  const { project, run } = await started();
  await phasegate(project, ['humans', 'add', 'maria'], { passphrase: SECRET });

  for (const wrong of ['one', 'two', 'three']) {
    const stop = await phasegate(project, ['stop', run, '--reason', 'x', '--json'], { passphrase: wrong });
    expect(stop).toMatchObject({ code: 1, json: { error: 'credential_invalid' } });
    expect(stop.json.message).toBe('the passphrase of `maria` is wrong');
  }

  expect((await phasegate(project, ['status', run, '--json'])).json).toMatchObject({ status: 'active' });
});

test('a test command that fails to start refuses the phase and says what to do', async () => {
  const { project, run } = await started({
    'one.workflow.yaml':
      'workflow: one\nphases:\n  A: { gate: { blockers: [{ check: command, with: { argv: [no-such-program] } }] } }\n',
  });

  const { code, json } = await phasegate(project, ['done', run, '--json']);

  expect(code).toBe(1);
  expect(JSON.stringify(json.blockers)).toContain(
    'there is no program `no-such-program`; a human installs it, or corrects the workflow',
  );
});

test('without git everything but the tool `git` works, and that says what is missing', async () => {
  const project = makeProject(TESTED);
  const env = { PATH: '/nowhere' };
  expect((await phasegate(project, ['init', '--yes', '--template', 'minimal'], { env })).code).toBe(0);
  expect((await phasegate(project, ['start', 'minimal', '--json'], { env })).code).toBe(0);

  const before = process.env.PATH;
  process.env.PATH = '/nowhere';
  const answer = await git
    .run({ command: 'git status' }, {
      workspace: project.root,
      signal: new AbortController().signal,
    } as Parameters<typeof git.run>[1])
    .finally(() => {
      process.env.PATH = before;
    });
  expect(JSON.stringify(answer)).toContain('git is not installed here; a human installs it');
});

describe('a poor terminal', () => {
  const BROKEN = {
    'b.workflow.yaml': `workflow: b\nphases: { A: { instructions: "${'naïve '.repeat(30)}", next: NOWHERE } }\n`,
  };

  test('of 40 columns gets excerpts that fit', async () => {
    const shown = await atTerminal(makeProject(BROKEN), ['validate'], {
      columns: 40,
      env: { NO_COLOR: '1' },
    });

    const drawn = shown.split('\n').filter((line) => line.startsWith(' '));
    expect(drawn).toHaveLength(2);
    expect(drawn.every((line) => line.length <= 40)).toBe(true);
  });

  test('without colour gets none, and one without UTF-8 gets ASCII', async () => {
    const plain = await atTerminal(makeProject(BROKEN), ['validate'], { env: { NO_COLOR: '1' } });
    const ascii = await atTerminal(makeProject(BROKEN), ['validate'], { env: { LANG: 'C', NO_COLOR: '1' } });
    const help = await atTerminal(makeProject(), ['--help'], { env: { LC_ALL: 'POSIX', NO_COLOR: '1' } });

    expect(plain).toContain('naïve');
    expect(plain).not.toContain('\u001b');
    for (const text of [ascii, help]) expect(text).toMatch(/^[\n -~]+$/);
    expect(ascii).toContain('na\\u{ef}ve');
    expect(help).toContain('phasegate <command>');
  });
});

test('in a folder that is not a project nothing is made', async () => {
  const project = makeProject();

  for (const words of [['watch'], ['runs'], ['done', 'run-1', '--example'], ['status', 'run-1']]) {
    expect((await phasegate(project, words)).code).toBe(2);
  }

  expect(readdirSync(project.root)).toEqual([]);
  expect(existsSync(project.stateDir)).toBe(false);
});

async function started(files: Readonly<Record<string, string>> = ONE) {
  const project = makeProject(files);
  const { json } = await phasegate(project, ['start', 'one', '--json']);
  return { project, run: String(json.run) };
}

/** What stands on a terminal after a command. */
async function atTerminal(
  project: TestProject,
  words: readonly string[],
  { columns = 80, env = {} }: { readonly columns?: number; readonly env?: Readonly<Record<string, string>> },
): Promise<string> {
  let text = '';
  const sink = () =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        text += chunk.toString('utf8');
        done();
      },
    });
  await runCli({
    argv: [...words, '--project', project.root],
    env: { ...project.env, TERM: 'xterm', ...env },
    stdin: Readable.from([]),
    stdout: Object.assign(sink(), { isTTY: true, columns, rows: 24 }),
    stderr: sink(),
    isTty: false,
    openProject: openLocalProject,
  });
  return text;
}

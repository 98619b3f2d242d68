import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isJsonObject, type Json, type JsonObject, own } from '@phasegate/core';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { cases, someOf } from '../tier.ts';
import { expectStatus, filesIn, laySiege, type Siege } from './siege.ts';
import { bearer } from './wire.ts';

const SECRET = 'what-is-outside-stays-outside';
const FLIP = fileURLToPath(new URL('./flip.ts', import.meta.url));
const FILES = {
  'agent_workflow.yaml': `
workflow: lab
phases:
  LAB:
    allowed_tools: [read_files, write_files, edit_file, list_files, grep, bash, git]
    writes: ["**"]
`,
  'sub/other.workflow.yaml': 'workflow: other\nphases: { A: {} }\n',
  'phasegate.config.json': '{}\n',
  '.claude/settings.json': '{}\n',
  'inside/secret.txt': 'inside\n',
};

let siege: Siege;
let token: string;
let outside: string;

beforeAll(async () => {
  siege = await laySiege({ files: FILES });
  const { root, base } = siege.project;
  outside = join(base, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret.txt'), `${SECRET}\n`);
  writeFileSync(join(outside, 'only-outside.txt'), '');
  for (const [name, to] of [
    ['link-out', '../outside'],
    ['link-file', '../outside/secret.txt'],
    ['link-new', '../outside/new.txt'],
    ['link-absolute', outside],
    ['link-self', 'link-self'],
    ['link-git', '.git'],
    ['inside/up', '../..'],
  ] as const) {
    symlinkSync(to, join(root, name));
  }
  for (const words of [['init', '-q'], ['add', 'inside/secret.txt'], commit('first')]) {
    expect(spawnSync('git', words, { cwd: root, env: siege.project.env }).status).toBe(0);
  }
  const key = await siege.agent('ada');
  await siege.queue('lab');
  ({ token } = await siege.claim('ada', key));
});

/** Paths that lead out of the workspace, or would on some system or after decoding once more. */
const LEADING_OUT: readonly string[] = [
  '../outside/secret.txt',
  './../outside/secret.txt',
  'inside/../../outside/secret.txt',
  'inside/../..//outside/./secret.txt',
  './/..//outside/secret.txt',
  '..',
  '/',
  '/etc/passwd',
  '//etc/passwd',
  '/proc/self/environ',
  '/proc/self/cwd/../outside/secret.txt',
  '/dev/zero',
  'link-out',
  'link-out/secret.txt',
  'link-out/new.txt',
  'link-file',
  'link-new',
  'link-absolute/secret.txt',
  'link-self',
  'inside/up/outside/secret.txt',
  'inside/secret.txt/../../../outside/secret.txt',
  '..\\outside\\secret.txt',
  'inside\\..\\..\\outside\\secret.txt',
  'C:\\Windows\\win.ini',
  'C:/Windows/win.ini',
  '\\\\host\\share\\secret.txt',
  'inside/secret.txt\0.md',
  '../outside/secret.txt\0',
  '\0',
  `inside/${'a'.repeat(300)}`,
  `${'inside/'.repeat(1000)}secret.txt`,
  'inside/\ud800',
];
/** Odd, and a name like any other: what is done with it is done in the workspace. */
const LITERAL: readonly string[] = [
  '%2e%2e/outside/secret.txt',
  '%2e%2e%2foutside%2fsecret.txt',
  '..%2foutside%2fsecret.txt',
  '..%c0%afoutside/secret.txt',
  '\uff0e\uff0e/outside/secret.txt',
  '~/secret.txt',
  '$HOME/secret.txt',
  '$(cat ../outside/secret.txt)',
  '`cat ../outside/secret.txt`',
  'file:///etc/passwd',
  '-rf',
  '--help',
  '...',
  '.. /outside/secret.txt',
  '\u202e../outside',
];
const GUARDED: readonly string[] = [
  '.git/config',
  '.git/hooks/pre-commit',
  '.GIT/config',
  '.git./config',
  'inside/.git/config',
  'link-git/config',
  '.git\u200b/config',
  'GIT~1/config',
  'agent_workflow.yaml',
  './agent_workflow.yaml',
  'AGENT_WORKFLOW.YAML',
  'sub/other.workflow.yaml',
  'sub/new.workflow.ts',
  'phasegate.config.json',
  '.phasegate/anything',
  '.claude/settings.json',
  '.mcp.json',
  '.codex/config.toml',
  'inside/phasegate.config.yaml',
  'inside/agent_workflow.yaml',
  'inside/deep/.MCP.json',
  'inside/.claude/settings.local.json',
  'inside/.cursor/hooks.json',
  'inside/.codex/hooks.json',
  'inside/.phasegate/x',
];

/** Every argument of every tool that is a path, as the call that has it. */
const ARGUMENTS: Readonly<Record<string, (path: string) => JsonObject>> = {
  'read_files path': (path) => ({ path }),
  'read_files paths[]': (path) => ({ paths: ['inside/secret.txt', path] }),
  'write_files path': (path) => ({ path, content: 'pwned' }),
  'write_files files[].path': (path) => ({ files: [{ path, content: 'pwned' }] }),
  'edit_file path': (path) => ({ path, old: SECRET.slice(0, 4), new: 'pwned' }),
  'list_files path': (path) => ({ path }),
  'list_files glob': (glob) => ({ glob }),
  'grep path': (path) => ({ pattern: 'stays', path }),
  'grep glob': (glob) => ({ pattern: 'stays', glob }),
  'bash cwd': (cwd) => ({ command: 'cat secret.txt; touch new.txt', cwd }),
  'git cwd': (cwd) => ({ command: 'git status', cwd }),
};
const MORE: Readonly<Record<string, (path: string) => JsonObject>> = {
  'write_files path, added to': (path) => ({ path, content: 'pwned', append: true }),
  'write_files path, deleted': (path) => ({ path, content: null }),
};

describe('a path in an argument of a tool', () => {
  test('is known here: no tool has another', async () => {
    const { body } = await siege.ask('GET', '/tools');
    const tools = own(body, 'tools') as readonly JsonObject[];
    const found = tools.flatMap(({ name, input }) =>
      textsIn(input ?? null).map((argument) => `${String(name)} ${argument}`),
    );

    expect(found.filter((argument) => !TEXTS.includes(argument)).sort()).toEqual(
      Object.keys(ARGUMENTS).sort(),
    );
  });

  test.each(someOf(Object.entries({ ...ARGUMENTS, ...MORE }), { quick: 6, full: 100 }))(
    '%s: nothing outside is read, listed or written [adv.C2 adv.C3 fail.40 S2.77]',
    async (name, inputWith) => {
      const [tool = ''] = name.split(' ');
      const before = filesIn(outside);
      const paths = [...LEADING_OUT, ...LITERAL];

      const results = await execute(paths.map((path) => ({ tool, input: inputWith(path) })));

      for (const [index, result] of results.entries()) {
        const path = paths[index] ?? '';
        const text = JSON.stringify(result);
        expect(text, path).not.toMatch(/stays-outside|only-outside|root:x:|PATH=/);
        expect(text, path).not.toMatch(/"path":"(\.\.\/|\.\."|\/)/);
        if (!name.endsWith('glob') && LEADING_OUT.includes(path))
          expect(failed(result), `${path} ${text}`).toBe(true);
      }
      expect(filesIn(outside)).toEqual(before);
    },
  );

  test.each(['write_files path', 'write_files files[].path', 'edit_file path', ...Object.keys(MORE)])(
    '%s: the files that are law are not written [adv.C4 adv.G6]',
    async (name) => {
      const [tool = ''] = name.split(' ');
      const inputWith = { ...ARGUMENTS, ...MORE }[name] as (path: string) => JsonObject;
      const law = () =>
        Object.entries(filesIn(siege.project.root)).filter(([path]) =>
          /\/\.git|workflow|phasegate\.config|\.claude|\.mcp|\.codex|\.phasegate/i.test(path),
        );
      const before = law();

      const results = await execute(GUARDED.map((path) => ({ tool, input: inputWith(path) })));

      for (const [index, result] of results.entries()) {
        expect(failed(result), `${GUARDED[index]} ${JSON.stringify(result)}`).toBe(true);
      }
      expect(law()).toEqual(before);
    },
  );

  test('is judged the same before it is used: `/tools/check` allows no way out', async () => {
    for (const tool of ['write_files', 'edit_file', 'read_files']) {
      for (const path of LEADING_OUT.filter(
        (path) => !path.includes('link-') && !/inside\/(up|a{9}|inside|\ud800)/.test(path),
      )) {
        const body = { tool, input: { ...ARGUMENTS[`${tool} path`]?.(path) } };
        const got = await siege.send({
          method: 'POST',
          path: '/api/v1/tools/check',
          headers: [bearer(token)],
          body,
        });
        expect([got.status, got.body.allowed], `${tool} ${path} ${got.text}`).toEqual([200, false]);
      }
    }
  });

  test('that turns into a link while it is looked at leads nowhere [adv.C2]', async () => {
    const { root } = siege.project;
    mkdirSync(join(root, 'real'));
    writeFileSync(join(root, 'real/secret.txt'), 'inside\n');
    symlinkSync('../outside', join(root, 'fake'));
    const before = filesIn(outside);
    const flipping = spawn(process.execPath, [
      FLIP,
      join(root, 'race'),
      join(root, 'real'),
      join(root, 'fake'),
    ]);
    onTestFinished(() => void flipping.kill());

    const race = 'race/secret.txt';
    const paths = Array.from({ length: 100 }, () => race);
    const reading = Array.from({ length: cases({ quick: 8, full: 25 }) }, () => [
      { tool: 'read_files', input: { paths } },
      { tool: 'list_files', input: { path: 'race' } },
    ]).flat();
    const writing = Array.from({ length: cases({ quick: 5, full: 16 }) }, () =>
      ['write_files path', 'edit_file path', 'write_files path, added to'].map((name) => ({
        tool: name.split(' ')[0] ?? '',
        input: { ...ARGUMENTS, ...MORE }[name]?.(race) ?? {},
      })),
    ).flat();
    for (let round = 0; round < cases({ quick: 1, full: 3 }); round += 1) {
      const told = await Promise.all([reading, reading, writing].map(execute));
      expect(JSON.stringify(told)).not.toMatch(/stays-outside|only-outside/);
    }

    expect(filesIn(outside)).toEqual(before);
  });
});

test.each([
  'git diff --no-index /dev/null ../outside/secret.txt',
  'git diff --no-index -- /dev/null link-file',
  'git -C ../outside status',
  'git --git-dir=../outside/.git status',
  'git --work-tree=../outside add -A',
  'git -c core.pager="cat ../outside/secret.txt" log',
  'git -c alias.x="!cat ../outside/secret.txt" x',
  'git apply ../outside/secret.txt',
  'git apply --unsafe-paths link-file',
  'git log --output=../outside/new.txt',
  'git log --output ../outside/new.txt',
  'git diff --outp=../outside/new.txt',
  'git grep --no-index stays -- ../outside',
  'git grep -f ../outside/secret.txt',
  'git grep -flink-file',
  'git grep --no-index stays',
  'git grep -O"cat ../outside/secret.txt" inside',
  'git hash-object -w ../outside/secret.txt',
  'git config --local core.hooksPath ../outside',
  'git commit --allow-empty -F ../outside/secret.txt',
  'git commit --allow-empty -Flink-file',
  'git commit --allow-empty --file=link-file',
  'git tag -F link-file v1',
  'git blame --contents link-file inside/secret.txt',
  'git archive -o ../outside/new.tar HEAD',
  'git bundle create ../outside/new HEAD',
  'git init ../outside',
  'git clone . ../outside/clone',
  'git worktree add ../outside/tree',
  'git submodule add ../outside',
  'git rebase -x "cat ../outside/secret.txt" HEAD',
  'git bisect run cat ../outside/secret.txt',
  'git fetch --upload-pack="cat ../outside/secret.txt" .',
  'git push ext::sh%20-c%20cat',
  'git pull file:///etc',
  'git add link-out/secret.txt',
  'git status; cat ../outside/secret.txt',
  'git status $(cat ../outside/secret.txt)',
  'git stash push --pathspec-from-file=link-file',
  'git ls-files -o -X ../outside/secret.txt',
  'git difftool -x "cat ../outside/secret.txt"',
  'git notes add -F link-file',
  'git format-patch -o ../outside HEAD',
  'git mv inside/secret.txt ../outside/moved.txt',
  'git checkout-index -a --prefix=../outside/',
])('`%s` tells nothing from outside and leaves nothing there', async (command) => {
  const before = filesIn(outside);

  const [result] = await execute([{ tool: 'git', input: { command } }]);

  expect(JSON.stringify(result)).not.toContain('stays-outside');
  expect(filesIn(outside)).toEqual(before);
  const log = spawnSync('git', ['log', '--all', '-p'], { cwd: siege.project.root, env: siege.project.env });
  expect(String(log.stdout)).not.toContain('stays-outside');
});

test('what is inside is read, listed and written by the same calls', async () => {
  const good = await execute([
    { tool: 'read_files', input: { path: 'inside/secret.txt' } },
    { tool: 'read_files', input: { paths: ['inside/secret.txt', './inside//secret.txt'] } },
    { tool: 'write_files', input: { path: 'inside/new/a.txt', content: 'a' } },
    { tool: 'write_files', input: { files: [{ path: 'inside/b..txt', content: 'a' }] } },
    { tool: 'edit_file', input: { path: 'inside/new/a.txt', old: 'a', new: 'b' } },
    { tool: 'list_files', input: { path: 'inside' } },
    { tool: 'grep', input: { pattern: 'inside', path: 'inside' } },
    { tool: 'bash', input: { command: 'cat secret.txt', cwd: 'inside' } },
    { tool: 'git', input: { command: 'git log --oneline' } },
  ]);

  expect(good.map((result) => failed(result))).toEqual(good.map(() => false));
});

test('the server is unharmed, and its log holds no secret', async () => {
  await siege.expectUnharmed([token, SECRET]);
});

/** Arguments that are text and no path. */
const TEXTS: readonly string[] = [
  'read_files encoding',
  'write_files content',
  'write_files files[].content',
  'edit_file old',
  'edit_file new',
  'grep pattern',
  'bash command',
  'git command',
];

/** The arguments of a tool that are text, by where they stand in its schema. */
function textsIn(schema: Json, at = ''): readonly string[] {
  const type = own(schema, 'type');
  const items = own(schema, 'items');
  const properties = own(schema, 'properties');
  if (isJsonObject(properties)) {
    return Object.entries(properties).flatMap(([name, of]) =>
      textsIn(of, at === '' ? name : `${at}.${name}`),
    );
  }
  if (items !== undefined) return textsIn(items, `${at}[]`);
  const text = type === 'string' || (Array.isArray(type) && type.includes('string'));
  return text || own(schema, 'enum') !== undefined ? [at] : [];
}

interface Outcome {
  readonly allowed: boolean;
  readonly result: { readonly ok: boolean } | null;
}

/** Has tools carried out, as many at a time as one request may have. */
async function execute(calls: readonly JsonObject[]): Promise<readonly Outcome[]> {
  const results: Outcome[] = [];
  for (let at = 0; at < calls.length; at += 50) {
    const body = { calls: calls.slice(at, at + 50) };
    const got = await siege.send({
      method: 'POST',
      path: '/api/v1/tools/execute',
      headers: [bearer(token)],
      body,
    });
    results.push(...(expectStatus(got, 200).body.results as unknown as readonly Outcome[]));
  }
  return results;
}

function failed({ allowed, result }: Outcome): boolean {
  return !allowed || result?.ok !== true;
}

function commit(message: string): string[] {
  return ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '-m', message];
}

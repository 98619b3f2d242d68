import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Machine } from '../command.ts';
import { makeShell, TESTED_PROJECT } from '../fixtures/callCli.ts';
import { reportOf } from '../setUp/findReport.ts';

test('keeps what is there and does nothing the second time', async () => {
  const shell = makeShell({
    'agent_workflow.yaml': 'workflow: mine\nphases: {A: {name: A, next: null}}\n',
  });

  expect((await shell.call(['init', '--yes', '--json'])).json()).toMatchObject({
    // The template's contract tests say nothing about this workflow.
    created: ['phasegate.config.yaml', '.mcp.json'],
    kept: ['agent_workflow.yaml'],
    human: null,
  });
  expect((await shell.call(['init', '--yes', '--json'])).json()).toMatchObject({
    created: [],
    kept: ['phasegate.config.yaml', 'agent_workflow.yaml', '.mcp.json'],
  });
  expect(readFileSync(join(shell.root, 'agent_workflow.yaml'), 'utf8')).toContain('workflow: mine');
});

test('accepts only what it wrote itself', async () => {
  const shell = makeShell({
    'agent_workflow.yaml': 'workflow: mine\nphases: {A: {name: A, next: null}}\n',
  });

  expect((await shell.callAs('open sesame', ['init', '--json'])).json()).toMatchObject({ trusted: [] });
  expect((await shell.call(['start', 'mine', '--json'])).json()).toMatchObject({
    error: 'untrusted_workflow',
  });
  expect((await shell.callAs('open sesame', ['trust', 'mine', '--yes', '--json'])).json()).toMatchObject({
    trusted: [{ workflow: 'mine', by: 'maria' }],
  });
  expect((await shell.call(['start', 'mine', '--json'])).json()).toMatchObject({ trusted: true });
});

test('run again, it says how to start what was accepted, and what to accept where something was not', async () => {
  const shell = makeShell(TESTED_PROJECT);
  const initAgain = async () => (await shell.callAs('open sesame', ['init', '--json'])).json();
  const start = { next_action: 'phasegate start tdd "GOAL"' };

  // Named by hand: what `init` would find by itself the second time is another workflow.
  const named = await shell.callAs('open sesame', ['init', '--test', 'node --test test', '--json']);
  expect(named.json()).toMatchObject(start);
  expect(await initAgain()).toMatchObject({ trusted: [], ...start });
  expect((await shell.callAs('open sesame', ['init'])).stdout).toMatch(
    /^next: phasegate start tdd "GOAL"\n$/m,
  );

  const file = join(shell.root, 'agent_workflow.yaml');
  writeFileSync(file, `${readFileSync(file, 'utf8')}# changed\n`);
  expect(await initAgain()).toMatchObject({ next_action: 'phasegate trust tdd' });
  writeFileSync(file, 'workflow: mine\nphases: {A: {next: null}}\n');
  expect(await initAgain()).toMatchObject({ next_action: 'phasegate trust mine' });
  writeFileSync(file, 'workflow: [\n');
  expect(await initAgain()).toMatchObject({ next_action: 'phasegate validate' });
});

test('says that `node_modules` is to be ignored, where it is there and no rule leaves it out', async () => {
  const warnings = async (files: Record<string, string>) => {
    const shell = makeShell(files);
    if (files['package.json'] !== undefined) mkdirSync(join(shell.root, 'node_modules'));
    const { json } = await shell.call(['init', '--yes', '--template', 'minimal', '--json']);
    return json().warnings;
  };
  const installed = { 'package.json': '{}' };

  expect(await warnings({})).toBeUndefined();
  expect(await warnings({ ...installed, '.gitignore': '/node_modules/\n' })).toBeUndefined();
  expect(await warnings(installed)).toEqual([
    expect.stringMatching(
      /^`node_modules` is not ignored: add it to `\.gitignore` before you start a run, as /,
    ),
  ]);
});

test('an editor is told of the schema only where it is installed in the project', async () => {
  const schema = 'node_modules/phasegate/schemas/workflow.schema.json';
  const firstLine = async (files: Record<string, string>, template: string, path: string) => {
    const shell = makeShell(TESTED_PROJECT);
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(shell.root, file)), { recursive: true });
      writeFileSync(join(shell.root, file), text);
    }
    await shell.call(['init', '--yes', '--template', template]);
    return readFileSync(join(shell.root, path), 'utf8').split('\n')[0];
  };
  const installed = { [schema]: '{}' };
  const bugfix = 'workflows/bugfix.workflow.yaml';

  expect(await firstLine({}, 'tdd', 'agent_workflow.yaml')).not.toContain('$schema');
  expect(await firstLine({}, 'bugfix', bugfix)).not.toContain('$schema');
  expect(await firstLine(installed, 'tdd', 'agent_workflow.yaml')).toContain(`$schema=./${schema}`);
  expect(await firstLine(installed, 'bugfix', bugfix)).toContain(`$schema=../${schema}`);
});

test('without a terminal it names what is missing and writes nothing [adv.M5 fail.43]', async () => {
  const shell = makeShell(TESTED_PROJECT);

  const { code, stderr } = await shell.call(['init']);

  expect(code).toBe(2);
  expect(stderr).toContain('--passphrase-fd');
  expect(stderr).toContain('--yes');
  expect(readdirSync(shell.root)).toEqual(['package.json']);
  expect(existsSync(String(shell.env.XDG_STATE_HOME))).toBe(false);
});

test('over a setup with a human it needs that human', async () => {
  const shell = makeShell(TESTED_PROJECT);
  await shell.callAs('open sesame', ['init']);

  expect((await shell.call(['init', '--yes'])).code).toBe(2);
  expect((await shell.callAs('guessed', ['init', '--yes'])).code).toBe(1);
  expect((await shell.callAs('open sesame', ['init', '--yes'])).code).toBe(0);
});

test('writes the port the server is to listen on, and says where it could not', async () => {
  const shell = makeShell(TESTED_PROJECT);

  expect((await shell.call(['init', '--yes', '--port', '8123', '--json'])).code).toBe(0);
  expect(readFileSync(join(shell.root, 'phasegate.config.yaml'), 'utf8')).toMatch(/^port: 8123$/m);
  expect((await shell.call(['list', '--json'])).code).toBe(0);

  expect(await shell.call(['init', '--yes', '--port', '9000'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('write `port: 9000` into it'),
  });
  expect(readFileSync(join(shell.root, 'phasegate.config.yaml'), 'utf8')).not.toContain('9000');
  for (const port of ['0', '65536', 'eighty', '-1', '8e3']) {
    expect(await shell.call(['init', '--yes', `--port=${port}`])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('from 1 to 65535'),
    });
  }
});

describe('the command that runs the tests', () => {
  test.each<[string, Readonly<Record<string, string>>, string]>([
    ['package.json', { 'package.json': '{ "scripts": { "test": "node --test" } }' }, 'npm test'],
    ['package.json', { 'package.json': '{ "scripts": { "test": "x" } }', 'pnpm-lock.yaml': '' }, 'pnpm test'],
    ['package.json', { 'package.json': '{ "scripts": { "test": "x" } }', 'yarn.lock': '' }, 'yarn test'],
    ['pyproject.toml', { 'pyproject.toml': '[dependency-groups]\ndev = ["pytest>=8"]\n' }, 'pytest'],
    ['pyproject.toml', { 'pyproject.toml': '[tool.pytest.ini_options]\n', 'uv.lock': '' }, 'uv run pytest'],
    ['pyproject.toml', { 'pyproject.toml': '[project]\n', tests: '' }, 'python3 -m unittest'],
    ['go.mod', { 'go.mod': 'module a\n' }, 'go test ./...'],
    ['Cargo.toml', { 'Cargo.toml': '[package]\n' }, 'cargo test'],
    ['Makefile', { Makefile: 'all:\n\ttrue\n\ntest: all\n\ttrue\n' }, 'make test'],
    ['Makefile', { Makefile: 'test := 1\ncheck:\n\ttrue\n' }, 'make check'],
    [
      'Makefile',
      {
        'package.json': '{ "scripts": { "test": "echo \\"Error: no test specified\\" && exit 1" } }',
        Makefile: 'test:\n',
      },
      'make test',
    ],
  ])('is found in %s of %j', async (from, files, command) => {
    const shell = makeShell(files);

    const { tests } = (await shell.call(['init', '--yes', '--json'])).json();

    expect(tests).toEqual({ command, from });
    expect((await shell.call(['validate'])).code).toBe(0);
    const text = readFileSync(join(shell.root, 'agent_workflow.yaml'), 'utf8');
    const words = reportOf(shell.root, command) ?? command.split(' ');
    expect(text).toContain(`argv: [${words.map(word).join(', ')}]`);
  });

  test.each([
    ['an empty folder', {}],
    [
      'what `npm init` writes',
      { 'package.json': '{ "scripts": { "test": "echo \\"Error: no test specified\\" && exit 1" } }' },
    ],
    ['a package without scripts', { 'package.json': '{}' }],
    ['a package that is not JSON', { 'package.json': '{' }],
    ['a pyproject without tests', { 'pyproject.toml': '[project]\n' }],
    ['a Makefile without tests', { Makefile: 'all:\n\ttrue\n' }],
  ])(
    'is asked for where %s names none, and nothing is left behind',
    async (_what, files: Record<string, string>) => {
      const shell = makeShell(files);

      const { code, stderr } = await shell.call(['init', '--yes']);

      expect(code).toBe(2);
      expect(stderr).toContain('no tests were found in');
      expect(stderr).toContain('--test "CMD"');
      // A file that cannot be read is the reason, and is the first to be corrected.
      expect(stderr.includes('`package.json` cannot be read: it is not JSON')).toBe(
        files['package.json'] === '{',
      );
      expect(stderr.includes('hint: correct that file')).toBe(files['package.json'] === '{');
      expect(readdirSync(shell.root)).toEqual(Object.keys(files));
      expect(existsSync(String(shell.env.XDG_STATE_HOME))).toBe(false);
      expect((await shell.call(['init', '--yes', '--template', 'minimal'])).code).toBe(0);
    },
  );

  test('may be named, and is taken as it is where a shell must read it', async () => {
    const shell = makeShell();

    expect((await shell.call(['init', '--yes', '--test', 'npm run build && npm test'])).code).toBe(0);

    expect(readFileSync(join(shell.root, 'agent_workflow.yaml'), 'utf8')).toContain(
      'shell: "npm run build && npm test"',
    );
    expect((await shell.call(['validate'])).code).toBe(0);
    expect((await shell.call(['check', 'tdd'])).code).toBe(0);
  });

  test('is refused where it cannot be started, and warned of where a file says so', async () => {
    const shell = makeShell(TESTED_PROJECT);
    const path = { PATH: '/nowhere' };

    const named = await shell.call(['init', '--yes', '--test', 'jst --all'], '', path);
    expect(named).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('there is no program `jst` to start'),
    });
    expect(readdirSync(shell.root)).toEqual(['package.json']);
    for (const empty of ['', '  ', 'a\nb']) {
      expect((await shell.call(['init', '--yes', '--test', empty])).code).toBe(2);
    }
    const found = await shell.call(['init', '--yes', '--json'], '', path);
    expect(found.json()).toMatchObject({
      warning:
        'package.json says `npm test`, and there is no program `npm` to start: install it, or begin again with `--test "CMD"`',
    });
  });

  test('is refused where `package.json` has no such script', async () => {
    const shell = makeShell({
      'package.json': '{ "scripts": { "unit": "node --test", "test": "node --test" } }',
    });
    const init = (command: string) => shell.call(['init', '--yes', '--test', command]);

    for (const command of ['npm run nosuch', 'pnpm run-script nosuch', 'yarn run nosuch a']) {
      expect(await init(command)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('`package.json` has no script `nosuch`'),
      });
    }
    expect(readdirSync(shell.root)).toEqual(['package.json']);
    expect((await init('npm run unit')).code).toBe(0);
    // Which package this is about is not known here.
    expect((await init('npm run nosuch --workspace one')).code).toBe(0);
    expect((await makeShell().call(['init', '--yes', '--test', 'npm test'])).code).toBe(0);
  });

  test('is not needed where a template runs none, or a workflow is there', async () => {
    const shell = makeShell({ 'agent_workflow.yaml': 'workflow: mine\nphases: {A: {next: null}}\n' });

    expect((await shell.call(['init', '--yes', '--json'])).json()).toMatchObject({ tests: null });
    expect((await shell.call(['init', '--yes', '--template', 'minimal', '--test', 'npm test'])).code).toBe(2);
  });
});

test.each<[string, readonly string[], RegExp]>([
  ['a passphrase that is too short', ['--passphrase-fd'], /at least 8 characters/],
  ['a name that is not one', ['--name', 'a b', '--passphrase-fd'], /`a b` is not a name/],
])('%s leaves nothing behind', async (_what, words, told) => {
  const shell = makeShell(TESTED_PROJECT);
  const passphrase = words.includes('--name') ? 'open sesame' : 'short';

  const { code, stderr } = await shell.call(['init', ...words, String(shell.descriptor(passphrase))]);

  expect(code).toBe(2);
  expect(stderr).toMatch(told);
  expect(readdirSync(shell.root)).toEqual(['package.json']);
  expect(existsSync(String(shell.env.XDG_STATE_HOME))).toBe(false);
});

test('where a file cannot be written nothing is, and a folder that was made for it is gone', async () => {
  const shell = makeShell({ ...TESTED_PROJECT, workflows: 'a file where a folder is needed' });

  const inTheWay = await shell.callAs('open sesame', ['init', '--template', 'bugfix']);
  const elsewhere = await shell.call(['init', '--yes', '--project', join(shell.root, 'new', 'one')]);

  expect(inTheWay.code).toBe(2);
  expect(inTheWay.stderr).toContain('a file stands where a folder is needed');
  expect(elsewhere).toMatchObject({ code: 2, stderr: expect.stringContaining('no tests were found') });
  expect(readdirSync(shell.root).sort()).toEqual(['package.json', 'workflows']);
  expect(existsSync(String(shell.env.XDG_STATE_HOME))).toBe(false);
});

test('templates stand beside each other, and are listed with a sentence each', async () => {
  const shell = makeShell(TESTED_PROJECT);
  const names = ['tdd', 'bugfix', 'refactor', 'spec', 'review', 'release', 'minimal'];

  const listed = await shell.call(['init', '--template', 'list']);
  expect(listed.code).toBe(0);
  expect(
    listed.stdout
      .trimEnd()
      .split('\n')
      .map((line) => /^ {2}(\w+) +\S.{20}/.exec(line)?.[1]),
  ).toEqual(names);
  expect(readdirSync(shell.root)).toEqual(['package.json']);
  expect((await shell.call(['init', '--template', 'list', '--json'])).json()).toMatchObject({
    default: 'tdd',
  });

  for (const name of names) {
    expect((await shell.callAs('open sesame', ['init', '--template', name, '--json'])).json()).toMatchObject({
      trusted: [name],
      next_action: expect.stringContaining(`phasegate start ${name}`),
    });
  }
  const { workflows } = (await shell.call(['list', '--json'])).json();
  expect((workflows as unknown as { id: string }[]).map(({ id }) => id).sort()).toEqual(names.toSorted());
});

test('the two templates that begin in the same place stand beside each other in either order', async () => {
  const shell = makeShell(TESTED_PROJECT);
  await shell.callAs('open sesame', ['init', '--template', 'minimal']);

  const second = await shell.callAs('open sesame', ['init', '--template', 'tdd', '--json']);
  const again = await shell.callAs('open sesame', ['init', '--template', 'tdd', '--json']);
  const first = await shell.callAs('open sesame', ['init', '--json']);

  expect(second.json()).toMatchObject({
    created: ['workflows/tdd.workflow.yaml', 'workflows/tdd.contract.yaml', 'workflows/tdd.md'],
    trusted: ['tdd'],
    next_action: 'phasegate start tdd "GOAL"',
  });
  expect(again.json()).toMatchObject({ created: [] });
  expect(first.json()).toMatchObject({ created: [], next_action: 'phasegate start minimal "GOAL"' });
  expect(readdirSync(shell.root)).toContain('agent_workflow.md');
  const readme = readFileSync(join(shell.root, 'workflows/tdd.md'), 'utf8');
  expect(readme).toContain('[`tdd.workflow.yaml`](tdd.workflow.yaml)');
});

test('an unknown template is refused, and so are clients that are unknown or cannot be set up from here', async () => {
  const shell = makeShell();

  expect(await shell.call(['init', '--template', 'tddd'])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/\(did you mean `tdd`\?\)[\s\S]* {2}bugfix {4}a failing test first/),
  });
  const words = ['init', '--template', 'minimal', '--yes', '--client'];
  expect(await shell.call([...words, 'claude'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('hooks cannot be set up from here'),
  });
  const machine = { launcher: ['/nowhere/phasegate'] } as unknown as Machine;
  expect(await shell.callWith(machine, [...words, 'claud'])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/did you mean `claude`[\s\S]*clients: claude, codex/),
  });
});

test('an unknown way of hooks is refused before anything is written, and the help names those there are', async () => {
  const shell = makeShell(TESTED_PROJECT);
  const machine = { launcher: ['/nowhere/phasegate'] } as unknown as Machine;

  const refused = await shell.callWith(machine, ['init', '--yes', '--hooks', 'htp']);

  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/`htp` \(did you mean `http`\?\)[\s\S]*it takes `command` or `http`/),
  });
  expect(existsSync(join(shell.root, 'phasegate.config.yaml'))).toBe(false);
  expect((await shell.call(['init', '--help'])).stdout).toMatch(/--hooks WAY .*`command`.*`http`/);
});

test('where no client is found it says so, and it names as the next step one that is there', async () => {
  const machine = { launcher: ['/nowhere/phasegate'] } as unknown as Machine;
  const shellWith = (...programs: readonly string[]) => {
    const shell = makeShell(TESTED_PROJECT);
    const bin = join(shell.env.HOME ?? '', 'bin');
    mkdirSync(bin);
    for (const name of programs) writeFileSync(join(bin, name), '#!/bin/sh\n', { mode: 0o755 });
    Object.assign(shell.env, { PATH: bin });
    return shell;
  };
  const said = async (shell: ReturnType<typeof shellWith>, ...words: readonly string[]) =>
    (await shell.callWith(machine, ['init', '--yes', ...words])).stdout;

  const none = await said(shellWith());
  expect(none).toMatch(
    /^no client of agents was found, .*install one \(claude, codex.*run `phasegate init` again/m,
  );
  expect(none).toMatch(/^next: phasegate start tdd "GOAL"$/m);
  expect(none).not.toContain('--agent');
  expect(await said(shellWith(), '--client', 'none')).not.toContain('was found');
  const installed = await said(shellWith('gemini'));
  expect(installed).toMatch(/^next: phasegate run tdd "GOAL" --agent gemini$/m);
  expect(installed).not.toContain('was found');
  expect(await said(shellWith('claude', 'codex'), '--client', 'codex')).toContain('--agent codex\n');
});

function word(text: string): string {
  return /^[A-Za-z][\w./-]*$/.test(text) ? text : JSON.stringify(text);
}

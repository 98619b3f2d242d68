import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findBubblewrap } from '../../../sandbox/bubblewrapState.ts';
import { makeShell } from '../fixtures/callCli.ts';

const { works } = (await findBubblewrap()).state;
const packageWith = (test: string, more = {}) => ({
  'package.json': JSON.stringify({ scripts: { test }, ...more }),
});

const MAKE = { Makefile: 'test:\n\tnode --test\n' };
const VARIABLE = packageWith('node $SCRIPT');
const UNLOCKED = packageWith('node --test', { devDependencies: { ms: '2' } });
const IN_SCOPE = packageWith('node test/all.js');

describe.each([
  [
    'a recipe',
    MAKE,
    'what `make test` runs is known only while it runs (`verifier_unknown`, in TDD and IMPL)',
  ],
  [
    'a script with a variable',
    VARIABLE,
    'what `node $SCRIPT` runs is known only while it runs (`verifier_unknown`, in TDD, IMPL and COMPLETE)',
  ],
  ['packages that no lockfile names', UNLOCKED, '(`deps_unknown`, in TDD, IMPL and COMPLETE)'],
  [
    'a script among the tests',
    { ...IN_SCOPE, 'test/all.js': '' },
    'phase `TDD` may write `test/all.js`, which decides how `tests_really_fail` is judged (`verifier_in_scope`, in TDD)',
  ],
])('where tests are run by %s', (_what, files: Record<string, string>, reason) => {
  const shellWith = () => {
    const shell = makeShell();
    mkdirSync(join(shell.root, 'test'));
    for (const [path, text] of Object.entries(files)) shell.write(path, text);
    return shell;
  };

  test.runIf(works)('init promises `observed`, with the reason and what to do', async () => {
    const shell = shellWith();

    const { tests } = (await shell.callAs('open sesame', ['init', '--json'])).json();

    expect(tests).toMatchObject({ verified: false, missing: expect.stringContaining(reason) });
    expect(tests).toMatchObject({ next: expect.stringMatching(/`verifier`|`writes`|package-lock/) });
    const again = await shellWith().callAs('open sesame', ['init']);
    expect(again.stdout).toContain('evidence observed, not verified, as ');
    expect(again.stdout).not.toContain('evidence verified');
  });

  test('the README beside the workflow names the reason', async () => {
    const shell = shellWith();

    await shell.call(['init', '--yes']);

    const text = readFileSync(join(shell.root, 'agent_workflow.md'), 'utf8');
    expect(text).toContain(`**Here they are run in the workspace**`);
    expect(text).toContain(reason);
  });
});

test.runIf(works)('where nothing is in the way, init promises what will hold', async () => {
  const shell = makeShell(packageWith('node --test'));

  const { stdout } = await shell.callAs('open sesame', ['init']);

  expect(stdout).toContain('evidence verified: tests are run in a sandbox, on a copy of the tree');
  expect(readFileSync(join(shell.root, 'agent_workflow.md'), 'utf8')).not.toContain('Here they are run in');
});

test('`make` without a Makefile is refused where it is named, as it cannot work', async () => {
  const init = (shell: ReturnType<typeof makeShell>, command: string) =>
    shell.call(['init', '--yes', '--test', command], '', { PATH: process.env.PATH });

  expect(await init(makeShell(), 'make test')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('there is no `Makefile` here for `make` to read'),
  });
  expect((await init(makeShell(), 'make -C build test')).code).toBe(0);
  expect((await init(makeShell(MAKE), 'make test')).code).toBe(0);
});

import { expect, test } from 'vitest';
import { openTestProject } from '../../../runtime/fixtures/openTestProject.ts';
import type { FreezeOrder, FrozenSet, OpenProject, UnlockedHuman } from '../../../runtime/ports.ts';
import type { Invocation, Machine } from '../command.ts';
import { EMPTY_PROJECT, makeShell, type Shell } from '../fixtures/callCli.ts';
import { offerFreeze } from '../setUp/offerFreeze.ts';

/** Nothing of it is used here. */
const NO_MACHINE = {} as Machine;
const LINE =
  'package-lock.json takes packages from files of the project, which an agent can write: vitest from fixture.tgz';
const HOSTS = 'registry.npmjs.org and 1 file of the project';

test('a human is told which package comes from which file of the project before the question', async () => {
  const shell = await staffed(['fixture.tgz']);

  const { code, stderr } = await shell.callAt(NO_MACHINE, ['deps', 'freeze', ...secret(shell)], ['\r']);

  expect(code).toBe(1);
  expect(stderr).toContain(LINE);
  expect(stderr).toContain(`${HOSTS}?`);
  expect(stderr.indexOf(LINE)).toBeLessThan(stderr.indexOf('Install what'));
});

test('of many files some are shown, cleaned and cut, and the rest is counted; `deps --json` names all', async () => {
  const files = [
    'a\u001b[2J\u202e.tgz',
    `${'long'.repeat(50)}.tgz`,
    ...Array.from(Array(10), (_, at) => `${at}.tgz`),
  ];
  const shell = await staffed(files);

  const listed = await shell.call(['deps']);

  expect(listed.stdout).toContain('vitest from a\\u{1b}[2J\\u{202e}.tgz, p1 from longlong');
  expect(listed.stdout).toMatch(/long…\S+long\.tgz, p2 from 0\.tgz, /);
  expect(listed.stdout).toContain('p9 from 7.tgz, and 2 more (`phasegate deps --json` names all)\n');
  const { dependencies } = (await shell.call(['deps', '--json'])).json();
  expect(dependencies).toMatchObject([
    { local: files.map((file, at) => ({ name: at === 0 ? 'vitest' : `p${at}`, file })) },
  ]);
});

test('with --yes a file that no --file names is refused with the whole command, before anything is installed', async () => {
  const shell = await staffed(['fixture.tgz', 'its own.tgz']);
  const words = ['deps', 'freeze', '--yes', '--file', 'fixture.tgz', '--host', 'h.example', '--as', 'maria'];

  const { orders, called } = await freezeIn(shell, [...words, '--json']);

  expect(orders).toEqual([]);
  expect(called.code).not.toBe(0);
  expect(called.json()).toMatchObject({
    error: 'deps_not_frozen',
    message: `${LINE.replace('vitest from fixture.tgz', 'p1 from its own.tgz')}; nobody was asked, and no \`--file\` names them`,
    hint: expect.stringMatching(
      /^if you know them: phasegate deps freeze --yes --file fixture\.tgz --file 'its own\.tgz' --host h\.example --as maria --passphrase-fd \d+$/,
    ),
  });
});

test('with --yes the files that were named are the ones that packages are taken from', async () => {
  const shell = await staffed(['fixture.tgz', 'its own.tgz']);

  const { orders, called } = await freezeIn(shell, [
    ...['deps', 'freeze', '--yes', '--file', './fixture.tgz', '--file', 'its own.tgz'],
  ]);

  expect(called).toMatchObject({ code: 0, stderr: expect.stringContaining(LINE) });
  expect(orders).toMatchObject([{ files: ['fixture.tgz', 'its own.tgz'] }]);
});

test('a lockfile with more files than anybody reads in a command is asked about on a terminal', async () => {
  const shell = await staffed(Array.from(Array(51), (_, at) => `${at}.tgz`));

  const { called } = await freezeIn(shell, ['deps', 'freeze', '--yes', '--json']);

  expect(called.json().hint).toBe('run `phasegate deps freeze` on a terminal, which asks');
});

test.each([true, false])(
  'init and trust tell the same before they ask, and a %s is heeded',
  async (answer) => {
    const shell = await staffed(['fixture.tgz']);
    const told: string[] = [];
    const orders: FreezeOrder[] = [];
    const open = await opened(shell, orders);
    const invocation = {
      open: async () => open,
      args: { flag: () => false },
      out: { log: async (line: string) => void told.push(line), progress: () => undefined },
      prompts: { confirm: async (question: string) => told.push(question) > 0 && answer },
    } as unknown as Invocation;

    await offerFreeze(invocation, { principal: { name: 'maria' } } as UnlockedHuman);
    await open.close();

    expect(told.slice(0, 2)).toEqual([LINE, expect.stringContaining(`for the engine, from ${HOSTS}.`)]);
    expect(orders).toEqual(answer ? [expect.objectContaining({ files: ['fixture.tgz'] })] : []);
  },
);

/** A project with a human, whose lockfile takes a test runner and others from these files. */
async function staffed(files: readonly string[]): Promise<Shell> {
  const entries = files.map((file, at) => [
    `node_modules/${at === 0 ? 'vitest' : `p${at}`}`,
    { version: '3.0.0', resolved: `file:${encodeURI(file)}`, integrity: 'sha512-abc=' },
  ]);
  const lock = { lockfileVersion: 3, packages: Object.fromEntries(entries) };
  const shell = makeShell({ ...EMPTY_PROJECT, 'package-lock.json': JSON.stringify(lock) });
  expect((await shell.callAs('open sesame', ['humans', 'add', 'maria'])).code).toBe(0);
  return shell;
}

function secret(shell: Shell): readonly string[] {
  return ['--passphrase-fd', String(shell.descriptor('open sesame\n'))];
}

async function freezeIn(shell: Shell, words: readonly string[]) {
  const orders: FreezeOrder[] = [];
  const open = await opened(shell, orders);
  const called = await shell.callIn(open, [...words, ...secret(shell)]);
  await open.close();
  return { orders, called };
}

/** The project, in which what would be installed is written down instead. */
async function opened(shell: Shell, orders: FreezeOrder[]): Promise<OpenProject> {
  const { root, env } = shell;
  const open = await (await openTestProject({ projectDir: root, env })).open();
  return {
    ...open,
    sandboxes: { ...open.sandboxes, state: async () => ({ works: true, by: 'a stand-in' }) },
    dependencies: {
      list: () => open.dependencies.list(),
      async freeze(order) {
        orders.push(order);
        const { kind, lockfile, hash, scripts } = order;
        return {
          kind,
          lockfile,
          hash,
          scripts,
          content: 'c',
          files: 1,
          by: 'maria',
          at: '',
        } satisfies FrozenSet;
      },
    },
  };
}

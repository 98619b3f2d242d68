import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Check, Phase } from '@phasegate/core/model';
import { describe, expect, test } from 'vitest';
import { createBubblewrap } from '../sandbox/bubblewrap.ts';
import { findBubblewrap } from '../sandbox/bubblewrapState.ts';
import { runEnclosed } from '../workspace/runEnclosed.ts';
import { openFrozenSets, TREE } from './frozenSets.ts';
import { lockfilesIn } from './lockfiles.ts';
import { createRooms } from './rooms.ts';

const found = await findBubblewrap();
const SIGNS = {
  sign: (text: string) => `signed ${text.length}`,
  verifySignature: (text: string, by: string) => by === `signed ${text.length}`,
};
const LOCK = JSON.stringify({
  lockfileVersion: 3,
  packages: { '': {}, 'node_modules/right': { version: '1.0.0' } },
});
const FILES = {
  'package.json': '{ "type": "module", "dependencies": { "right": "1.0.0" } }\n',
  'package-lock.json': LOCK,
  'src/answer.mjs': "import right from 'right';\nconsole.log(right);\n",
};

describe.runIf(found.state.works)('a room of the engine (bubblewrap)', () => {
  test('has the tree and frozen dependencies, to read, and is gone when it is closed', async () => {
    const place = await placed();
    await freeze(place);

    const answer = await place.room(FILES);

    const room = answer.ok ? answer.room : expect.fail(JSON.stringify(answer));
    const script =
      "import { writeFileSync } from 'node:fs'; try { writeFileSync('node_modules/right/index.js', 'x') } catch (e) { console.log(e.code) }";
    expect(await ran(room, [process.execPath, 'src/answer.mjs'])).toBe('the frozen one\n');
    expect(await ran(room, [process.execPath, '--input-type=module', '-e', script])).toBe('EROFS\n');
    expect(room.dependencies).toMatch(/^[0-9a-f]{64}$/);
    expect(room.locate(join(room.workspace, 'node_modules/right/index.js'))).toContain('/deps/npm-');
    await room.close();
    expect(existsSync(room.workspace)).toBe(false);
  });

  test('reaches no network, and what runs there writes nothing of the state', async () => {
    const place = await placed();
    const answer = await place.room({ 'src/answer.mjs': '' });
    const room = answer.ok ? answer.room : expect.fail(JSON.stringify(answer));
    const script = `import net from 'node:net'; net.connect(443, '1.1.1.1').on('error', (e) => console.log(e.code))`;

    expect(await ran(room, [process.execPath, '--input-type=module', '-e', script])).toMatch(/^E[A-Z]+\n$/);
    expect(await ran(room, ['/bin/ls', place.state])).toBe('rooms\n');
    await room.close();
  });

  test.each([
    ['is missing', 'deps_missing', async () => undefined, FILES],
    [
      'is of another lockfile',
      'deps_stale',
      freeze,
      { ...FILES, 'package-lock.json': LOCK.replace('1.0.0', '1.0.1') },
    ],
    [
      'was written to since',
      'deps_changed',
      async (place: Place) => {
        const folder = await freeze(place);
        writeFileSync(join(folder, TREE, 'node_modules/right/index.js'), "export default 'another';\n");
      },
      FILES,
    ],
  ] as const)('where what is frozen %s: %s [adv.I5]', async (_, code, prepare, files) => {
    const place = await placed();
    await prepare(place);

    expect(await place.room(files)).toMatchObject({
      ok: false,
      code,
      nextStep: expect.stringContaining('phasegate deps freeze'),
    });
  });

  test.each([
    ['the config of its runner', { 'vitest.config.mjs': '' }, {}, ['**']],
    [
      'the script that is run',
      { 'scripts/verify.mjs': '' },
      { argv: ['node', 'scripts/verify.mjs'] },
      ['scripts/**'],
    ],
    ['a file its author named', { 'golden/a.json': '' }, { verifier: ['golden/**'] }, ['golden/**']],
  ])('where the phase may write %s, there is none [adv.I5 adv.I3]', async (_, files, given, writes) => {
    const place = await placed();

    expect(await place.room(files, { given, writes })).toMatchObject({
      ok: false,
      code: 'verifier_in_scope',
    });
  });
});

test('a lockfile that names nothing needs nothing, and one of each kind is known', async () => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'phasegate-locks-')));
  for (const name of [
    'package-lock.json',
    'pnpm-lock.yaml',
    'uv.lock',
    'requirements.txt',
    'go.sum',
    'Cargo.lock',
  ])
    writeFileSync(join(root, name), name === 'requirements.txt' ? '# none\n' : '');

  expect(lockfilesIn(root).map(({ kind }) => kind)).toEqual(['npm', 'pnpm', 'uv', 'pip', 'go', 'cargo']);
});

type Place = Awaited<ReturnType<typeof placed>>;

async function placed() {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'phasegate-room-')));
  const state = join(base, 'state');
  const sets = openFrozenSets(state, SIGNS);
  const settings = { hidden: [state], read: [], write: [], hosts: [], home: base };
  const sandbox = createBubblewrap(
    async () => settings,
    async () => found,
  );
  const room = (
    files: Readonly<Record<string, string>>,
    { given = {}, writes = ['src/**'] }: { given?: object; writes?: readonly string[] } = {},
  ) => {
    const fence = {
      // The store of the fence is tried with the whole engine; here the files are what is asked about.
      async materialise(_run: string, _tree: string, into: string) {
        for (const [path, text] of Object.entries(files)) {
          mkdirSync(dirname(join(into, path)), { recursive: true });
          writeFileSync(join(into, path), text);
        }
        return { ok: true, state: 'state', paths: new Set(Object.keys(files)) } as const;
      },
    };
    const rooms = createRooms({ fence, sandbox, frozen: async () => sets, folder: join(state, 'rooms') });
    const check = {
      label: 'green',
      use: 'tests',
      with: { argv: ['node', '--test'], ...given },
    } as unknown as Check;
    const phase = {
      id: 'IMPL',
      writes,
      tools: { allowed: [], forbidden: [], constraints: {} },
    } as unknown as Phase;
    return rooms.room({ run: 'r', agent: 'ada', tree: 't', phase, check });
  };
  return { state, sets, room };
}

/** Frozen as a human would have it, without the network: what is in the folder is what is signed. */
async function freeze({ sets }: Place): Promise<string> {
  const staged = sets.stage('npm');
  const folder = join(staged, TREE, 'node_modules/right');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "name": "right", "type": "module", "main": "index.js" }');
  writeFileSync(join(folder, 'index.js'), "export default 'the frozen one';\n");
  const root = await realpath(await mkdtemp(join(tmpdir(), 'phasegate-lock-')));
  writeFileSync(join(root, 'package-lock.json'), LOCK);
  const [lockfile] = lockfilesIn(root);
  const hash = lockfile?.hash ?? '';
  await sets.keep(staged, {
    kind: 'npm',
    lockfile: 'package-lock.json',
    hash,
    scripts: [],
    by: 'maria',
    at: 'now',
  });
  expect(readFileSync(join(sets.folder('npm', hash), TREE, 'node_modules/right/index.js'), 'utf8')).toContain(
    'frozen',
  );
  return sets.folder('npm', hash);
}

async function ran(
  room: Extract<Awaited<ReturnType<Place['room']>>, { ok: true }>['room'],
  argv: readonly [string, ...string[]],
) {
  const { stdout } = await runEnclosed(
    {
      argv,
      cwd: room.workspace,
      environment: { PATH: '/usr/bin:/bin' },
      timeoutMs: 60_000,
      maxOutputBytes: 100_000,
      signal: new AbortController().signal,
    },
    room.enclose,
  );
  return stdout.toString();
}

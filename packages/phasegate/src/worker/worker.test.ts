import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { withoutSecrets } from '../launch/withoutSecrets.ts';
import type { WorkerEvent } from '../runtime/ports.ts';
import { makeOwnFolder } from './ownFolder.ts';
import { workOn } from './workOn.ts';
import { workspacesIn } from './workspaces.ts';

const RUN = 'run-0123456789abcdef0123';
const NEXT = 'run-0123456789abcdef0124';

test.each([true, false])(
  'an id that is a path is refused, and nothing is removed (clones: %s)',
  async (clones) => {
    const bed = makeBed({ clones });
    const victim = join(bed.base, 'victim');
    mkdirSync(victim);

    await expect(bed.workspaces.make('../../victim')).rejects.toThrow('a run whose id is none');

    expect(existsSync(victim)).toBe(true);
  },
);

test('a claim whose id is none is refused before anything is said or done', async () => {
  const nothing = {} as never;
  const claim = { task: { id: 'run-0\u001b[2J/../..', phase: null } };

  await expect(workOn(nothing, nothing, { claim, parts: { request: {} } } as never)).rejects.toThrow(
    'is none',
  );
});

test('nothing that an agent put into the settings of its clone runs when it is looked at', async () => {
  const bed = makeBed({});
  const { folder, close } = await bed.workspaces.make(RUN);
  const ran = join(bed.base, 'ran');
  writeFileSync(join(folder, '.gitattributes'), '* filter=x diff=x\n');
  for (const key of [
    'filter.x.clean',
    'filter.x.process',
    'diff.x.textconv',
    'core.fsmonitor',
    'core.sshCommand',
  ])
    git(folder, 'config', key, `sh -c 'touch ${ran}; cat'`);
  writeFileSync(join(folder, 'a.txt'), 'two\n');

  await close();

  expect(existsSync(ran)).toBe(false);
  expect(bed.events).toEqual([{ event: 'dropped', run: RUN, files: 2 }]);
});

test('objects of another repository are not pushed, and the folder stays', async () => {
  const bed = makeBed({ push: true });
  const { folder, close } = await bed.workspaces.make(RUN);
  const { place, commit } = bed.secret();
  writeFileSync(join(folder, '.git/objects/info/alternates'), `${place}/.git/objects\n`);
  writeFileSync(join(folder, `.git/refs/heads/phasegate/${RUN}`), `${commit}\n`);

  await close();

  expect(bed.events).toMatchObject([{ event: 'kept', why: expect.stringContaining('alternates') }]);
  expect(bed.branches()).toBe('main');
});

test('commits that do not go on from the beginning are not pushed', async () => {
  const bed = makeBed({ push: true });
  const { folder, close } = await bed.workspaces.make(RUN);
  git(folder, 'checkout', '-q', '--orphan', 'other');
  git(folder, 'commit', '-qm', 'other');
  git(folder, 'branch', '-qf', `phasegate/${RUN}`, 'HEAD');

  await close();

  expect(bed.events).toMatchObject([{ event: 'kept', why: expect.stringContaining('do not go on') }]);
  expect(bed.branches()).toBe('main');
});

test('what an agent writes into the settings of the copy of the worker is not obeyed', async () => {
  const bed = makeBed({ push: true });
  const first = await bed.workspaces.make(RUN);
  const { place } = bed.secret();
  const copy = join(dirname(dirname(first.folder)), 'repository.git');
  git(copy, 'config', 'remote.origin.url', place);
  git(copy, 'config', `url.${place}.insteadOf`, bed.bare);
  writeFileSync(join(first.folder, 'a.txt'), 'two\n');
  git(first.folder, 'commit', '-qam', 'two');

  await first.close();
  const next = await bed.workspaces.make(NEXT);

  expect(bed.events).toMatchObject([{ event: 'pushed', run: RUN }]);
  expect(git(bed.bare, 'show', `phasegate/${RUN}:a.txt`)).toBe('two\n');
  expect(readFileSync(join(next.folder, 'a.txt'), 'utf8')).toBe('one\n');
});

test('a password in the address is not in the clone, nor in the copy', async () => {
  const bed = makeBed({});
  const address = `file://user:s3cret@localhost${bed.bare}`;
  // For git on this machine it is the same place.
  const env = {
    ...process.env,
    ...{ GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: `url.${bed.bare}.insteadOf`, GIT_CONFIG_VALUE_0: address },
  };
  const { folder } = await bed.workspacesOf(address, env).make(RUN);

  expect(git(folder, 'config', 'remote.origin.url').trim()).toBe(`file://localhost${bed.bare}`);
  const copy = join(dirname(dirname(folder)), 'repository.git');
  expect(readFileSync(join(copy, 'config'), 'utf8')).not.toContain('s3cret');
});

test('a folder in which others may write is refused; without one it has a name nobody knows', () => {
  const shared = join(mkdtempSync(join(tmpdir(), 'worker-test-')), 'shared');
  mkdirSync(shared);
  chmodSync(shared, 0o777);
  expect(() => makeOwnFolder(shared)).toThrow('others may write');
  chmodSync(shared, 0o755);
  expect(dirname(makeOwnFolder(shared))).toBe(shared);
  const made = makeOwnFolder(null);
  expect(statSync(made).mode & 0o777).toBe(0o700);
  expect(makeOwnFolder(null)).not.toBe(made);
});

test("agents are not told where the service's credentials are", () => {
  const own = {
    CREDENTIALS_DIRECTORY: '/c',
    NOTIFY_SOCKET: '/n',
    LISTEN_FDS: '1',
    PHASEGATE_KEY: 'k',
    PATH: '/bin',
  };
  expect(withoutSecrets(own)).toEqual({ PATH: '/bin' });
});

/** A repository with one commit, and workspaces of it. */
function makeBed({ push = false, clones = true }: { readonly push?: boolean; readonly clones?: boolean }) {
  const base = mkdtempSync(join(tmpdir(), 'worker-test-'));
  const [origin, bare, own] = [join(base, 'origin'), join(base, 'bare.git'), join(base, 'own')];
  repositoryAt(origin, 'one\n');
  git(base, 'clone', '-q', '--bare', origin, bare);
  mkdirSync(own, { mode: 0o700 });
  const events: WorkerEvent[] = [];
  const workspacesOf = (url: string, env: Readonly<Record<string, string | undefined>>) =>
    workspacesIn(
      own,
      {
        repository: clones ? { url, ref: null, push } : null,
        keep: false,
        report: (event) => void events.push(event),
      },
      { env, signal: new AbortController().signal },
    );
  return {
    base,
    bare,
    events,
    workspacesOf,
    workspaces: workspacesOf(bare, process.env),
    branches: () => git(bare, 'for-each-ref', '--format=%(refname:short)').trim(),
    secret() {
      const place = join(base, 'secret');
      repositoryAt(place, 'secret\n');
      return { place, commit: git(place, 'rev-parse', 'HEAD').trim() };
    },
  };
}

function repositoryAt(place: string, text: string): void {
  mkdirSync(place);
  git(place, 'init', '-q', '-b', 'main');
  writeFileSync(join(place, 'a.txt'), text);
  git(place, 'add', '.');
  git(place, 'commit', '-qm', text);
}

function git(cwd: string, ...words: readonly string[]): string {
  const who = ['-c', 'user.name=x', '-c', 'user.email=x@example.com'];
  return execFileSync('git', [...who, ...words], { cwd, encoding: 'utf8' });
}

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Json, type JsonObject, own } from '@phasegate/core';
import { beforeAll, describe, expect, test } from 'vitest';
import { copyOf, makeProject, phasegate, type TestProject } from './cli.ts';
import { commit, git, honestHistory, PASSPHRASE, put, succeeded, WORKFLOW } from './honestHistory.ts';

let honest: TestProject;

function copied(): TestProject {
  const project = copyOf(honest);
  // The copy of a link leads elsewhere.
  git(project, 'reset', '-q', '--hard');
  return project;
}

beforeAll(async () => {
  honest = await honestHistory();
});

describe('a range is judged by content:', () => {
  test('an honest history passes, and every file names its phase', async () => {
    const { code, json } = await verify(honest, ['--each-commit', '--completed', '--newest']);

    expect(code).toBe(0);
    expect(json).toMatchObject({
      ok: true,
      commits: 2,
      files: [
        { path: 'docs/a.md', verdict: 'phase', phase: 'DOCS', workflow: 'build' },
        { path: 'src/link.ts', verdict: 'phase', phase: 'CODE', now: { mode: '120000' } },
        { path: 'src/new.ts', verdict: 'phase', phase: 'CODE', now: { mode: '100644' } },
        { path: 'src/old.ts', verdict: 'phase', phase: 'CODE', change: 'removed' },
        { path: 'src/run.sh', verdict: 'phase', phase: 'CODE', now: { mode: '100755' } },
      ],
    });
  });

  test('rebased onto a main that moved, and squashed, it passes too', async () => {
    const project = copied();
    git(project, 'checkout', '-q', 'main');
    put(project, 'README.md', 'readme of a human\n');
    commit(project, 'upstream');
    git(project, 'checkout', '-q', 'work');

    expect((await verify(project)).code, 'the base is not an ancestor').toBe(0);
    git(project, 'rebase', '-q', 'main');
    expect((await verify(project)).code, 'rebased').toBe(0);
    git(project, 'reset', '-q', '--soft', 'main');
    commit(project, 'squashed');
    const squashed = await verify(project);
    expect(squashed.json).toMatchObject({ ok: true, commits: 1 });
  });

  test('one commit made around the gate is listed with its path, and the range fails', async () => {
    const project = copied();
    put(project, 'src/new.ts', 'new, and something else\n');
    commit(project, 'sneak it in');

    const { code, stdout, stderr } = await phasegate(project, ['verify-range', 'main..work']);

    expect(code).toBe(1);
    expect(stdout).toContain('outside  src/new.ts: phase `CODE` of run');
    expect(stdout).toContain('ada: sneak it in');
    expect(stderr).toContain('phasegate attest main..work --reason TEXT');
  });

  test('what was put in and taken out again is found where each commit is judged', async () => {
    const project = copied();
    put(project, 'src/secret.ts', 'stolen\n');
    commit(project, 'in');
    unlinkSync(join(project.root, 'src/secret.ts'));
    commit(project, 'out');

    expect((await verify(project)).code).toBe(0);
    const each = await verify(project, ['--each-commit']);
    expect(each.code).toBe(1);
    expect(each.json).toMatchObject({
      history: [
        { path: 'src/secret.ts', change: 'removed' },
        { path: 'src/secret.ts', change: 'written' },
      ],
    });
  });

  test('an empty range passes and says so', async () => {
    const { code, stdout } = await phasegate(honest, ['verify-range', 'work..work']);

    expect([code, stdout]).toEqual([0, '0 files in 0 commits of work..work: nothing is changed\n']);
  });

  test('a range whose ends are the wrong way round says so', async () => {
    const { stdout } = await phasegate(honest, ['verify-range', 'work..main']);

    expect(stdout).toMatch(/nothing is changed; the second commit is the older one: `BASE\.\.HEAD`\n$/);
  });
});

describe('tricks that leave the content of a phase behind are outside:', () => {
  const TRICKS: Readonly<Record<string, readonly [(project: TestProject) => void, readonly string[]]>> = {
    'an executable bit': [({ root }) => chmodSync(join(root, 'src/new.ts'), 0o755), ['src/new.ts']],
    'the content of a phase at another path': [
      ({ root }) => renameSync(join(root, 'src/new.ts'), join(root, 'src/moved.ts')),
      ['src/moved.ts'],
    ],
    'another case of the name': [
      ({ root }) => renameSync(join(root, 'src/new.ts'), join(root, 'src/New.ts')),
      ['src/New.ts'],
    ],
    'a link in the place of a file': [
      ({ root }) => {
        unlinkSync(join(root, 'src/new.ts'));
        symlinkSync('/etc/passwd', join(root, 'src/new.ts'));
      },
      ['src/new.ts'],
    ],
    'a removal that no phase made': [({ root }) => unlinkSync(join(root, 'README.md')), ['README.md']],
    'a name that is not UTF-8': [
      ({ root }) => writeFileSync(Buffer.from(`${root}/src/\xff.ts`, 'latin1'), 'x'),
      ['src/\xff.ts'],
    ],
    'attributes that hide a file from differences': [
      (project) => {
        put(project, '.gitattributes', '* -diff binary\n');
        put(project, 'src/new.ts', 'hidden\n');
      },
      ['.gitattributes', 'src/new.ts'],
    ],
    'a submodule that is to be ignored': [
      (project) => {
        const id = git(project, 'rev-parse', 'HEAD').trim();
        put(project, '.gitmodules', '[submodule "m"]\n\tpath = src/m\n\turl = ./m\n\tignore = all\n');
        mkdirSync(join(project.root, 'src/m'));
        git(project, 'update-index', '--add', '--cacheinfo', `160000,${id},src/m`);
      },
      ['.gitmodules', 'src/m'],
    ],
  };

  test.each(Object.entries(TRICKS))('%s', async (_, [act, outside]) => {
    const project = copied();
    act(project);
    commit(project, 'trick');

    const { code, json } = await verify(project);

    expect(code).toBe(1);
    expect(outsideIn(json)).toEqual(outside);
  });

  test('a merge that brings what neither side had', async () => {
    const project = copied();
    git(project, 'checkout', '-q', '-b', 'side', 'main');
    put(project, 'docs/a.md', 'text\n');
    commit(project, 'the same docs');
    git(project, 'checkout', '-q', 'work');
    git(project, 'merge', '-q', '--no-commit', 'side');
    put(project, 'src/new.ts', 'evil\n');
    commit(project, 'merge');

    const { code, json } = await verify(project, ['--each-commit']);

    expect(code).toBe(1);
    expect(json).toMatchObject({ history: [{ path: 'src/new.ts' }] });
  });

  test('a replaced commit, a graft and a config that would start programs change nothing', async () => {
    const project = copied();
    const good = git(project, 'rev-parse', 'work').trim();
    put(project, 'src/new.ts', 'evil\n');
    commit(project, 'evil');
    const bad = git(project, 'rev-parse', 'work').trim();
    git(project, 'replace', bad, good);
    put(project, '.git/info/grafts', `${bad} ${git(project, 'rev-parse', 'main').trim()}\n`);
    const marker = join(project.base, 'started');
    git(project, 'config', 'core.fsmonitor', `touch ${marker}`);
    git(project, 'config', 'diff.external', `touch ${marker}`);
    git(project, 'config', 'core.pager', `touch ${marker}`);

    const { code, json } = await verify(project);

    expect(code).toBe(1);
    expect(json).toMatchObject({
      commits: 3,
      files: expect.arrayContaining([expect.objectContaining({ path: 'src/new.ts', verdict: 'outside' })]),
    });
    expect(() => execFileSync('ls', [marker], { stdio: 'ignore' })).toThrow();
  });

  test('work of a run whose workflow no human accepted, and of a phase that is still open', async () => {
    const project = copied();
    const wide = 'workflow: wide\nphases: { ALL: { writes: ["**"] } }\n';
    put(project, 'wide.workflow.yaml', wide);
    const started = await phasegate(project, ['start', 'wide', '--json']);
    expect(started.code, 'a human is set up, so it does not even start').toBe(1);
    rmSync(join(project.root, 'wide.workflow.yaml'));
    await succeeded(phasegate(project, ['start', 'build', '--json']));
    put(project, 'docs/b.md', 'half done\n');
    commit(project, 'too early');

    expect((await verify(project)).json).toMatchObject({
      ok: false,
      files: expect.arrayContaining([
        expect.objectContaining({ path: 'docs/b.md', verdict: 'outside', reason: 'no phase ended with it' }),
      ]),
    });
  });
});

describe("a human's own commit:", () => {
  test('is accepted where they accepted it in a run, though no phase may write it', async () => {
    const project = copied();
    const { json } = await succeeded(phasegate(project, ['start', 'build', '--json']));
    const run = String(own(json, 'run'));
    put(project, 'README.md', 'changed beside the phase\n');
    const { shown } = (await phasegate(project, ['fence', run, '--json'])).json;
    const words = ['fence', run, 'accept', 'README.md', '--reason', 'mine', '--shown', String(shown)];
    await succeeded(phasegate(project, words, { passphrase: PASSPHRASE }));
    commit(project, 'by hand, in a run');

    const { code, json: report } = await verify(project);

    expect(code).toBe(0);
    expect(own(report, 'files')).toContainEqual(
      expect.objectContaining({ path: 'README.md', verdict: 'accepted', human: 'maria', run }),
    );
  });

  test('is outside until its human signs it, and passes then, also squashed', async () => {
    const project = copied();
    put(project, 'README.md', 'a typo less\n');
    commit(project, 'by hand');
    expect((await verify(project)).code).toBe(1);

    const agent = await phasegate(project, ['attest', 'main..work', '--reason', 'mine']);
    const wrong = await phasegate(project, ['attest', 'main..work', '--reason', 'mine'], {
      passphrase: 'a guess, and a wrong one',
    });
    const signed = await phasegate(project, ['attest', 'main..work', '--reason', 'by hand'], {
      passphrase: PASSPHRASE,
    });

    expect([agent.code, wrong.code]).toEqual([2, 1]);
    expect([signed.code, signed.stdout]).toEqual([0, 'maria signed 1 file\n']);
    expect(signed.stderr).toContain('outside  README.md');
    git(project, 'reset', '-q', '--soft', 'main');
    commit(project, 'squashed');
    const after = await verify(project);
    expect(after.code).toBe(0);
    expect(after.json).toMatchObject({
      files: expect.arrayContaining([
        expect.objectContaining({
          path: 'README.md',
          verdict: 'attested',
          human: 'maria',
          reason: 'by hand',
        }),
      ]),
    });
    put(project, 'README.md', 'more\n');
    commit(project, 'and more');
    expect((await verify(project)).code, 'only what was signed').toBe(1);
  });
});

describe('a bundle, without the project:', () => {
  test('judges in a clone that has no state, by pinned keys only', async () => {
    const project = copied();
    put(project, 'README.md', 'a typo less\n');
    commit(project, 'by hand');
    await succeeded(
      phasegate(project, ['attest', 'main..work', '--reason', 'mine'], { passphrase: PASSPHRASE }),
    );
    await succeeded(
      phasegate(project, ['verify-range', 'main..work', '--export', join(project.base, 'bundle.json')]),
    );
    const pins = (await succeeded(phasegate(project, ['verify-range', '--pins']))).stdout;
    const other = (await succeeded(phasegate(await honestHistory(), ['verify-range', '--pins']))).stdout;
    const clone = makeProject();
    execFileSync('git', ['clone', '-q', project.root, join(clone.root, 'c')], { env: { ...clone.env } });
    const inClone = { ...clone, root: join(clone.root, 'c') };
    const judge = (words: readonly string[], env: Readonly<Record<string, string>>) =>
      phasegate(inClone, ['verify-range', 'origin/main..origin/work', '--json', ...words], { env });
    const bundle = ['--bundle', join(project.base, 'bundle.json')];

    const good = await judge(bundle, { PHASEGATE_PINS: pins });
    const foreign = await judge(bundle, { PHASEGATE_PINS: other });
    const unpinned = await judge(bundle, {});
    const [projectPin = ''] = pins.split('\n');
    const noHuman = await judge(bundle, { PHASEGATE_PINS: projectPin });

    expect([good.code, good.stderr]).toEqual([0, '']);
    expect(foreign.json).toMatchObject({ error: 'bundle_invalid' });
    expect([unpinned.code, unpinned.json]).toMatchObject([2, { error: 'usage' }]);
    expect(noHuman.json).toMatchObject({ ok: false });
    expect(execFileSync('ls', ['-A', clone.base]).toString()).toBe('project\n');
  });

  test('knows runs that were archived since, beside newer ones, and exports go on from it', async () => {
    const project = copied();
    const [old, all] = [join(project.base, 'old.json'), join(project.base, 'all.json')];
    await succeeded(phasegate(project, ['verify-range', '--export', old]));
    const pins = (await succeeded(phasegate(project, ['verify-range', '--pins']))).stdout;
    const judged = (words: readonly string[]) =>
      phasegate(project, ['verify-range', 'main..work', '--json', ...words], {
        env: { PHASEGATE_PINS: pins },
      });
    const now = new Date().toISOString();
    await succeeded(phasegate(project, ['archive', '--before', now], { passphrase: PASSPHRASE }));

    expect((await judged([])).code, 'the audit alone').toBe(1);
    expect((await judged(['--bundle', old, '--completed', '--newest'])).code, 'the bundle of before').toBe(0);
    await succeeded(phasegate(project, ['verify-range', '--export', all, '--bundle', old]));
    expect((await judged(['--bundle', all])).code, 'what was exported since').toBe(0);
    expect((await judged(['--bundle', all, '--bundle', old])).code, 'both').toBe(0);
  });

  test('an edited one, and one of another text that the project signed, is believed in nothing', async () => {
    const bundle = join(honest.base, 'bundle.json');
    await succeeded(phasegate(honest, ['verify-range', '--export', bundle]));
    const pins = (await succeeded(phasegate(honest, ['verify-range', '--pins']))).stdout;
    const text = execFileSync('cat', [bundle]).toString();
    const { anchor } = (await succeeded(phasegate(honest, ['audit', 'anchor', '--json']))).json;
    const [body = '', signature = ''] = String(anchor).split('.');
    const forged = {
      edited: text.replace('docs/a.md', 'docs/b.md'),
      cut: text.slice(0, 100),
      empty: '',
      anchor: JSON.stringify({
        phasegate: 'range-bundle',
        body: Buffer.from(body, 'base64url').toString(),
        signature,
      }),
    };
    for (const [name, content] of Object.entries(forged)) {
      writeFileSync(bundle, content);
      const called = await phasegate(honest, ['verify-range', 'main..work', '--bundle', bundle, '--json'], {
        env: { PHASEGATE_PINS: pins },
      });
      expect([name, called.code, own(called.json, 'error')]).toEqual([name, 1, 'bundle_invalid']);
    }
  });
});

describe('what cannot be read is said, with what to do:', () => {
  const BAD: readonly (readonly [string, number, string])[] = [
    ['main', 2, '`main` is not a range of commits'],
    ['main..nowhere', 2, 'there is no commit `nowhere` here'],
    ['--upload-pack=x..HEAD', 2, 'has no option'],
    [`${'0'.repeat(40)}..HEAD`, 2, 'a branch that is new'],
  ];

  test.each(BAD)('%s', async (words, code, message) => {
    const called = await phasegate(honest, ['verify-range', words]);

    expect(called.code).toBe(code);
    expect(called.stderr).toContain(message);
  });

  test('a shallow clone, two histories without a meeting, a folder without a repository', async () => {
    const shallow = makeProject();
    execFileSync('git', ['clone', '-q', '--depth', '1', `file://${honest.root}`, join(shallow.root, 'c')]);
    const orphan = copied();
    git(orphan, 'checkout', '-q', '--orphan', 'alone');
    commit(orphan, 'alone');
    const bare = makeProject({ 'build.workflow.yaml': WORKFLOW });

    const message = async (project: TestProject, words: string) =>
      (await phasegate(project, ['verify-range', words])).stderr;
    expect(await message({ ...shallow, root: join(shallow.root, 'c') }, 'HEAD~1..HEAD')).toContain(
      'fetch-depth: 0',
    );
    expect(await message(orphan, 'main..alone')).toContain('without any commit in common');
    expect(await message(bare, 'main..HEAD')).toContain('not a git repository');
  });
});

function outsideIn(json: JsonObject): readonly Json[] {
  const files = own(json, 'files');
  return (Array.isArray(files) ? files : [])
    .filter((file: Json) => own(file, 'verdict') === 'outside')
    .map((file: Json) => own(file, 'path') ?? null);
}

function verify(project: TestProject, words: readonly string[] = []) {
  return phasegate(project, ['verify-range', 'main..work', '--json', ...words]);
}

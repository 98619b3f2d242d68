import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { makeProject, phasegate, type TestProject } from '../e2e/cli.ts';

// What an agent does past Phasegate, with programs of its own: none of it goes unnoticed in ring `served`.

const WORKFLOW = `
workflow: lab
phases:
  SRC:
    allowed_tools: [read_files, write_files]
    writes: ["src/**"]
  TESTS:
    allowed_tools: [read_files, write_files]
    writes: ["test/**"]
  LOOK:
    instructions: look and do nothing
`;

const FILES = {
  'agent_workflow.yaml': WORKFLOW,
  '.claude/settings.json': '{}\n',
  '.gitignore': 'build/\n*.log\n',
  'src/a.txt': 'a\n',
  'test/t.txt': 't\n',
  'package.json': '{}\n',
};

/** A trick: what is done in the first phase, and what the fence must name. */
interface Trick {
  readonly name: string;
  /** Before the run is started. */
  readonly before?: (root: string) => void;
  act(root: string): void | Promise<void>;
  /** Whether a human is set up, who could accept the guard's own files as they are now. */
  readonly human?: true;
  /** Path and how it changed; null where nothing was done that counts. */
  readonly found: readonly [path: string, how: string] | null;
}

const sh = (root: string, line: string) => {
  const { status, stderr } = spawnSync('sh', ['-c', line], { cwd: root, encoding: 'utf8', env: GIT });
  if (status !== 0) throw new Error(stderr);
};
const GIT = { PATH: process.env.PATH ?? '', GIT_CONFIG_NOSYSTEM: '1', HOME: '/nonexistent' };
const commit = 'git add -A && git -c user.name=a -c user.email=a@a commit -qm first';
const repository = (root: string) => sh(root, `git init -q && ${commit}`);
const nested = (root: string) =>
  sh(root, `mkdir -p src/z && cd src/z && git init -q && echo n > n.txt && ${commit}`);

const TRICKS: readonly Trick[] = [
  {
    name: 'a file is written through the shell',
    act: (root) => sh(root, 'echo x | tee -a package.json'),
    found: ['package.json', 'changed'],
  },
  {
    name: 'a file is written by a Python one-liner',
    act: (root) => sh(root, `python3 -c "open('package.json','a').write('x')"`),
    found: ['package.json', 'changed'],
  },
  {
    name: 'a program that no list of writers knows writes a file',
    act: (root) => sh(root, 'sort -o package.json package.json src/a.txt'),
    found: ['package.json', 'changed'],
  },
  {
    name: 'a script in scope is the trampoline',
    act: (root) => sh(root, `echo 'rm package.json' > src/run.sh && sh src/run.sh`),
    found: ['package.json', 'removed'],
  },
  {
    name: 'a process in the background writes before the phase is completed',
    act: async (root) => {
      const child = spawn('sh', ['-c', 'echo x > stray.txt'], { cwd: root, detached: true });
      await new Promise((resolve) => child.on('exit', resolve));
    },
    found: ['stray.txt', 'added'],
  },
  {
    name: 'a file is renamed away, and another put in its place with its date',
    act: (root) => {
      const { atime, mtime } = statSync(join(root, 'package.json'));
      renameSync(join(root, 'package.json'), join(root, 'src/old.json'));
      writeFileSync(join(root, 'package.json'), '[]\n');
      utimesSync(join(root, 'package.json'), atime, mtime);
    },
    found: ['package.json', 'changed'],
  },
  {
    name: 'the same bytes with other permissions',
    act: (root) => sh(root, 'chmod +x package.json'),
    found: ['package.json', 'mode'],
  },
  {
    name: 'a symlink takes the place of a folder',
    act: (root) => sh(root, 'mv test src/test && ln -s src/test test'),
    found: ['test', 'added'],
  },
  {
    name: 'a symlink takes the place of a file',
    act: (root) => sh(root, 'mv package.json src/p.json && ln -s src/p.json package.json'),
    found: ['package.json', 'type'],
  },
  {
    name: 'a hard link in scope is a second name of a file outside',
    act: (root) => linkSync(join(root, 'package.json'), join(root, 'src/same.json')),
    found: ['src/same.json', 'linked'],
  },
  {
    name: 'a hard link made before the run is written through',
    before: (root) => linkSync(join(root, 'package.json'), join(root, 'src/same.json')),
    act: (root) => appendFileSync(join(root, 'src/same.json'), 'x'),
    found: ['package.json', 'changed'],
  },
  {
    name: 'a hard link leads out of the workspace',
    act: (root) => {
      writeFileSync(join(root, '../outside.txt'), 'o');
      linkSync(join(root, '../outside.txt'), join(root, 'src/in.txt'));
    },
    found: ['src/in.txt', 'linked'],
  },
  {
    name: '`src/.gitignore` holds `*`',
    act: (root) => sh(root, `echo '*' > src/.gitignore && echo '*' > .gitignore && echo x > stray.txt`),
    found: ['stray.txt', 'added'],
  },
  {
    name: '`.git/info/exclude` names the file',
    before: repository,
    act: (root) => sh(root, 'echo stray.txt >> .git/info/exclude && echo x > stray.txt'),
    found: ['stray.txt', 'added'],
  },
  {
    name: 'assume-unchanged hides it from git',
    before: repository,
    act: (root) => sh(root, 'git update-index --assume-unchanged package.json && echo x >> package.json'),
    found: ['package.json', 'changed'],
  },
  {
    name: 'skip-worktree hides it from git',
    before: repository,
    act: (root) => sh(root, 'git update-index --skip-worktree package.json && echo x >> package.json'),
    found: ['package.json', 'changed'],
  },
  {
    name: 'it is committed, so that git shows nothing',
    before: repository,
    act: (root) => sh(root, `echo x >> package.json && ${commit}`),
    found: ['package.json', 'changed'],
  },
  {
    name: 'a file that an ignore rule names and git has all the same',
    before: (root) =>
      sh(root, `git init -q && mkdir build && echo b > build/kept.js && git add -f build && ${commit}`),
    act: (root) => appendFileSync(join(root, 'build/kept.js'), 'x'),
    found: ['build/kept.js', 'changed'],
  },
  {
    name: 'junk in a `.git` of its own, in scope',
    before: nested,
    act: (root) => sh(root, 'echo junk > src/z/.git/junk'),
    found: ['src/z/.git/junk', 'added'],
  },
  {
    name: 'a new repository outside the scope',
    act: (root) => sh(root, 'mkdir lib && cd lib && git init -q'),
    found: ['lib/.git/HEAD', 'added'],
  },
  {
    name: 'an edit in a nested repository outside the scope',
    before: (root) => sh(root, `mkdir lib && cd lib && git init -q && echo n > n.txt && ${commit}`),
    act: (root) => appendFileSync(join(root, 'lib/n.txt'), 'x'),
    found: ['lib/n.txt', 'changed'],
  },
  {
    name: 'a hook of git',
    human: true,
    before: repository,
    act: (root) => sh(root, 'echo "#!/bin/sh" > .git/hooks/post-commit'),
    found: ['.git/hooks/post-commit', 'added'],
  },
  {
    name: 'a setting that makes git run a program',
    human: true,
    before: repository,
    act: (root) => sh(root, 'git config core.hooksPath src/hooks'),
    found: ['.git/config', 'changed'],
  },
  {
    name: "a client's settings, which an ignore rule names",
    human: true,
    before: (root) => appendFileSync(join(root, '.gitignore'), '.claude\n'),
    act: (root) => sh(root, `echo '{"disableAllHooks":true}' > .claude/settings.json`),
    found: ['.claude/settings.json', 'changed'],
  },
  {
    name: 'the contract itself',
    human: true,
    act: (root) => appendFileSync(join(root, 'agent_workflow.yaml'), '# more\n'),
    found: ['agent_workflow.yaml', 'changed'],
  },
  {
    name: 'a pipe in scope that would hold up who reads it',
    act: (root) => sh(root, 'mkfifo src/pipe'),
    found: ['src/pipe', 'unreadable'],
  },
  {
    name: 'ordinary work: in scope, ignored, or undone',
    human: true,
    before: repository,
    act: (root) => {
      sh(root, 'mkdir build && echo b > build/b.js && echo l > x.log && git config user.name ada');
      sh(
        root,
        'cp package.json /tmp/kept-$$ && echo x >> package.json && cat /tmp/kept-$$ > package.json; rm /tmp/kept-$$',
      );
      sh(
        root,
        'sed -i s/a/b/ src/a.txt && mkdir src/deep && touch src/deep/new.txt && git add src && git status',
      );
      sh(root, 'git gc -q && git update-server-info && git config rerere.enabled true');
    },
    found: null,
  },
];

describe('whatever wrote it, a change outside the scope refuses the phase and is named', () => {
  test.each(TRICKS)(
    '$name [adv.A1 adv.A8 adv.B2 adv.B6 adv.C2 adv.G6]',
    async ({ before, act, found, human }) => {
      const project = makeProject(FILES);
      before?.(project.root);
      if (human) await setUpHuman(project);
      const run = await start(project);

      await act(project.root);
      const answer = await complete(project, run);

      if (found === null) {
        expect(answer).toMatchObject({ checkpoint_passed: true });
        return;
      }
      const [path, how] = found;
      expect(answer).toMatchObject({ checkpoint_passed: false, error: 'scope_violation', status: 'active' });
      expect(messages(answer)).toContain(`\`${path}\``);
      const { json } = await phasegate(project, ['fence', run, '--json']);
      expect(json.outside).toContainEqual({ path, how, by: null });
      expect((await phasegate(project, ['status', run])).stdout).toContain(path);
    },
  );
});

test('a filter program in the config of a nested repository is not run', async () => {
  const project = makeProject(FILES);
  const ran = join(project.base, 'ran');
  nested(project.root);
  sh(project.root, `git -C src/z config filter.evil.clean 'touch ${ran}; cat'`);
  sh(project.root, `git -C src/z config filter.evil.smudge 'touch ${ran}; cat'`);
  writeFileSync(join(project.root, 'src/z/.gitattributes'), '* filter=evil\n');
  writeFileSync(join(project.root, '.gitattributes'), '* filter=evil diff=evil\n');
  const run = await start(project);

  appendFileSync(join(project.root, 'src/z/n.txt'), 'x');
  appendFileSync(join(project.root, 'package.json'), 'x');
  await complete(project, run);
  const { stdout } = await phasegate(project, ['fence', run, '--diff']);

  expect(stdout).toContain('+++ after/package.json');
  expect(existsSync(ran)).toBe(false);
});

test('a folder that became a link shows nothing of what it leads to', async () => {
  const project = makeProject(FILES);
  const run = await start(project);
  mkdirSync(join(project.base, 'keys'));
  writeFileSync(join(project.base, 'keys/t.txt'), 'nobody is shown this\n');

  sh(project.root, 'rm -r test && ln -s ../keys test');
  await complete(project, run);
  const { stdout } = await phasegate(project, ['fence', run, '--diff']);

  expect(stdout).toContain('--- before/test/t.txt');
  expect(stdout).not.toContain('nobody is shown this');
});

test("a client's settings changed and put back, with their date, are on record", async () => {
  const project = makeProject(FILES);
  const file = join(project.root, '.claude/settings.json');
  const { atime, mtime } = statSync(file);
  const before = readFileSync(file);
  const run = await start(project);

  writeFileSync(file, '{"disableAllHooks":true}');
  writeFileSync(file, before);
  utimesSync(file, atime, mtime);
  const answer = await complete(project, run);

  expect(answer).toMatchObject({ checkpoint_passed: true });
  expect(JSON.stringify(answer.warnings)).toMatch(/settings\.json.*was written and put back/);
});

test('a write after the last look belongs to the next phase and is found there [adv.D4]', async () => {
  const project = makeProject(FILES);
  const run = await start(project);
  expect(await complete(project, run)).toMatchObject({ checkpoint_passed: true });

  // In the scope of the phase that is over, and not of this one.
  writeFileSync(join(project.root, 'src/late.txt'), 'late');
  const answer = await complete(project, run, 'TESTS');

  expect(answer).toMatchObject({ error: 'scope_violation' });
  expect(messages(answer)).toContain('`src/late.txt` was added');
});

test('a phase that may write nothing lets nothing be written [adv.C7]', async () => {
  const project = makeProject(FILES);
  const run = await start(project);
  await complete(project, run);
  await complete(project, run, 'TESTS');

  mkdirSync(join(project.root, 'notes'));
  writeFileSync(join(project.root, 'notes/n.md'), 'n');
  const answer = await complete(project, run, 'LOOK');

  expect(answer).toMatchObject({ error: 'scope_violation' });
  expect(messages(answer)).toContain('phase `LOOK` may write nothing');
});

test('an ignore file written in one phase hides nothing in the next', async () => {
  const project = makeProject(FILES);
  const run = await start(project);
  writeFileSync(join(project.root, 'src/.gitignore'), '*\n');
  expect(await complete(project, run)).toMatchObject({ checkpoint_passed: true });

  appendFileSync(join(project.root, 'src/a.txt'), 'x');
  writeFileSync(join(project.root, 'src/hidden.txt'), 'x');
  const answer = await complete(project, run, 'TESTS');

  expect(messages(answer)).toMatch(/src\/a\.txt.*src\/hidden\.txt/s);
});

test("the user's repository is bit for bit as git left it", async () => {
  const project = makeProject(FILES);
  repository(project.root);
  const sum = () =>
    execFileSync('sh', ['-c', 'find .git -type f | sort | xargs sha256sum'], {
      cwd: project.root,
      encoding: 'utf8',
    });
  const before = sum();
  const run = await start(project);
  appendFileSync(join(project.root, 'package.json'), 'x');

  await complete(project, run);
  await phasegate(project, ['fence', run, '--diff']);

  expect(sum()).toBe(before);
});

async function setUpHuman(project: TestProject): Promise<void> {
  const passphrase = 'correct horse battery';
  await phasegate(project, ['humans', 'add', 'maria'], { newPassphrase: passphrase });
  await phasegate(project, ['trust', 'lab', '--yes'], { passphrase });
}

test("without a human the guard's own files are taken as they are, and it is on record", async () => {
  const project = makeProject(FILES);
  const run = await start(project);

  writeFileSync(join(project.root, '.claude/settings.json'), '{"disableAllHooks":true}');
  const answer = await complete(project, run);

  expect(answer).toMatchObject({ checkpoint_passed: true });
  expect(JSON.stringify(answer.warnings)).toMatch(/settings\.json.*was changed/);
});

async function start(project: TestProject): Promise<string> {
  const { json, stderr } = await phasegate(project, ['start', 'lab', '--json']);
  expect(stderr).toBe('');
  return String(json.run);
}

async function complete(project: TestProject, run: string, phase = 'SRC'): Promise<JsonObject> {
  const words = ['done', run, '--phase', phase, '--evidence', '-', '--json'];
  return (await phasegate(project, words, { stdin: '{}' })).json;
}

function messages(answer: JsonObject): string {
  return JSON.stringify(answer.blockers ?? null);
}

import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { makeProject, phasegate, type TestProject } from '../e2e/cli.ts';
import { FENCE_ROWS, FENCED_FILES, nested, repository, sh } from './fenceRows.ts';

// What an agent does past Phasegate, with programs of its own: none of it goes unnoticed in ring `served`.

describe('whatever wrote it, a change outside the scope refuses the phase and is named', () => {
  test.each(FENCE_ROWS)(
    '$name [adv.A1 adv.A8 adv.B2 adv.B6 adv.C2 adv.G6]',
    async ({ before, line, found, human }) => {
      const project = makeProject(FENCED_FILES);
      before?.(project.root);
      if (human) await setUpHuman(project);
      const run = await start(project);

      sh(project.root, line);
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
  const project = makeProject(FENCED_FILES);
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
  const project = makeProject(FENCED_FILES);
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
  const project = makeProject(FENCED_FILES);
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
  const project = makeProject(FENCED_FILES);
  const run = await start(project);
  expect(await complete(project, run)).toMatchObject({ checkpoint_passed: true });

  // In the scope of the phase that is over, and not of this one.
  writeFileSync(join(project.root, 'src/late.txt'), 'late');
  const answer = await complete(project, run, 'TESTS');

  expect(answer).toMatchObject({ error: 'scope_violation' });
  expect(messages(answer)).toContain('`src/late.txt` was added');
});

test('a phase that may write nothing lets nothing be written [adv.C7]', async () => {
  const project = makeProject(FENCED_FILES);
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
  const project = makeProject(FENCED_FILES);
  const run = await start(project);
  writeFileSync(join(project.root, 'src/.gitignore'), '*\n');
  expect(await complete(project, run)).toMatchObject({ checkpoint_passed: true });

  appendFileSync(join(project.root, 'src/a.txt'), 'x');
  writeFileSync(join(project.root, 'src/hidden.txt'), 'x');
  const answer = await complete(project, run, 'TESTS');

  expect(messages(answer)).toMatch(/src\/a\.txt.*src\/hidden\.txt/s);
});

test("the user's repository is bit for bit as git left it", async () => {
  const project = makeProject(FENCED_FILES);
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
  const project = makeProject(FENCED_FILES);
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

test('a hard link made a phase earlier, when both names were in scope, leads nowhere in the next [adv.C2]', async () => {
  const workflow = `
workflow: fenced
phases:
  ONE: { writes: ["src/**", "docs/**"], allowed_tools: [write_files] }
  TWO: { writes: ["src/**"], allowed_tools: [write_files] }
`;
  const project = makeProject({ 'agent_workflow.yaml': workflow, 'src/a.txt': 'a\n', 'docs/d.md': 'd\n' });
  const run = String((await phasegate(project, ['start', 'fenced', '--json'])).json.run);
  sh(project.root, 'ln docs/d.md src/hard');
  const done = () => phasegate(project, ['done', run, '--evidence', '-', '--json'], { stdin: '{}' });

  const first = (await done()).json;
  sh(project.root, 'echo x >> src/hard');
  const second = (await done()).json;

  expect(first).toMatchObject({ checkpoint_passed: true });
  expect(second).toMatchObject({ checkpoint_passed: false, error: 'scope_violation' });
  expect(messages(second)).toContain('`docs/d.md`');
});

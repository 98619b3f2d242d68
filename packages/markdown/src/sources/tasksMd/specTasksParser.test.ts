import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import { expect, test } from 'vitest';
import { MAX_TASKS_BYTES } from './readTasksFile.ts';
import { specTasksParser } from './specTasksParser.ts';

const TASKS = '## Phase 1: One\n\n### Task 1.1: A\n\n**Acceptance Criteria:**\n- [ ] a\n';
const HINT = 'Verify tasks.md follows spec format';

test('a file and the folder that holds it give the same, with the hash of what was read [S1.29]', async () => {
  const root = project({ 'specs/login/tasks.md': TASKS });

  const file = await specTasksParser.parse(root, 'specs/login/tasks.md');
  const folder = await specTasksParser.parse(root, 'specs/login');

  expect(folder).toEqual(file);
  expect(await specTasksParser.parse(root, join(root, 'specs/login/'))).toEqual(file);
  expect(Object.keys(file.files ?? {})).toEqual(['specs/login/tasks.md']);
  expect(file.files?.['specs/login/tasks.md']).toMatch(/^[0-9a-f]{64}$/);
  expect(file.phases.map(({ id }) => id)).toEqual(['1']);
});

test('the project itself may be the folder', async () => {
  const root = project({ 'tasks.md': TASKS });

  expect(Object.keys((await specTasksParser.parse(root, '.')).files ?? {})).toEqual(['tasks.md']);
});

test('CRLF and a BOM are read as if they were not there [S1.29]', async () => {
  const root = project({ 'a.md': TASKS, 'b.md': `\uFEFF${TASKS.replace(/\n/g, '\r\n')}` });

  const [a, b] = await Promise.all(['a.md', 'b.md'].map((path) => specTasksParser.parse(root, path)));

  expect(b?.phases).toEqual(a?.phases);
});

test.each([
  ['an empty file', '', 1, 'it is empty'],
  ['a file of white space', '\uFEFF \n\t\n', 1, 'it is empty'],
  ['prose', 'Nothing to do here.\n', 1, 'no phase, no task and no checklist was found'],
  [
    'phases without anything in them',
    '# T\n\n## Phase 1: A\n\n## Phase 2: B\n',
    3,
    'its 2 phases have neither tasks nor gates',
  ],
  ['a NUL byte', `${TASKS}\0`, 7, 'it holds a NUL byte, so it is not text'],
])(
  '%s cannot be parsed, and the fault says where [S1.29 S1.35 S1.74 S1.79]',
  async (_name, text, line, reason) => {
    const root = project({ 'tasks.md': text });

    const fault = await faultOf(root, 'tasks.md');

    expect(fault).toMatchObject({
      code: 'source_parse_failed',
      message: `Could not parse tasks.md: ${reason}`,
      hint: HINT,
      problems: [{ file: 'tasks.md', line }],
    });
  },
);

test('what is not UTF-8 cannot be parsed, and the fault says on which line [S1.74]', async () => {
  const root = project({});
  writeFileSync(join(root, 'tasks.md'), Buffer.from([0x23, 0x20, 0x41, 0x0a, 0xe9, 0x0a]));

  expect(await faultOf(root, 'tasks.md')).toMatchObject({
    code: 'source_parse_failed',
    message: 'Could not parse tasks.md: it is not UTF-8',
    problems: [{ line: 2 }],
  });
});

test('a folder without a `tasks.md`, or with a folder of that name, cannot be parsed [S1.74]', async () => {
  const root = project({ 'empty/other.md': TASKS, 'odd/tasks.md/inner.md': TASKS });

  expect(await faultOf(root, 'empty')).toMatchObject({
    code: 'source_parse_failed',
    message: 'Could not parse empty: the folder has no `tasks.md`',
    hint: HINT,
  });
  expect(await faultOf(root, 'odd')).toMatchObject({ code: 'source_parse_failed' });
});

test('a path that leaves the project is refused, by dots, absolutely or through a link', async () => {
  const outside = project({ 'tasks.md': TASKS });
  const root = project({ 'here/tasks.md': TASKS });
  symlinkSync(join(outside, 'tasks.md'), join(root, 'linked.md'));
  symlinkSync(outside, join(root, 'folder'));
  mkdirSync(join(root, 'spec'));
  symlinkSync(join(outside, 'tasks.md'), join(root, 'spec', 'tasks.md'));

  const paths = [
    '../x/tasks.md',
    '..',
    join(outside, 'tasks.md'),
    'linked.md',
    'folder',
    'folder/tasks.md',
    'spec',
    'a\0b',
  ];
  const codes = await Promise.all(paths.map(async (path) => (await faultOf(root, path)).code));

  expect(codes).toEqual(paths.map(() => 'path_outside'));
});

test('a file that is not there says so', async () => {
  expect(await faultOf(project({}), 'specs/tasks.md')).toMatchObject({
    code: 'file_unreadable',
    message: '`specs/tasks.md` does not exist',
  });
});

test('more than 2 MB is refused, 2 MB is read', async () => {
  const filled = (bytes: number) => `${TASKS}\n${'x'.repeat(99)}\n`.padEnd(bytes, `${'x'.repeat(99)}\n`);
  const root = project({ 'large.md': filled(MAX_TASKS_BYTES + 1), 'full.md': filled(MAX_TASKS_BYTES) });

  expect((await faultOf(root, 'large.md')).code).toBe('too_large');
  expect((await specTasksParser.parse(root, 'full.md')).phases).toHaveLength(1);
});

test('text that was encoded twice is read with a warning', async () => {
  const root = project({ 'tasks.md': TASKS.replace('One', 'Donâ€™t') });

  expect((await specTasksParser.parse(root, 'tasks.md')).warnings).toEqual([
    { line: 1, message: 'the text on this line seems to be UTF-8 encoded twice' },
  ]);
});

async function faultOf(root: string, path: string): Promise<PhasegateError> {
  try {
    await specTasksParser.parse(root, path);
  } catch (error) {
    if (error instanceof PhasegateError) return error;
    throw error;
  }
  throw new Error(`${path} was parsed`);
}

function project(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(realpathSync(tmpdir()), 'phasegate-sources-'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

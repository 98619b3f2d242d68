import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { errorsOf, type FolderProject, makeProject, messagesOf } from './fixtures/project.ts';

const DEMO = 'workflows/demo';

let project: FolderProject;
beforeEach(async () => {
  project = makeProject();
  await project.write({
    [`${DEMO}/metadata.json`]: '\uFEFF{\r\n  "workflow_type": "demo"\r\n}\r\n',
    [`${DEMO}/phases/1/phase.md`]: '\uFEFF# Phase 1: Look\r\n\r\nMust provide `file_list`\r\n',
  });
});
afterEach(() => project.remove());

test('a byte order mark and CRLF change nothing', async () => {
  const loaded = await project.load();

  expect(errorsOf(loaded)).toEqual([]);
  expect(loaded.workflow?.phases[0]).toMatchObject({
    name: 'Look',
    content: { text: '# Phase 1: Look\r\n\r\nMust provide `file_list`\r\n' },
    evidence: { fields: [{ name: 'file_list', type: 'list' }] },
  });
});

describe('a file that cannot be read makes the workflow invalid', () => {
  test.each([
    ['phases/1/phase.md', ' \n\n', 'empty_file'],
    ['phases/1/phase.md', '# Only\n\n## Headings\n', 'no_instructions'],
    ['phases/1/phase.md', '---\ntitle: x\n\n# No end\n', 'front_matter_open'],
    ['phases/1/phase.md', 'x'.repeat(2_000_000), 'too_large'],
    ['phases/1/phase.md', new Uint8Array([0xc3, 0x28]), 'not_utf8'],
    ['phases/1/phase.md', 'a\0b', 'nul_byte'],
    ['phases/1/task-1.md', '', 'empty_file'],
    ['phases/1/task-1.md', '# Heading\n', 'no_instructions'],
    ['phases/1/task-one.md', 'Text', 'bad_task_name'],
    ['phases/1/gate-definition.yaml', 'a: [', 'syntax'],
    ['phases/1/gate-definition.yml', 'a: 1', 'bad_gate_name'],
    ['phases/setup/phase.md', 'Text', 'bad_phase_folder'],
    ['phases/2/task-1.md', 'Text', 'file_unreadable'],
  ])('%s, %#: %s', async (path, text, code) => {
    await project.write({ [`${DEMO}/${path}`]: text });

    const loaded = await project.load();

    expect(loaded.workflow).toBeNull();
    expect(errorsOf(loaded)).toEqual([expect.stringMatching(new RegExp(`^${DEMO}/phases/.* ${code}$`))]);
  });

  test.each(['phases/2/phase.md', 'phases/1/task-1.md', 'phases/1/gate-definition.yaml'])(
    'a folder as %s',
    async (path) => {
      await mkdir(join(project.root, DEMO, path), { recursive: true });

      expect(errorsOf(await project.load())).toEqual([`${DEMO}/${path}:1:1 file_unreadable`]);
    },
  );

  test.each(['phases/1/task-1.md', 'phases/1/gate-definition.yaml'])('a link as %s', async (path) => {
    await project.write({ 'elsewhere.md': 'evidence_schema: { a: { type: list } }' });
    await symlink(join(project.root, 'elsewhere.md'), join(project.root, DEMO, path));

    expect(errorsOf(await project.load())).toEqual([`${DEMO}/${path}:1:1 path_outside`]);
  });

  test('a workflow without phases', async () => {
    await project.write({ 'workflows/none/metadata.json': '{ "workflow_type": "none" }' });

    const loaded = await project.load('workflows/none/metadata.json');

    expect(messagesOf(loaded, 'no_phases')).toEqual(['`workflows/none` has no phases']);
  });
});

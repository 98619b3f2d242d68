import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeShell } from '../fixtures/callCli.ts';

const TASKS = [
  '## Phase 1: One (2 days)',
  '',
  '### Task 1.1: A',
  '',
  '**Estimated Time:** 1 hour',
  '**Dependencies:** Task 9.9',
  '',
  '**Acceptance Criteria:**',
  '- [ ] a',
  '- [x] b',
  '',
  '**Validation Gate:**',
  '- [ ] c',
].join('\n');

test('tasks shows what was understood, with counts, and warnings with their lines', async () => {
  const shell = makeShell({ 'tasks.md': TASKS });

  const { code, stdout, stderr } = await shell.call(['tasks', 'tasks.md']);

  expect(code).toBe(0);
  expect(stdout).toBe(
    [
      'Phase 1: One (2 days)',
      '  1.1  A  1 hour; 2 criteria (1 ticked); after 9.9',
      '  gate: 1 condition',
      '',
      '1 phase, 1 task, 2 criteria, 1 gate condition, 1 warning',
      '',
    ].join('\n'),
  );
  expect(stderr).toBe('tasks.md:6: task `1.1` depends on `9.9`, which is not defined\n');
});

test('tasks --json prints phases and warnings and nothing else', async () => {
  const shell = makeShell({ 'tasks.md': TASKS });
  mkdirSync(join(shell.root, 'spec'));
  shell.write('spec/tasks.md', TASKS);

  const { code, json } = await shell.call(['tasks', 'spec', '--json']);

  expect(code).toBe(0);
  expect(json()).toEqual({
    phases: [
      {
        id: '1',
        name: 'One',
        description: '',
        estimated_duration: '2 days',
        tasks: [
          {
            id: '1.1',
            name: 'A',
            description: '',
            estimated_time: '1 hour',
            dependencies: ['9.9'],
            acceptance_criteria: [
              { text: 'a', checked: false },
              { text: 'b', checked: true },
            ],
            status: 'pending',
          },
        ],
        validation_gate: [{ text: 'c', checked: false }],
      },
    ],
    warnings: [{ line: 6, message: 'task `1.1` depends on `9.9`, which is not defined' }],
  });
});

test('tasks exits 2 when nothing usable is found, in the shape of a parse failure [S1.74]', async () => {
  const shell = makeShell({ 'tasks.md': 'prose only\n' });

  const { code, json } = await shell.call(['tasks', 'tasks.md', '--json']);

  expect(code).toBe(2);
  expect(json()).toMatchObject({
    error: 'source_parse_failed',
    message: 'Could not parse tasks.md: no phase, no task and no checklist was found',
    hint: 'Verify tasks.md follows spec format',
  });
  expect((await shell.call(['tasks', '../tasks.md'])).code).toBe(2);
  expect((await shell.call(['tasks', 'missing.md'])).code).toBe(2);
  expect((await shell.call(['tasks', 'tasks.md', '--parser', 'jira'])).code).toBe(2);
  expect((await shell.call(['tasks'])).code).toBe(2);
});

test.each(['/nope', 'specs/nope/tasks.md'])(
  'a path that is not there is named as it was typed: %s',
  async (path) => {
    const { code, stderr } = await makeShell({ 'tasks.md': TASKS }).call(['tasks', path]);

    expect(code).toBe(2);
    expect(stderr).toContain(`\`${path}\` does not exist`);
  },
);

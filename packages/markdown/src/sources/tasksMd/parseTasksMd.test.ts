import { readdirSync, readFileSync } from 'node:fs';
import type { SourceTask } from '@phasegate/core/ports';
import { describe, expect, test } from 'vitest';
import { FULL } from '../../../../../test/tier.ts';
import { outlineText } from '../fixtures/outlineText.ts';
import { parseTasksMd } from './parseTasksMd.ts';

const folder = new URL('../fixtures/', import.meta.url);
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.md'))
  .map((file) => file.slice(0, -3));

test.each(names)(
  '%s: phases, tasks, criteria, gates, dependencies and warnings are found [S1.30 S1.31 S1.32 S1.33 S1.79 fail.29 fail.30 fail.31]',
  (name) => {
    const expected = readFileSync(new URL(`${name}.txt`, folder), 'utf8');

    expect(outlineText(parseTasksMd(fixture(name)))).toBe(expected);
  },
);

test('the reference format gives every field of phases and tasks [S1.27 S1.28 S1.34]', () => {
  const text = [
    '### Phase 1: Phase Name',
    '**Goal:** Description',
    '**Tasks:**',
    '- [ ] **Task 1.1**: Name',
    '  - **Estimated Time**: 4 hours',
    '  - **Dependencies**: None',
    '  - **Acceptance Criteria**:',
    '    - [ ] Criterion 1',
    '',
    '**Validation Gate:**',
    '- [ ] Gate criterion 1',
  ].join('\n');

  expect(parseTasksMd(text)).toEqual({
    phases: [
      {
        id: '1',
        name: 'Phase Name',
        description: 'Description',
        estimatedDuration: '',
        tasks: [
          {
            id: '1.1',
            name: 'Name',
            description: '',
            estimatedTime: '4 hours',
            dependencies: [],
            acceptanceCriteria: [{ text: 'Criterion 1', checked: false }],
            status: 'pending',
          },
        ],
        validationGate: [{ text: 'Gate criterion 1', checked: false }],
      },
    ],
    warnings: [],
  });
});

describe('the words of', () => {
  test('criteria are kept with what stands below them, without marks [S1.31]', () => {
    const { phases } = parseTasksMd(fixture('gate-headings'));

    expect(phases[0]?.tasks[0]?.acceptanceCriteria).toEqual([
      { text: 'Folder `tutorials` exists', checked: true },
      {
        text: 'Folder `how-to` exists\n  - with an index page\n  - linked from the start page',
        checked: true,
      },
    ]);
  });

  test('gates stop before the evidence asked for', () => {
    const { phases } = parseTasksMd(fixture('gate-headings'));

    expect(phases[0]?.validationGate.map(({ text }) => text)).toEqual([
      'Build has no warnings',
      'All pages have a kind',
    ]);
  });

  test('a gate keep a bullet without a box among the boxes', () => {
    const { phases } = parseTasksMd(fixture('validation-phase'));

    expect(phases[0]?.validationGate.at(-1)).toEqual({
      text: '**Exit Criteria:** the team agrees',
      checked: false,
    });
  });

  test('a task that have no field of their own are its description', () => {
    expect(taskOf('named-groups', '1.1').description).toBe(
      '**Subtasks**:\n- Add the lock\n- Release it in finally',
    );
    expect(taskOf('checkbox-indented', '2.1').description).toBe('CRITICAL\n  - Use plain text');
    expect(taskOf('odd-ids', '4.4').description).toBe('');
  });

  test('a fence the author left open are closed again in the description [fail.32]', () => {
    expect(taskOf('ten-tasks', '1.10').description).toBe('```text\norphan block that is never closed\n```');
  });

  test('a phase begin with its goal', () => {
    const { phases } = parseTasksMd(fixture('gate-headings'));

    expect(phases.map(({ description }) => description.split('\n')[0])).toEqual([
      'Four kinds of pages',
      'Write what is missing',
      'Tell people',
    ]);
  });
});

test('a text without anything usable gives no phase and says so [S1.35]', () => {
  for (const text of ['', '\n\n', 'Just prose.', '# Title\n\n- a bullet\n', '```\n## Phase']) {
    expect(parseTasksMd(text)).toEqual({
      phases: [],
      warnings: [{ line: 1, message: 'no phase, no task and no checklist was found' }],
    });
  }
});

test('phase 0 is a phase like any other [C2 fail.16]', () => {
  expect(parseTasksMd(fixture('upper-zero')).phases[0]?.id).toBe('0');
});

test.runIf(FULL)('documents made to be slow are read in linear time', () => {
  const lines = 20_000;
  const slow = [
    '- [ ] a\n'.repeat(lines),
    '## a\n- [ ] b\n'.repeat(lines),
    '```\n'.repeat(lines),
    `## Phase 1: A\n${'### Acceptance Criteria\n'.repeat(lines)}`,
    `## Phase 1: A\n### Task 1.1: A\n**Acceptance Criteria:**\n${'- [ ] a\n'.repeat(lines)}`,
    `## Phase 1: A\n${numbered(lines, (n) => `### Task 1.${n}: A\n**Dependencies:** Tasks 1.0-1.${lines}\n`)}`,
    `## Phase 1: A\n${numbered(lines, (n) => `### Task 1.${n}: A\n**Dependencies:** Task 1.${n + 1}, 1.0\n`)}`,
    `### Task 1.1: ${'✅ '.repeat(1_900)}\n`.repeat(100),
    `### ${'1.'.repeat(1_900)}\n`.repeat(100),
    ' '.repeat(2_000_000),
    '**'.repeat(1_000_000),
  ];

  // No clock here: what is quadratic would run into the time limit of the test.
  expect(slow.map((text) => parseTasksMd(text).phases.length)).toHaveLength(slow.length);
});

function numbered(count: number, make: (number: number) => string): string {
  return Array.from({ length: count }, (_, index) => make(index)).join('');
}

function fixture(name: string): string {
  return readFileSync(new URL(`${name}.md`, folder), 'utf8');
}

function taskOf(name: string, id: string): SourceTask {
  const task = parseTasksMd(fixture(name))
    .phases.flatMap(({ tasks }) => tasks)
    .find((one) => one.id === id);
  if (task === undefined) throw new Error(`${name} has no task ${id}`);
  return task;
}

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { errorsOf, type FolderProject, makeProject, messagesOf } from './fixtures/project.ts';

let project: FolderProject;
beforeEach(() => {
  project = makeProject();
});
afterEach(() => project.remove());

const TEXT = '# Phase\n\nLook at it.\n\nMust provide `note_a`, a text\n';

async function load(files: Readonly<Record<string, string>>, phase: object = {}) {
  const metadata = {
    workflow_type: 'demo',
    params: { mode: { type: 'string', choices: ['full', 'quick'], default: 'full' } },
    phases: [
      { phase_number: 1, phase_name: 'One', ...phase },
      { phase_number: 2, phase_name: 'Two' },
    ],
  };
  const all = {
    'metadata.json': JSON.stringify(metadata, null, 1),
    'phases/1/phase.md': TEXT,
    'phases/2/phase.md': TEXT,
    ...files,
  };
  await project.write(
    Object.fromEntries(Object.entries(all).map(([name, text]) => [`workflows/demo/${name}`, text])),
  );
  return project.load();
}

const GATE = 'phases/1/gate-definition.yaml';
const SAID = `
allowed_tools: [read_files, write_files, bash]
forbidden_tools: [git]
tool_constraints: { bash: { allowed: ["npm test"] } }
writes: ["src/**"]
only_when: { mode: [full] }
preconditions:
  - { check: files, with: { exist: [package.json] }, message: no project }
postconditions:
  - { check: command, with: { argv: [npm, test] }, needs: verified, message: the tests fail }
  - { check: command, with: { argv: [npm, run, lint] }, severity: warning, message: the linter complains }
human:
  prompt: Good?
  options: [{ label: Approve }, { label: Redo, next: 1, requires_input: true }]
blockers:
  - { check: expression, with: { condition: 'result.note_a !== ""' }, message: empty }
next: { condition: 'result.note_a === "again"', on_true: 1, on_false: 2, max_iterations: 3 }
timeout: 5m
`;
const HEARD = {
  tools: { allowed: ['read_files', 'write_files', 'bash'], constraints: { bash: { allowed: ['npm test'] } } },
  writes: ['src/**'],
  onlyWhen: { mode: ['full'] },
  preconditions: [{ use: 'files', message: 'no project' }, { label: 'only_when mode' }],
  postconditions: [
    { use: 'command', needs: 'verified' },
    { use: 'command', severity: 'warning' },
  ],
  blockers: [{ use: 'expression', message: 'empty' }],
  humanGate: { prompt: 'Good?', options: [{ label: 'Approve' }, { label: 'Redo', next: 1 }] },
  next: { kind: 'when', onTrue: 1, onFalse: 2, maxIterations: 3 },
  timeoutSeconds: 300,
};

describe('a phase of a folder has the whole model', () => {
  test.each<[string, Readonly<Record<string, string>>]>([
    ['in its gate file', { [GATE]: SAID }],
    ['in its gate file beside evidence', { [GATE]: `${SAID}evidence_schema: { n: { type: int } }` }],
    ['in the front matter of phase.md', { 'phases/1/phase.md': `---\n${SAID.trim()}\n---\n${TEXT}` }],
    [
      'in front matter that begins with a comment',
      { 'phases/1/phase.md': `---\n# as in the contract\n\n${SAID.trim()}\n---\n${TEXT}` },
    ],
  ])('%s, by the keys of a contract', async (_, files) => {
    const loaded = await load(files);

    expect(errorsOf(loaded)).toEqual([]);
    expect(loaded.workflow?.phases[0]).toMatchObject(HEARD);
    expect(loaded.workflow?.phases[0]?.evidence.fields).toContainEqual(
      expect.objectContaining({ name: 'note_a' }),
    );
  });

  test('in metadata.json, and in camel case', async () => {
    const loaded = await load({}, { allowedTools: ['read_files'], next: { ok: 2, fail: null } });

    expect(loaded.workflow?.phases[0]).toMatchObject({
      tools: { allowed: ['read_files'] },
      next: { kind: 'outcomes', map: { ok: 2, fail: null } },
    });
  });

  test.each<[string, Readonly<Record<string, string>>, object]>([
    ['a gate file', { [GATE]: 'human_approval_required: true' }, {}],
    ['the checkpoint of a gate file', { [GATE]: 'checkpoint: { human_approval_required: true }' }, {}],
    ['front matter', { 'phases/1/phase.md': `---\nhuman_approval_required: true\n---\n${TEXT}` }, {}],
    ['metadata.json', {}, { human_approval_required: true }],
  ])('`human_approval_required` of %s opens a gate for a human', async (_, files, phase) => {
    const { workflow } = await load(files, phase);

    expect(workflow?.phases[0]?.humanGate).toMatchObject({
      options: [{ label: 'Approve' }, { label: 'Reject', next: 1, requiresInput: true }],
    });
    expect(workflow?.phases[1]?.humanGate).toBeNull();
  });

  test('a gate that is written out is enough where another file only asks for a human', async () => {
    const loaded = await load({ [GATE]: SAID }, { human_approval_required: true });

    expect(errorsOf(loaded)).toEqual([]);
    expect(loaded.workflow?.phases[0]?.humanGate?.prompt).toBe('Good?');
  });

  test.each([
    ['allowed_tools: [rm]', '1:17 unknown_tool'],
    ['writes: src', '1:9 wrong_type'],
    ['next: 7', '1:7 unknown_phase'],
    ['postconditions:\n  - { check: nothing }', '2:14 unknown_check'],
    ['blockers:\n  - { check: files, with: { exist: [a] }, severity: warn }', '2:53 bad_value'],
    ['human: { prompt: ok }', '1:1 missing_key'],
    ['humann: { prompt: ok }\nnext: 2', '1:1 unknown_key'],
    ['human_gate: maybe', '1:13 bad_value'],
    ['human_gate: none', '1:13 missing_key'],
    ['human_approval_required: yes please', '1:26 wrong_type'],
    ['strikt: true\nhuman_approval_required: true', '1:1 unknown_key'],
    ['checkpoint: { human_aproval_required: true }\nnext: 2', '1:15 unknown_key'],
  ])('%j is refused where it stands', async (text, problem) => {
    const loaded = await load({ [GATE]: text });

    expect(loaded.workflow).toBeNull();
    expect(errorsOf(loaded)).toEqual([`workflows/demo/${GATE}:${problem}`]);
  });

  test('an unknown key lists the known ones; known ones without a meaning are noted', async () => {
    const unknown = await load({ [GATE]: 'evidence_schema: { a: { type: int } }\nhumn: true' });
    const known = await load({
      [GATE]: 'version: 1\nstrict: true\nallow_override: false\nevidence_schema: { a: { type: int } }',
    });

    expect(messagesOf(unknown, 'unknown_key')[0]).toMatch(/did you mean `human`.*known are.*evidence_schema/);
    expect(errorsOf(known)).toEqual([]);
    expect(messagesOf(known, 'no_meaning')).toHaveLength(3);
  });

  test('what two files say differently and cannot both hold is refused', async () => {
    const front = `---\nnext: 1\nwrites: ["src/**"]\nallowed_tools: [write_files]\n---\n${TEXT}`;
    const loaded = await load({ [GATE]: 'next: 2\nwrites: ["src/**"]', 'phases/1/phase.md': front });

    expect(errorsOf(loaded)).toEqual(['workflows/demo/phases/1/phase.md:2:7 conflict']);
  });
});

describe('a text that demands a human', () => {
  const asks = { 'phases/1/phase.md': `${TEXT}\n**Human Approval**: **REQUIRED**\n` };

  test('in a phase without a human gate is refused with its line', async () => {
    expect(errorsOf(await load(asks))).toEqual([
      'workflows/demo/phases/1/phase.md:7:1 approval_without_gate',
    ]);
    const task = await load({ 'phases/1/task-1.md': 'Wait for approval.', 'phases/1/phase.md': TEXT });
    expect(errorsOf(task)).toEqual(['workflows/demo/phases/1/task-1.md:1:1 approval_without_gate']);
  });

  test.each([
    'human_approval_required: true',
    'human: { prompt: ok, options: [{ label: Yes }] }',
    'human_gate: { prompt: ok, options: [{ label: Yes }] }',
    'human_gate: none\nhuman_gate_reason: the release team does it in their tracker',
    'human_gate: "none: the release team does it in their tracker"',
  ])('is answered by %s', async (gate) => {
    expect(errorsOf(await load({ ...asks, [GATE]: gate }))).toEqual([]);
  });

  test('`human_gate: none` beside an approval that is required is a contradiction', async () => {
    const gate = 'human_gate: none\nhuman_gate_reason: not needed\nhuman_approval_required: true';

    expect(errorsOf(await load({ ...asks, [GATE]: gate }))).toEqual([`workflows/demo/${GATE}:1:13 conflict`]);
  });
});

describe('where phase.md and the gate file disagree, both hold [C30]', () => {
  const table = (rows: string) =>
    `# Phase\n\nText\n\n| Evidence | Type | Validator | Description |\n|---|---|---|---|\n${rows}\n`;

  test.each([
    [
      '| `n` | int | greater_than_or_equal_4 | N |',
      'n: { type: integer }',
      { type: 'int', rule: 'present' },
      1,
    ],
    ['| `n` | int | positive | N |', 'n: { type: number }', { type: 'int', rule: 'positive' }, 0],
    ['| `n` | list | | N |', 'n: { type: list, validator: non_empty }', { rule: 'non_empty' }, 0],
    ['| `n` | bool | is_false | N |', 'n: { type: boolean }', { type: 'bool', rule: 'present' }, 1],
    ['| `n` | bool | is_true | N |', 'n: { type: boolean, false_ok: true }', { rule: 'is_true' }, 0],
    ['| `n` | bool | | true or false |', 'n: { type: boolean }', { rule: 'present' }, 0],
    ['| `m` | int | | M |', 'n: { type: int }', { name: 'n' }, 0],
  ])('%s with %s', async (row, schema, field, conditions) => {
    const loaded = await load({
      'phases/1/phase.md': table(row),
      [GATE]: `evidence_schema:\n  ${schema}`,
    });

    expect(errorsOf(loaded)).toEqual([]);
    expect(loaded.workflow?.phases[0]?.evidence.fields[0]).toMatchObject(field);
    expect(loaded.workflow?.phases[0]?.postconditions).toHaveLength(conditions);
    expect(messagesOf(loaded, 'evidence_differs').length).toBeGreaterThan(0);
  });

  test.each([
    ['| `n` | str | | N |', 'n: { type: list }'],
    ['| `n` | bool | is_false | N |', 'n: { type: boolean, validator: is_true }'],
  ])('%s with %s can never be provided, and is refused', async (row, schema) => {
    const loaded = await load({ 'phases/1/phase.md': table(row), [GATE]: `evidence_schema:\n  ${schema}` });

    expect(errorsOf(loaded)).toEqual(['workflows/demo/phases/1/phase.md:7:1 unsatisfiable']);
  });

  test('evidence that only metadata.json names is asked for', async () => {
    const loaded = await load({}, { checkpoint: { required_evidence: ['note_a', 'index_made'] } });

    expect(loaded.workflow?.phases[0]?.evidence).toMatchObject({
      fields: [{ name: 'note_a' }],
      artifacts: [{ type: 'index_made' }],
    });
  });
});

describe('a boolean of a folder must be true [C30]', () => {
  test.each([
    ['- Must provide `tests_pass`, a flag', 'is_true'],
    ['- Must provide `tests_pass`: boolean, true or false', 'present'],
    ['- Must provide `tests_pass` flag, optional', 'optional'],
    ...[
      'every test passes; this is not optional',
      'this isn’t optional',
      'this is not, in any way, optional',
      'not&nbsp;optional',
      'non-optional',
      'nothing here is optional',
      'optional? No.',
      'must not be true or false as you like',
    ].flatMap((words) => [
      [
        `| Evidence | Type | Validator | Description |\n|---|---|---|---|\n| tests_pass | bool | | ${words} |`,
        'is_true',
      ],
      [`- Must provide \`tests_pass\` flag; ${words}`, 'is_true'],
    ]),
    ['- Must provide `tests_pass`: boolean, true or false, not optional', 'present'],
    ['| Evidence | Type |\n|---|---|\n| tests_pass | bool |', 'is_true'],
    ['| Evidence | Type | Required |\n|---|---|---|\n| tests_pass | bool | no |', 'optional'],
  ])('%s', async (line, rule) => {
    const loaded = await load({ 'phases/1/phase.md': `Text\n\n${line}\n` });

    expect(errorsOf(loaded)).toEqual([]);
    expect(loaded.workflow?.phases[0]?.evidence.fields).toMatchObject([{ name: 'tests_pass', rule }]);
  });

  test.each([
    ['{ type: boolean }', 'is_true'],
    ['{ type: boolean, rule: present }', 'present'],
    ['{ type: boolean, false_ok: true }', 'present'],
    ['{ type: boolean, required: false }', 'optional'],
  ])('as a field %s of a gate file', async (field, rule) => {
    const loaded = await load({ 'phases/1/phase.md': 'Text', [GATE]: `evidence_schema: { b: ${field} }` });

    expect(loaded.workflow?.phases[0]?.evidence.fields).toMatchObject([{ name: 'b', rule }]);
  });
});

test('a sentence that introduces a list is not evidence; the names in the list are', async () => {
  const text =
    'Text\n\nBefore advancing you must provide:\n\n- `count_a`: the number of functions\n- a good mood\n';
  const loaded = await load({ 'phases/1/phase.md': text });

  expect(errorsOf(loaded)).toEqual([]);
  expect(loaded.workflow?.phases[0]?.evidence.fields).toMatchObject([{ name: 'count_a', type: 'int' }]);
});

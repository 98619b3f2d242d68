import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Known } from '@phasegate/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createYamlLoader } from './yamlLoader.ts';

const FIXTURES = fileURLToPath(new URL('../fixtures', import.meta.url));
const parameters = { type: 'object' };
const known: Known = {
  checks: {
    expression: {
      parameters: { type: 'object', required: ['condition'], properties: { condition: { type: 'string' } } },
      class: 'claimed',
      conditions: ['condition'],
    },
    tests_are_failing: { parameters, class: 'claimed' },
  },
};
const loader = createYamlLoader({ known });

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'phasegate-yaml-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

describe('a good contract', () => {
  test('written as maps or as lists, in either spelling, is the same workflow [S2.6 S2.11 S2.52 C6]', async () => {
    const maps = await loader.load({ root: FIXTURES, path: 'five-phases/map.workflow.yaml' });
    const lists = await loader.load({ root: FIXTURES, path: 'five-phases/lists.workflow.yaml' });

    expect(maps.problems.filter((problem) => problem.severity === 'error')).toEqual([]);
    expect(maps.workflow?.phases.map((phase) => phase.id)).toEqual([
      'PLAN',
      'TDD',
      'IMPL',
      'REVIEW',
      'COMPLETE',
    ]);
    expect(maps.workflow).toMatchObject({ id: 'tdd', version: '1.10', enforcement: { tokenSeconds: 3600 } });
    expect(lists.problems.filter((problem) => problem.severity === 'error')).toEqual([]);
    expect(lists.workflow).toEqual(maps.workflow);
  });

  test('every field arrives where it belongs', async () => {
    const { workflow } = await loader.load({ root: FIXTURES, path: 'five-phases/map.workflow.yaml' });

    const [plan, tdd, impl, review, complete] = workflow?.phases ?? [];
    expect(plan).toMatchObject({
      name: 'Plan',
      instructions: 'Read the code.\nWrite the plan.\n',
      tools: { allowed: ['read_files', 'list_files', 'grep'], forbidden: ['bash'] },
      tasks: [{ name: 'Look', acceptanceCriteria: ['Files are named'] }],
      preconditions: [{ use: 'expression', message: 'Only the full mode' }],
      evidence: {
        artifacts: [
          { type: 'plan', schema: { required: ['summary'] } },
          { type: 'scope', schema: null },
        ],
      },
      next: { kind: 'to', target: 'TDD' },
    });
    expect(tdd).toMatchObject({
      writes: ['test/**'],
      tools: { constraints: { write_files: { allowed: ['test/**'], denied: ['test/fixtures/**'] } } },
      blockers: [
        { use: 'tests_are_failing', message: 'Tests must fail first', with: { artifact: 'test_run_result' } },
      ],
      next: { kind: 'to', target: 'IMPL' },
    });
    expect(impl).toMatchObject({
      evidence: {
        fields: [
          { name: 'function_count', type: 'int', rule: 'positive' },
          { name: 'commands', type: 'list' },
        ],
      },
      next: { map: { ok: 'REVIEW', fail: 'PLAN' }, otherwise: 'REVIEW', maxIterations: 2, onExhausted: null },
    });
    expect(review).toMatchObject({
      postconditions: [{ label: 'decided', message: 'Say what you decided' }],
      humanGate: {
        id: 'ship',
        quorum: 2,
        approvers: ['ada', 'grace'],
        timeout: { afterSeconds: 86_400, afterwards: 'park' },
      },
      next: { kind: 'when', onTrue: 'COMPLETE', onFalse: 'IMPL', maxIterations: 3 },
    });
    expect(complete?.next).toEqual({ kind: 'to', target: null });
    expect(workflow?.params.mode).toMatchObject({ default: 'full', domain: { kind: 'choice_set' } });
  });

  test('names the files it was made of', async () => {
    const { files } = await loader.load({ root: FIXTURES, path: 'five-phases/map.workflow.yaml' });

    expect(Object.keys(files)).toEqual(['five-phases/map.workflow.yaml', 'five-phases/schemas/plan.json']);
    expect(Object.values(files).every((hash) => /^[0-9a-f]{64}$/.test(hash))).toBe(true);
  });

  test('an id is a number if it is all digits, and an empty phase is a phase [C2]', async () => {
    const { workflow, problems } = await loader.load({ root: FIXTURES, path: 'good/numbers.workflow.yaml' });

    expect(problems).toEqual([]);
    expect(workflow?.phases.map((phase) => [phase.id, phase.number])).toEqual([
      [0, 0],
      [1, 1],
      [2, 2],
    ]);
    expect(workflow?.phases[1]?.next).toEqual({ kind: 'to', target: 2 });
  });

  test('commands, other agents, parallel items and the advisory mode [C4 C9]', async () => {
    const { workflow } = await loader.load({ root: FIXTURES, path: 'good/work.workflow.yaml' });

    expect(workflow).toMatchObject({
      entry: '1A',
      enforcement: { mode: 'permissive' },
      params: { tries: { domain: { kind: 'bounded_int', lo: 1, hi: 5 }, required: true } },
      phases: [
        { id: '1A', work: { kind: 'command', command: 'npm run build' } },
        { id: 2, work: { kind: 'dispatch', supportsQuestions: true }, parallel: { key: 'areas' } },
      ],
    });
  });

  test.each([
    ['lease_seconds', 'max_reclaims'],
    ['leaseSeconds', 'maxReclaims'],
  ])('what an agent must be able to do, and how it is replaced, with `%s` and `%s`', async (lease, most) => {
    const { workflow, problems } = await load(
      `workflow: x\ncapabilities: [node, code.review]\nenforcement: { ${lease}: 90, ${most}: 0 }\nphases: { A: }\n`,
    );

    expect(problems).toEqual([]);
    expect(workflow).toMatchObject({
      capabilities: ['node', 'code.review'],
      enforcement: { leaseSeconds: 90, maxReclaims: 0 },
    });
  });

  test.each(['set_by', 'setBy'])('what is kept for humans, with `%s` [adv.N14]', async (key) => {
    const { workflow, problems } = await load(
      `workflow: x\nstart: human\nparams: { limit: { default: 3, ${key}: human }, tone: { type: string, ${key}: anyone } }\nphases: { A: }\n`,
    );

    expect(problems).toEqual([]);
    expect(workflow).toMatchObject({ start: 'human', params: { limit: { setBy: 'human' } } });
    expect(workflow?.params.tone).not.toHaveProperty('setBy');
    expect((await load('workflow: x\nstart: humans\nphases: { A: }\n')).problems).toMatchObject([
      { line: 2, column: 8 },
    ]);
  });

  test('a byte order mark, CRLF and any script are read; arrows and emoji mean nothing [C16]', async () => {
    const text =
      '\uFEFFworkflow: unicode\r\ntitle: "Prüfen → 完了 🎉"\r\nphases:\r\n  Entwurf:\r\n    next: FEHLT\r\n';

    const { problems } = await load(text);

    expect(problems).toMatchObject([{ line: 5, column: 11, code: 'unknown_phase' }]);
    expect((await load(text.replace('FEHLT', 'null'))).workflow?.title).toBe('Prüfen → 完了 🎉');
  });

  test('a listing shows id, title and phases without more', async () => {
    const listed = await loader.peek({ root: FIXTURES, path: 'five-phases/lists.workflow.yaml' });

    expect(listed).toEqual({
      id: 'tdd',
      title: 'Test-driven change',
      phases: ['PLAN', 'TDD', 'IMPL', 'REVIEW', 'COMPLETE'],
      problems: [],
    });
  });
});

describe('a contract with mistakes', () => {
  test('is told where what it asks of agents cannot be', async () => {
    const { problems } = await load(
      [
        'workflow: x',
        'capabilities: [node, "two words"]',
        'enforcement:',
        '  lease_seconds: 0',
        '  max_reclaims: 101',
        '  lease_second: 5',
        'phases: { A: }',
        '',
      ].join('\n'),
    );

    expect(problems.map(({ line, column, code }) => `${line}:${column} ${code}`)).toEqual([
      '2:22 bad_value',
      '4:18 bad_value',
      '5:17 bad_value',
      '6:3 unknown_key',
    ]);
    expect(problems[0]?.message).toContain('`two words` is not a capability');
    expect((await load('workflow: x\ncapabilities: node\nphases: { A: }\n')).problems).toMatchObject([
      { line: 2, column: 15, code: 'wrong_type' },
    ]);
  });

  test('gives a line for each of ten, with its place [S2.84 S2.85]', async () => {
    const { workflow, problems } = await loader.load({
      root: FIXTURES,
      path: 'broken/ten-mistakes.workflow.yaml',
    });

    expect(workflow).toBeNull();
    expect(problems.map(({ line, column, code }) => `${line}:${column} ${code}`)).toEqual([
      '2:8 wrong_type',
      '4:25 unknown_tool',
      '6:9 file_unreadable',
      '7:16 bad_schema',
      '8:1 unknown_key',
      '11:30 unknown_tool',
      '12:13 wrong_type',
      '15:32 unknown_schema',
      '16:11 unknown_phase',
      '19:18 unknown_check',
      '21:7 unbounded_loop',
      '21:35 bad_condition',
    ]);
    expect(problems.find((problem) => problem.code === 'unknown_key')?.message).toContain('`enforcement`');
    expect(problems.find((problem) => problem.code === 'wrong_type')?.message).toBe(
      '`title` must be text, not `7`',
    );
  });

  test('says one thing about a value that may be several, by what it was meant to be', async () => {
    const { problems } = await load(
      'workflow: x\nphases:\n  A: { next: [B] }\n  B: { next: { ok: A, failed: A } }\n  C: { next: { condition: 1, other: 2 } }\n',
    );

    expect(problems.map(({ line, code, message }) => [line, code, message])).toEqual([
      [3, 'wrong_type', '`next` must be text, a number, `null` or a map, not a list'],
      [4, 'unknown_key', 'unknown key `failed` (did you mean `fail`?)'],
      [5, 'missing_key', '`on_true` is missing'],
      [5, 'missing_key', '`on_false` is missing'],
      [5, 'wrong_type', '`condition` must be text, not `1`'],
      [5, 'unknown_key', 'unknown key `other`'],
    ]);
  });

  test('reports a phase defined twice with both places, in maps and in lists', async () => {
    const map = await load('workflow: x\nphases:\n  A: {}\n  B: {}\n  A: {}\n');
    const list = await load('workflow: x\nphases:\n  - id: 1\n  - id: 2\n  - id: "1"\n');

    expect(map.problems).toMatchObject([
      {
        line: 5,
        column: 3,
        code: 'duplicate_phase',
        message: 'phase `A` is defined twice; the first is at 3:3',
      },
    ]);
    expect(list.problems).toMatchObject([
      {
        line: 5,
        column: 9,
        code: 'duplicate_phase',
        message: 'phase `1` is defined twice; the first is at 3:9',
      },
    ]);
  });

  test('points into conditions, whatever they are written in', async () => {
    const conditions = [
      'result.x ==== 1',
      '"result.x ==== 1"',
      "'result.x ==== 1'",
      '"result.\\u0078 ==== 1"',
      '|-\n        result.x ==== 1',
    ];
    const places = [];
    for (const condition of conditions) {
      const { problems } = await load(
        `workflow: x\nphases:\n  A:\n    next:\n      condition: ${condition}\n      onTrue: null\n      onFalse: A\n`,
      );
      const bad = problems.filter(({ code }) => code === 'bad_condition');
      places.push(bad.map(({ line, column }) => [line, column]));
    }

    expect(places).toEqual([[[5, 30]], [[5, 31]], [[5, 31]], [[5, 36]], [[6, 21]]]);
  });

  test('still finds wrong meaning elsewhere, and blames nothing on what a broken phase might have said', async () => {
    const { problems } = await load(
      'workflow: x\nphases:\n  A: { nxt: C }\n  B: { allowed_tools: [nothing] }\n  C: { gate: none }\n',
    );

    expect(problems.map(({ line, code }) => [line, code])).toEqual([
      [3, 'unknown_key'],
      [4, 'unknown_tool'],
      [5, 'unknown_gate'],
    ]);
  });

  test('a mistake in a gate two phases share is reported once', async () => {
    const { problems } = await load(
      'workflow: x\ngates: { g: { blockers: [{ check: nope }] } }\nphases: { A: { gate: g }, B: { gate: g } }\n',
    );

    expect(problems.map(({ line, column, code }) => [line, column, code])).toEqual([
      [2, 35, 'unknown_check'],
    ]);
  });
});

test('only contracts are its files', () => {
  const yes = ['agent_workflow.yaml', 'agent_workflow.yml', 'a/b.workflow.yaml', 'x.workflow.yml'];
  const no = [
    'workflow.yaml',
    'docker-compose.yml',
    'x.workflow.ts',
    'my_agent_workflow.yaml',
    '.workflow.yaml',
  ];

  expect([...yes, ...no].filter((path) => loader.accepts(path))).toEqual(yes);
});

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

async function load(text: string, path = 'x.workflow.yaml') {
  await put(path, text);
  return loader.load({ root, path });
}

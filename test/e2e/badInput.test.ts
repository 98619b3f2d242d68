import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { type Called, makeProject, phasegate, type TestProject } from './cli.ts';

test('`validate` prints ten lines for ten mistakes, each with its place [S2.84]', async () => {
  const project = makeProject({ 'ten.workflow.yaml': TEN_MISTAKES });

  const called = await phasegate(project, ['validate', 'ten.workflow.yaml']);
  const { json, code } = await phasegate(project, ['validate', 'ten.workflow.yaml', '--json']);

  const expected: readonly (readonly [place: string, words: string])[] = [
    ['4:9', 'schema file `schemas/missing.json` does not exist'],
    ['5:18', '`objekt`'],
    ['6:1', 'unknown key `enforcment` (did you mean `enforcement`?)'],
    ['9:33', '`raed_files` (did you mean `read_files`?)'],
    ['16:11', 'there is no gate `ship`'],
    ['20:35', 'the condition does not parse'],
    ['22:16', 'leads to `NOWHERE`, which is not defined'],
    ['27:50', '`nothing` is nothing a condition can look at'],
    ['29:3', 'phase `PLAN` is defined twice; the first is at 8:3'],
    ['31:3', 'phase `ORPHAN` cannot be reached'],
  ];
  // Below each, the line it is in, with a caret.
  const lines = called.stdout
    .trimEnd()
    .split('\n')
    .filter((line) => !line.startsWith(' '));
  expect(lines.map((line) => /^ten\.workflow\.yaml:(\d+:\d+): ./.exec(line)?.[1])).toEqual(
    expected.map(([place]) => place),
  );
  for (const [index, [, words]] of expected.entries()) expect(lines[index]).toContain(words);
  expect(called.code).toBe(2);
  expect(code).toBe(2);
  expect(json.valid).toBe(false);
  const problems = json.problems as readonly JsonObject[];
  expect(problems.map(({ file, line, column }) => `${file}:${line}:${column}`)).toEqual(
    expected.map(([place]) => `ten.workflow.yaml:${place}`),
  );
  expect(problems.every((problem) => typeof problem.code === 'string')).toBe(true);
});

describe('a definition is refused with exit 2 and its place', () => {
  const only = (phase: string, more = '') => `workflow: bad\n${more}phases:\n  A: ${phase}\n`;

  // The wrong place is marked with `»`, which is taken out before the file is written.
  test.each([
    ['an unknown key', only('{ writes: [], »instrutions: x }'), 'did you mean `instructions`?'],
    ['two phases of one id', `${only('{ writes: [] }')}  »A: { writes: [] }\n`, 'defined twice'],
    [
      'two phases of one id in a list',
      'workflow: bad\nphases:\n  - { id: A, writes: [] }\n  - { id: »A, writes: [] }\n',
      'defined twice',
    ],
    [
      'an unreachable phase',
      `${only('{ writes: [], next: null }')}  »B: { writes: [] }\n`,
      'cannot be reached',
    ],
    [
      'a schema file that is not there',
      only('{ writes: [], required_artifacts: [{ type: x, schema: »no.json }] }'),
      '`no.json` does not exist',
    ],
    [
      'a schema that is none',
      only('{ writes: [], required_artifacts: [{ type: x, schema: { minimum: »low } }] }'),
      '`minimum`',
    ],
    [
      'a condition that does not parse',
      only('{ writes: [], postconditions: [{ check: expression, with: { condition: "1 <»" } }] }'),
      'does not parse',
    ],
    [
      'a condition that calls something',
      only('{ writes: [], postconditions: [{ check: expression, with: { condition: "process.exit»()" } }] }'),
      'the only call',
    ],
    [
      'a condition about a field no schema has',
      only(
        '{ writes: [], required_artifacts: [{ type: n, schema: { properties: { titles: {} }, additionalProperties: false } }],' +
          ' postconditions: [{ check: expression, with: { condition: "»n.tiltes === 1" } }] }',
      ),
      'has no `tiltes` (did you mean `titles`?)',
    ],
    ['an unknown check', only('{ writes: [], postconditions: [{ check: »looks_good }] }'), '`looks_good`'],
    ['a list that does not end', 'workflow: bad\nphases: [\n»', 'not YAML'],
    ['a value where a map belongs', 'workflow: bad\nphases: »7\n', '`phases`'],
    ['nothing at all', '»', 'empty'],
    ['an alias inside what it names', 'workflow: bad\nphases: &p\n  A: { writes: [] }\n  B: »*p\n', 'alias'],
    ['a scope that leaves the workspace', only('{ writes: [»"../**"] }'), '..'],
  ])('where it has %s', async (_, marked, words) => {
    const project = makeProject({ 'bad.workflow.yaml': marked.replace('»', '') });

    const validated = await phasegate(project, ['validate', 'bad.workflow.yaml']);
    const started = await phasegate(project, ['start', 'bad', '--json']);

    const before = marked.slice(0, marked.indexOf('»')).split('\n');
    const place = `${before.length}:${(before.at(-1) ?? '').length + 1}`;
    expect(validated.stdout).toContain(`bad.workflow.yaml:${place}: `);
    expect(validated.stdout).toContain(words);
    expectClear(validated, 2);
    expectClear(started, 2);
    expect(started.json).toMatchObject({ error: 'workflow_invalid' });
  });
});

describe('a file is refused with exit 2', () => {
  const named = (schema: string) =>
    `workflow: bad\nphases:\n  A: { writes: [], required_artifacts: [{ type: x, schema: ${schema} }] }\n`;

  test('where a schema leads back to itself', async () => {
    const project = makeProject({
      'bad.workflow.yaml': named('s.json'),
      's.json':
        '{ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } } }',
    });

    const called = await refused(project);

    expect(called.stdout).toMatch(/^s\.json:1:\d+: .*leads back to itself/);
  });

  test('where schema files name each other', async () => {
    const project = makeProject({
      'bad.workflow.yaml': named('a.json'),
      'a.json': '{ "$ref": "b.json" }',
      'b.json': '{ "$ref": "a.json" }',
    });

    expect((await refused(project)).stdout).toMatch(/^a\.json:1:11: .*`b\.json`.*outside this schema/);
  });

  test('where links lead in a circle, and folders that do are not walked for ever', async () => {
    const project = makeProject({ 'workflows/good.workflow.yaml': GOOD });
    symlinkSync('b.workflow.yaml', join(project.root, 'a.workflow.yaml'));
    symlinkSync('a.workflow.yaml', join(project.root, 'b.workflow.yaml'));
    mkdirSync(join(project.root, 'workflows/deep'));
    symlinkSync('..', join(project.root, 'workflows/deep/up'));

    expectClear(await phasegate(project, ['validate', 'a.workflow.yaml']), 2);
    expect((await phasegate(project, ['list', '--json'])).json.workflows).toMatchObject([
      { id: 'good', path: 'workflows/good.workflow.yaml' },
    ]);
  });

  test('of 10 MB, and the others are listed all the same', async () => {
    const project = makeProject({
      'good.workflow.yaml': GOOD,
      'bad.workflow.yaml': '#'.repeat(10 * 1024 * 1024),
    });

    expect((await refused(project)).stdout).toContain('10485760 bytes');
    expect((await phasegate(project, ['list', '--json'])).json.workflows).toMatchObject([
      { id: 'bad', problems: [{ code: 'too_large' }] },
      { id: 'good', problems: [] },
    ]);
    expectClear(await phasegate(project, ['start', 'good']), 0);
  });

  test('of 10 MB that it names as a schema', async () => {
    const project = makeProject({
      'bad.workflow.yaml': named('s.json'),
      's.json': `{ "title": "${'x'.repeat(10 * 1024 * 1024)}" }`,
    });

    expect((await refused(project)).stdout).toContain('bad.workflow.yaml:3:60: ');
  });

  test('with a NUL byte', async () => {
    const project = makeProject({ 'bad.workflow.yaml': 'workflow: bad\nphases:\n  A: { wri\0tes: [] }\n' });

    expect((await refused(project)).stdout).toContain('bad.workflow.yaml:3:11: ');
  });

  test('that is not UTF-8', async () => {
    const project = makeProject();
    project.write('bad.workflow.yaml', Buffer.from('workflow: bad\n# \xe4\xf6\xfc\n', 'latin1'));

    expect((await refused(project)).stdout).toContain('bad.workflow.yaml:2:1: ');
  });

  test('nested deeper than anyone writes, and one that grows without end', async () => {
    const project = makeProject({
      'bad.workflow.yaml': `workflow: bad\nphases:\n  A: ${'{x: '.repeat(20_000)}`,
    });
    await refused(project);

    const letters = [...'bcdefghij'];
    const lines = letters.map((name, index) => {
      const inner = `*${index === 0 ? 'a' : letters[index - 1]}`;
      return `${name}: &${name} [${Array(9).fill(inner).join(', ')}]`;
    });
    project.write(
      'bad.workflow.yaml',
      ['workflow: bad', 'a: &a [x, x]', ...lines, 'phases: *j', ''].join('\n'),
    );
    await refused(project);
  });

  test('outside the project, by path or by link', async () => {
    const project = makeProject({ 'bad.workflow.yaml': named('../secret.json') });
    writeFileSync(join(project.base, 'secret.json'), '{ "type": "object", "title": "the secret" }');
    writeFileSync(join(project.base, 'outside.workflow.yaml'), GOOD);
    symlinkSync('../secret.json', join(project.root, 'link.json'));
    symlinkSync('..', join(project.root, 'up'));
    symlinkSync('../outside.workflow.yaml', join(project.root, 'linked.workflow.yaml'));

    for (const schema of [
      '../secret.json',
      'link.json',
      'up/secret.json',
      join(project.base, 'secret.json'),
    ]) {
      project.write('bad.workflow.yaml', named(schema));
      const called = await refused(project);
      expect(called.stdout).toMatch(/^bad\.workflow\.yaml:3:60: .* leaves the project/);
      expect(called.stdout).not.toContain('the secret');
    }
    for (const path of ['../outside.workflow.yaml', 'linked.workflow.yaml', 'up/outside.workflow.yaml']) {
      expectClear(await phasegate(project, ['validate', path]), 2);
      expect((await phasegate(project, ['start', path])).code).toBeGreaterThan(0);
    }
    const listed = (await phasegate(project, ['list', '--json'])).json.workflows;
    expect(listed).toMatchObject([{ path: 'bad.workflow.yaml' }]);
  });

  test('that is not there', async () => {
    const project = makeProject({ 'good.workflow.yaml': GOOD });

    const called = await phasegate(project, ['validate', 'none.workflow.yaml', '--json']);

    expectClear(called, 2);
    expect(called.json).toMatchObject({ error: 'file_unreadable' });
    expect(called.json.message).toContain('none.workflow.yaml');
  });
});

describe('a config is refused with exit 2', () => {
  test.each([
    ['has an unknown key', 'phasegate.config.yaml', 'prot: 8000\n', '1:1', 'did you mean `port`?'],
    ['is no JSON', 'phasegate.config.json', '{ "workflows": [', '1:', 'phasegate.config.json'],
    ['has a value of the wrong kind', 'phasegate.config.json', '{ "port": "high" }', '1:', 'port'],
    ['is 10 MB', 'phasegate.config.yaml', '# x\n'.repeat(2_500_000), '', 'limit'],
    ['holds a NUL byte', 'phasegate.config.yaml', 'port: 80\0\n', '', 'NUL'],
    ['names globs that leave the project', 'phasegate.config.yaml', 'workflows: ["../**"]\n', '', '..'],
  ])('that %s', async (_, file, text, place, words) => {
    const project = makeProject({ 'good.workflow.yaml': GOOD, [file]: text });

    const called = await phasegate(project, ['list']);

    expectClear(called, 2);
    expect(called.stderr).toContain(place === '' ? file : `${file}:${place}`);
    expect(called.stderr).toContain(words);
    expect((await phasegate(project, ['list', '--json'])).json).toMatchObject({ error: 'config_invalid' });
  });
});

const GOOD = 'workflow: good\nphases:\n  A: { writes: [] }\n';

const TEN_MISTAKES = `workflow: ten
title: Ten mistakes
schemas:
  plan: schemas/missing.json
  notes: { type: objekt }
enforcment: { mode: strict }
phases:
  PLAN:
    allowed_tools: [read_files, raed_files]
    writes: []
    required_artifacts:
      - { type: plan, schema: plan }
    next: BUILD
  BUILD:
    writes: []
    gate: ship
    required_artifacts:
      - { type: notes, schema: notes }
    next:
      condition: "result.notes ==== 1"
      onTrue: CHECK
      onFalse: NOWHERE
      maxIterations: 3
  CHECK:
    writes: []
    postconditions:
      - { check: expression, with: { condition: "nothing.there === 1" } }
    next: null
  PLAN:
    writes: []
  ORPHAN:
    writes: []
    next: null
`;

async function refused(project: TestProject): Promise<Called> {
  const called = await phasegate(project, ['validate', 'bad.workflow.yaml']);
  expectClear(called, 2);
  const { json, code } = await phasegate(project, ['validate', 'bad.workflow.yaml', '--json']);
  expect(code).toBe(2);
  expect(json).toMatchObject({ valid: false });
  return called;
}

/** Says something of its own in the user's words: no stack, no fault of ours. */
function expectClear(called: Called, code: number): void {
  const said = `${called.stdout}${called.stderr}`;
  expect({ code: called.code, said }).toEqual({ code, said });
  expect(said).not.toMatch(/\n\s+at /);
  expect(said).not.toContain('internal');
  expect(said.trim()).not.toBe('');
}

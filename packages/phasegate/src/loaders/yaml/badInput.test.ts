import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createYamlLoader } from './yamlLoader.ts';

const loader = createYamlLoader({ known: { checks: {} } });

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'phasegate-yaml-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

describe('a file that is not a contract', () => {
  test.each([
    ['', 1, 1, 'empty_file'],
    ['# only a comment\n', 1, 1, 'empty_file'],
    ['- a\n- b\n', 1, 1, 'wrong_type'],
    ['just text', 1, 1, 'wrong_type'],
    ['workflow: x\nphases: {A: {\n', 3, 1, 'syntax'],
    ['workflow: x\n\tphases: {}\n', 2, 1, 'syntax'],
    ['workflow: x\n---\nworkflow: y\n', 2, 1, 'several_documents'],
    ['workflow: !include x\nphases: {A: {}}\n', 1, 11, 'syntax'],
    ['workflow: x\nphases: {A: {}}\nparams: &a {b: *a}\n', 3, 16, 'syntax'],
    ['workflow: x\nphases: {A: {}}\n__proto__: {}\n', 3, 1, 'bad_key'],
    ['workflow: x\nparams: {n: {max: .inf}}\nphases: {A: {}}\n', 2, 19, 'bad_value'],
    ['workflow: x\nphases:\n  A:\n    network: {hosts: [a.example, "https://b"]}\n', 4, 34, 'bad_value'],
    [`workflow: x\nphases: ${'['.repeat(20_000)}`, 1, 1, 'syntax'],
  ])('%j is refused at its place', async (text, line, column, code) => {
    const { workflow, problems } = await load(text);

    expect(workflow).toBeNull();
    expect(problems.map((problem) => problem.code)).toContain(code);
    if (text.length < 1000) expect(problems[0]).toMatchObject({ line, column, code, severity: 'error' });
  });

  test('10 MB, NUL bytes, other encodings, folders and missing files are refused before they are parsed', async () => {
    const refusal = async (content: Buffer | string) => {
      await writeFile(join(root, 'a.workflow.yaml'), content);
      const { problems } = await loader.load({ root, path: 'a.workflow.yaml' });
      return problems.map(({ line, column, code }) => [line, column, code]);
    };

    expect(await refusal(Buffer.alloc(10_000_000, 32))).toEqual([[1, 1, 'too_large']]);
    expect(await refusal('workflow: x\nti\0le: y\n')).toEqual([[2, 3, 'nul_byte']]);
    expect(await refusal(Buffer.from('workflow: x\ntitle: \xe9\n', 'latin1'))).toEqual([[2, 1, 'not_utf8']]);
    await mkdir(join(root, 'b.workflow.yaml'));
    expect((await loader.load({ root, path: 'b.workflow.yaml' })).problems).toMatchObject([
      { code: 'file_unreadable' },
    ]);
    expect((await loader.load({ root, path: 'c.workflow.yaml' })).problems).toMatchObject([
      { code: 'file_unreadable' },
    ]);
    expect((await loader.load({ root, path: '../c.workflow.yaml' })).problems).toMatchObject([
      { code: 'path_outside' },
    ]);
  });

  test('an alias bomb is refused without being set off', async () => {
    const levels = Array.from(
      { length: 12 },
      (_, n) =>
        `l${n}: &l${n} [${Array(9)
          .fill(n === 0 ? 'x' : `*l${n - 1}`)
          .join(', ')}]`,
    );

    const { problems } = await load(
      `workflow: x\nparams:\n${levels.map((line) => `  ${line}\n`).join('')}phases: {A: {}}\n`,
    );

    expect(problems.filter((problem) => problem.code === 'too_large')).toHaveLength(1);
  });
});

test.each([
  ['{ on_empty: B }', 'on_empty', 1],
  ['{ onEmpty: B }', 'onEmpty', 1],
  ['{ parallel: false, on_empty: B }', 'on_empty', 1],
  ['{ parallel: true, parallel_key: items, on_empty: B }', 'on_empty', 0],
])('`on_empty` on a phase that is not parallel is a problem at its place: %s', async (phase, key, count) => {
  const text = `workflow: x\nparams: { items: { type: list, default: [] } }\nphases:\n  A: ${phase}\n  B: {}\n`;
  const { problems } = await load(text);

  const found = problems.filter(({ code }) => code === 'conflict');
  expect(found).toHaveLength(count);
  for (const problem of found) {
    expect(problem).toMatchObject({ line: 4, message: `\`${key}\` needs \`parallel: true\` beside it` });
    expect(problem.column).toBeGreaterThan(6);
  }
});

describe('a schema by path', () => {
  test('is read from beside the contract, as JSON or YAML, and its mistakes have its own places', async () => {
    await put('flows/schemas/a.yaml', 'type: object\nproperties:\n  n: { type: intger }\n');
    await put('flows/schemas/b.json', '{\n  "type": "object",\n}\n');
    const text = 'workflow: x\nschemas: { a: schemas/a.yaml, b: schemas/b.json }\nphases:\n  A: {}\n';

    const { problems, files } = await load(text, 'flows/x.workflow.yaml');

    expect(problems.map(({ file, line, column, code }) => [file, line, column, code])).toEqual([
      ['flows/schemas/a.yaml', 3, 14, 'bad_schema'],
      ['flows/schemas/b.json', 3, 1, 'syntax'],
    ]);
    expect(Object.keys(files)).toEqual([
      'flows/x.workflow.yaml',
      'flows/schemas/a.yaml',
      'flows/schemas/b.json',
    ]);
  });

  test.each([
    '../../outside.json',
    '/etc/passwd.json',
    'C:/x.json',
    'link/outside.json',
    'direct.json',
    'a\\\\..\\\\b.json',
  ])('`%s` leaves the project and is not read', async (path) => {
    const outside = await mkdtemp(join(tmpdir(), 'phasegate-outside-'));
    await writeFile(join(outside, 'outside.json'), '{}');
    await mkdir(join(root, 'flows'));
    await symlink(outside, join(root, 'flows', 'link'));
    await symlink(join(outside, 'outside.json'), join(root, 'flows', 'direct.json'));

    const { problems, files } = await load(
      `workflow: x\nschemas: { a: "${path}" }\nphases: { A: {} }\n`,
      'flows/x.workflow.yaml',
    );

    expect(problems).toMatchObject([{ line: 2, column: 15, code: 'path_outside' }]);
    expect(Object.keys(files)).toEqual(['flows/x.workflow.yaml']);
    await rm(outside, { recursive: true });
  });

  test('may not refer to another file, so no circle of files can arise', async () => {
    await put('a.json', '{ "$ref": "b.json" }');
    await put('b.json', '{ "$ref": "a.json" }');

    const { problems } = await load('workflow: x\nschemas: { a: a.json }\nphases: { A: {} }\n');

    expect(problems).toMatchObject([{ file: 'a.json', line: 1, column: 11, code: 'bad_schema' }]);
    expect(problems[0]?.message).toContain('$defs');
  });

  test('must be a schema file', async () => {
    await put('list.json', '[]');
    await put('.env', 'SECRET=1');

    const { problems } = await load(
      'workflow: x\nschemas: { a: list.json, b: .env, c: none.json }\nphases: { A: {} }\n',
    );

    expect(problems.map(({ file, code }) => [file, code])).toEqual([
      ['x.workflow.yaml', 'bad_schema'],
      ['x.workflow.yaml', 'file_unreadable'],
      ['list.json', 'bad_schema'],
    ]);
    expect(JSON.stringify(problems)).not.toContain('SECRET');
  });
});

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

async function load(text: string, path = 'x.workflow.yaml') {
  await put(path, text);
  return loader.load({ root, path });
}

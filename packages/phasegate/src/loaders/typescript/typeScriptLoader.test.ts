import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Known, Workflow } from '@phasegate/core';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Functions } from '../../runtime/ports.ts';
import { createYamlLoader } from '../yaml/yamlLoader.ts';
import { OPEN_GATE } from './fixtures/openGate.ts';
import { createFunctions } from './functionHost.ts';
import { createTypeScriptLoader } from './typeScriptLoader.ts';

const FIXTURES = fileURLToPath(new URL('../fixtures', import.meta.url));
const EDITING = fileURLToPath(new URL('../../../../../examples/w1-editing', import.meta.url));
const DESIGNS = fileURLToPath(new URL('../../../../sdk/src/fixtures', import.meta.url));
const parameters = { type: 'object' };
const known: Known = {
  checks: {
    expression: { parameters, class: 'claimed', conditions: ['condition'] },
    tests_are_failing: { parameters, class: 'claimed' },
  },
};

const open: Functions[] = [];
let folder: string;
let root: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'phasegate-ts-'));
  root = join(folder, 'project');
  await mkdir(root);
});
afterEach(() => rm(folder, { recursive: true, force: true }));
afterAll(() => Promise.all(open.map((functions) => functions.close())));

describe('loading', () => {
  test('the same five phases in code and in YAML are the same workflow [S3.7 S4.1 C6]', async () => {
    const yaml = createYamlLoader({ known });

    const inCode = await loaderFor(FIXTURES).load({ root: FIXTURES, path: 'five-phases/code.workflow.ts' });
    const asMaps = await yaml.load({ root: FIXTURES, path: 'five-phases/map.workflow.yaml' });
    const asLists = await yaml.load({ root: FIXTURES, path: 'five-phases/lists.workflow.yaml' });

    expect(inCode.problems.filter((problem) => problem.severity === 'error')).toEqual([]);
    expect(inCode.workflow).toEqual(asMaps.workflow);
    expect(withoutCode(inCode.workflow)).toEqual(withoutCode(asLists.workflow));
    expect(Object.keys(inCode.files)).toEqual([
      'five-phases/code.workflow.ts',
      'five-phases/schemas/plan.json',
    ]);
  });

  test('design 3 loads from its module, bound to the code of its functions [S3.55 S3.56]', async () => {
    const { workflow, problems, files } = await loaderFor(EDITING).load({
      root: EDITING,
      path: 'w1.workflow.ts',
    });

    expect(problems.filter((problem) => problem.severity === 'error')).toEqual([]);
    expect(workflow).toMatchObject({
      id: 'w1_editing',
      module: 'w1.workflow.ts',
      entry: 'strategic-planning',
    });
    expect(workflow?.code).toMatch(/^[0-9a-f]{64}$/);
    expect(workflow?.phases).toHaveLength(8);
    expect(Object.keys(files)).toEqual(['w1.workflow.ts']);
  });

  test.each(['linear', 'confidence', 'mode', 'qr', 'hybrid'])(
    'pattern %s of design 4 loads from its module [S4.26 S4.38 S4.39 S4.40 S4.41]',
    async (name) => {
      const { workflow, problems } = await loaderFor(DESIGNS).load({
        root: DESIGNS,
        path: `${name}.workflow.ts`,
      });

      expect(problems.filter((problem) => problem.severity === 'error')).toEqual([]);
      expect(workflow?.phases.length).toBeGreaterThan(1);
    },
  );

  test('problems stand where the source says what is wrong [S3.78]', async () => {
    await put(
      'x.workflow.ts',
      `import { defineWorkflow } from '@phasegate/sdk';

const type: string = 'x';
export default defineWorkflow({
  type,
  steps: [
    { name: 'a', next: { condition: 'result.x ==== 1', onTrue: 'b', onFalse: 'nowhere' } },
    {
      name: 'b',
      postcondition: [],
      postconditions: [{ name: 'n', check: 'nothing_known' }],
      humanGate: { prompt: 'p', options: [{ label: 'l', nextStep: 'gone' }] },
      next: { ok: 'gone', fail: 'a' },
    },
  ],
});
`,
    );

    const { workflow, problems } = await load('x.workflow.ts');

    expect(workflow).toBeNull();
    expect(problems.map(({ line, column, code }) => `${line}:${column} ${code}`)).toEqual([
      '7:50 bad_condition',
      '7:78 unknown_phase',
      '10:22 unknown_key',
      '11:44 unknown_check',
      '12:67 unknown_phase',
      '13:19 unknown_phase',
    ]);
  });

  test('of problems that may only follow from another none is told or counted', async () => {
    const text = `import { defineWorkflow } from '@phasegate/sdk';
const many = Array.from({ length: 600 }, (_, at) => ({ name: 's' + at, next: { ok: 'gone', fail: 'gone' } }));
export default defineWorkflow({ type: 'x', stepz: [], steps: [...many, { name: 'last', writes: ['/etc'] }] });
`;
    await put('x.workflow.ts', text);
    expect((await load('x.workflow.ts')).problems.map(({ code }) => code)).toEqual([
      'bad_glob',
      'unknown_key',
    ]);
  });

  test('what a workflow keeps for humans is read, and its mistakes stand where they are [adv.N14]', async () => {
    const text = (who: string) => `import { defineWorkflow } from '@phasegate/sdk';
export default defineWorkflow({
  type: 'x',
  start: '${who}',
  params: { limit: { default: 3, setBy: '${who}' } },
  steps: [{ name: 'a' }],
});
`;
    await put('x.workflow.ts', text('human'));
    await put('y.workflow.ts', text('me'));

    const good = await load('x.workflow.ts');
    const bad = await load('y.workflow.ts');

    expect(good.workflow).toMatchObject({ start: 'human', params: { limit: { setBy: 'human' } } });
    expect(bad.problems.map(({ line, code }) => `${line} ${code}`)).toEqual(['4 bad_value', '5 bad_value']);
  });

  test('what a workflow asks of its agents is read, and its mistakes stand where they are', async () => {
    const text = (capabilities: string, lease: number) => `import { defineWorkflow } from '@phasegate/sdk';
export default defineWorkflow({
  type: 'x',
  capabilities: [${capabilities}],
  oneRunPer: 'target',
  enforcement: { leaseSeconds: ${lease}, maxReclaims: 1 },
  steps: [{ name: 'a' }],
});
`;
    await put('x.workflow.ts', text("'node', 'gpu'", 30));
    await put('y.workflow.ts', text("'node', 'two words'", 0.5));

    const good = await load('x.workflow.ts');
    const bad = await load('y.workflow.ts');

    expect(good.workflow).toMatchObject({
      capabilities: ['node', 'gpu'],
      oneRunPer: 'target',
      enforcement: { leaseSeconds: 30, maxReclaims: 1 },
    });
    expect(bad.problems.map(({ line, column, code }) => `${line}:${column} ${code}`)).toEqual([
      '4:26 bad_value',
      '6:32 bad_value',
    ]);
  });

  test('the code is the module and every file it imports, whichever way [C13]', async () => {
    await put(
      'flows/x.workflow.ts',
      workflowText("import { name } from './names';\nimport './side.js';", 'name'),
    );
    await put('flows/names/index.ts', "export { name } from '../deep.mjs';\nexport type T = string;");
    await put('flows/deep.mjs', "export const name = 'x';\nawait import('./late.mjs');");
    await put('flows/late.mjs', 'export {};');
    await put('flows/side.ts', 'export {};');
    await put('flows/unrelated.ts', 'export {};');

    const before = await load('flows/x.workflow.ts');
    await put('flows/unrelated.ts', 'export const more = 1;');
    const same = await load('flows/x.workflow.ts');
    await put('flows/late.mjs', 'export const more = 1;');
    const after = await load('flows/x.workflow.ts');

    expect(Object.keys(before.files)).toEqual([
      'flows/deep.mjs',
      'flows/late.mjs',
      'flows/names/index.ts',
      'flows/side.ts',
      'flows/x.workflow.ts',
    ]);
    expect(before.workflow?.code).toMatch(/^[0-9a-f]{64}$/);
    expect(same.workflow?.code).toBe(before.workflow?.code);
    expect(after.workflow?.code).not.toBe(before.workflow?.code);
  });

  test.each([
    ["import '../outside.ts';", 'path_outside'],
    ["import '/etc/hosts.ts';", 'path_outside'],
    ["import 'file:///etc/hosts.ts';", 'path_outside'],
    ["import './link/outside.ts';", 'path_outside'],
    ["import './missing.ts';", 'import_unresolved'],
    ["import '#alias';", 'import_unresolved'],
    ["await import('./' + 'x');", 'dynamic_import'],
  ])('`%s` is refused without running anything', async (line, code) => {
    await writeFile(join(folder, 'outside.ts'), 'export {};');
    await symlink(folder, join(root, 'link'));
    const ran = join(root, 'ran');
    await put(
      'x.workflow.ts',
      workflowText(`${line}\nimport { writeFileSync } from 'node:fs';\nwriteFileSync('${ran}', '');`),
    );

    const { workflow, problems } = await load('x.workflow.ts');

    expect(workflow).toBeNull();
    expect(problems.map((problem) => problem.code)).toContain(code);
    expect(existsSync(ran)).toBe(false);
  });

  test('a module that fails says how, and where [S4.29]', async () => {
    const problemOf = async (text: string) => {
      await put('x.workflow.ts', text);
      const { problems } = await load('x.workflow.ts');
      return problems.map(({ line, column, code, message }) => `${line}:${column} ${code} ${message}`);
    };

    expect(await problemOf(workflowText("\nthrow new Error('not today');"))).toEqual([
      '3:7 module_failed the module cannot be loaded: not today',
    ]);
    expect(await problemOf(workflowText('process.exit(0);'))).toEqual([
      '1:1 module_failed the module cannot be loaded: its process ended with exit code 0',
    ]);
    expect(await problemOf(workflowText("console.log('hello');"))).toEqual([
      '1:1 module_prints the module prints to stdout when it is loaded; what it prints is ignored',
    ]);
    expect(
      await problemOf("import { defineWorkflow as d } from '@phasegate/sdk';\nexport default { d };"),
    ).toEqual([
      '1:1 no_workflow the file exports something else than a workflow; its default export must be what `defineWorkflow` returned',
    ]);
    expect(await problemOf('export const a: number = ;')).toEqual(['1:26 syntax expression expected']);
    expect(await problemOf('export const a = 1;\nenum B { C }')).toEqual([
      '2:1 syntax TypeScript enum is not supported in strip-only mode',
    ]);
  });

  test('a module that hangs is ended', async () => {
    await put('x.workflow.ts', workflowText('while (true);'));
    const functions = createFunctions({ root, gate: OPEN_GATE, loadTimeoutMs: 1500 });
    open.push(functions);

    const loader = createTypeScriptLoader({ known, functions });
    const { problems } = await loader.load({ root, path: 'x.workflow.ts' });

    expect(problems).toMatchObject([
      { code: 'module_failed', message: expect.stringContaining('within 1500 ms') },
    ]);
  });

  test('a copy of the engine planted in the workspace is not used', async () => {
    await put(
      'node_modules/@phasegate/sdk/package.json',
      '{"name":"@phasegate/sdk","type":"module","main":"index.js"}',
    );
    await put(
      'node_modules/@phasegate/sdk/index.js',
      "export const defineWorkflow = () => { throw new Error('planted'); };",
    );
    await put('x.workflow.ts', workflowText(''));

    expect((await load('x.workflow.ts')).workflow?.id).toBe('x');
  });
});

describe('listing', () => {
  test('reads names from the source and never runs it [S4.4 S4.27 C13]', async () => {
    const ran = join(root, 'ran');
    await put(
      'workflows/a.ts',
      `import { writeFileSync } from 'node:fs';
import { defineWorkflow } from '@phasegate/sdk';
writeFileSync('${ran}', '');
const steps = [{ name: 'one' }, { name: 'two' }];
const flow = defineWorkflow({ type: 'literal', name: \`A title\`, steps });
export default flow;
`,
    );

    expect(await peek('workflows/a.ts')).toEqual({
      id: 'literal',
      title: 'A title',
      phases: ['one', 'two'],
      problems: [],
    });
    expect(existsSync(ran)).toBe(false);
  });

  test.each([
    ['linear', 'skill-name', ['step1', 'step2', 'step3']],
    ['confidence', 'confidence', ['investigate', 'formulate']],
    ['qr', 'qr', ['qr_completeness', 'revise_plan', 'implementation']],
    ['hybrid', 'hybrid', null],
  ])('%s is found as the constant WORKFLOW [S4.27 S4.29]', async (name, id, phases) => {
    const peeked = await loaderFor(DESIGNS).peek({ root: DESIGNS, path: `${name}.workflow.ts` });

    expect(peeked).toMatchObject({ id, phases, problems: [] });
  });

  test.each([
    [
      "import { defineWorkflow as d } from '@phasegate/sdk';\nexport const WORKFLOW = d({ type: 'a', steps: [] });",
      'a',
    ],
    [
      "import * as sdk from '@phasegate/sdk';\nexport default sdk.defineWorkflow({ type: 'b', steps: [] });",
      'b',
    ],
    ["import { Workflow } from '@phasegate/sdk';\nconst W = Workflow('c');\nexport { W as default };", 'c'],
    [
      "import { defineWorkflow } from '../engine';\nexport const Named = defineWorkflow({ type: 'd', steps: [] });",
      'd',
    ],
    ["import { defineWorkflow } from '@phasegate/sdk';\nexport default defineWorkflow(make());", 'x'],
  ])('finds the workflow in %j', async (text, id) => {
    await put('x.workflow.ts', text);

    expect(await peek('x.workflow.ts')).toMatchObject({ id, problems: [] });
  });

  test('a second workflow in a file is a problem at its place [S4.28]', async () => {
    const second = "\nexport const other = defineWorkflow({ type: 'y', steps: [{ name: 'a' }] });";
    await put('x.workflow.ts', workflowText('') + second);

    const problem = { line: 5, column: 22, code: 'several_workflows' };
    expect((await peek('x.workflow.ts'))?.problems).toMatchObject([problem]);
    expect((await load('x.workflow.ts')).problems).toMatchObject([problem]);
  });

  test('a module beside workflows that defines none is not a workflow; a file named as one must be', async () => {
    await put('workflows/names.ts', "export const name = 'x';");
    await put('workflows/broken.ts', 'export const = 1;');
    await put('none.workflow.ts', 'export const a = 1;');
    await put('broken.workflow.ts', 'export const = 1;');

    expect(await peek('workflows/names.ts')).toBeNull();
    expect(await peek('workflows/broken.ts')).toBeNull();
    expect((await peek('none.workflow.ts'))?.problems).toMatchObject([{ code: 'no_workflow' }]);
    expect(await peek('broken.workflow.ts')).toMatchObject({
      id: 'broken',
      problems: [{ line: 1, column: 14, code: 'syntax' }],
    });
  });

  test('only modules where workflows lie are its files', () => {
    const yes = ['a.workflow.ts', 'b/c.workflow.mjs', 'workflows/d.ts', '.phasegate/workflows/e.js'];
    const no = [
      'a.ts',
      'workflows/deep/f.ts',
      'workflows/g.test.ts',
      'x.workflow.d.ts',
      'a.workflow.yaml',
      'a.workflow.cjs',
    ];

    expect([...yes, ...no].filter((path) => loaderFor(root).accepts(path))).toEqual(yes);
  });
});

function workflowText(before: string, type = "'x'"): string {
  return `import { defineWorkflow } from '@phasegate/sdk';\n${before}
const check = (ctx: { result: number }): boolean => ctx.result > 0;
export default defineWorkflow({ type: ${type}, steps: [{ name: 'a', postconditions: [{ check }], next: null }] });`;
}

function withoutCode(workflow: Workflow | null) {
  return { ...workflow, code: null, module: null };
}

function loaderFor(folder: string) {
  const functions = createFunctions({ root: folder, gate: OPEN_GATE });
  open.push(functions);
  return createTypeScriptLoader({ known, functions });
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

const load = (path: string) => loaderFor(root).load({ root, path });
const peek = (path: string) => loaderFor(root).peek({ root, path });

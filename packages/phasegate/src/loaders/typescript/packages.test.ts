import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Functions } from '../../runtime/ports.ts';
import { closureOf } from './closureOf.ts';
import { OPEN_GATE } from './fixtures/openGate.ts';
import { createFunctions } from './functionHost.ts';
import { createTypeScriptLoader } from './typeScriptLoader.ts';

let folder: string;
let root: string;
let functions: Functions;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'phasegate-packages-'));
  root = join(folder, 'project');
  await mkdir(root);
  functions = createFunctions({ root, gate: OPEN_GATE });
});
afterEach(async () => {
  await functions.close();
  await rm(folder, { recursive: true, force: true });
});

describe('a package', () => {
  test('is part of the code with every file it loads, and with what it says of itself [adv.Q6]', async () => {
    await put('node_modules/dep/package.json', '{"exports":{"import":"./esm.mjs","require":"./cjs.cjs"}}');
    await put('node_modules/dep/esm.mjs', "export { name } from './deep.js';");
    await put('node_modules/dep/deep.js', "import { two } from 'two/sub'; export const name = 'x' + two;");
    await put('node_modules/dep/cjs.cjs', 'module.exports = 1;');
    await put('node_modules/dep/node_modules/two/sub.js', "exports.two = require('./data').n;");
    await put('node_modules/dep/node_modules/two/data.json', '{"n":2}');
    await put('node_modules/dep/unused.js', '');
    await putWorkflow("import { name } from 'dep';");

    const { workflow, problems, files } = await load();

    expect(problems).toEqual([]);
    expect(workflow?.id).toBe('x2');
    expect(Object.keys(files)).toEqual([
      'node_modules/dep/deep.js',
      'node_modules/dep/esm.mjs',
      'node_modules/dep/node_modules/two/data.json',
      'node_modules/dep/node_modules/two/sub.js',
      'node_modules/dep/package.json',
      'x.workflow.ts',
    ]);
  });

  test.each([
    ['a file it loads', 'node_modules/dep/deep.cjs', "exports.name = 'changed';"],
    ['which file is meant', 'node_modules/dep/package.json', '{"main":"deep.cjs"}'],
    ['a package before it', 'flows/node_modules/dep/index.js', "exports.name = 'changed';"],
  ])('that changed in %s is other code, and none of it is run [adv.Q6]', async (_, path, text) => {
    await put('node_modules/dep/package.json', '{"main":"index.js"}');
    await put('node_modules/dep/index.js', "exports.name = require('./deep.cjs').name;");
    await put('node_modules/dep/deep.cjs', "exports.name = 'x';");
    await putWorkflow("import dep from 'dep'; const { name } = dep;", 'flows/x.workflow.ts');
    const { code } = await closureOf(root, 'flows/x.workflow.ts');
    expect(await described('flows/x.workflow.ts', code)).toMatchObject({ ok: true });

    await put(path, text);

    await functions.close();
    expect(await described('flows/x.workflow.ts', code)).toMatchObject({ ok: false, kind: 'code_changed' });
    expect((await closureOf(root, 'flows/x.workflow.ts')).code).not.toBe(code);
  });

  test('has the same names wherever it lies, so that a copy of the project is the same code', async () => {
    await put('../node_modules/dep/package.json', '{"main":"index.js"}');
    await put('../node_modules/dep/index.js', "exports.name = require('other');");
    await put('../node_modules/other/index.js', "module.exports = 'x';");
    await putWorkflow("import dep from 'dep'; const { name } = dep;");
    const copy = join(folder, 'elsewhere', 'copy');
    await mkdir(copy, { recursive: true });
    await symlink(join(folder, 'node_modules'), join(copy, 'node_modules'));
    await writeFile(
      join(copy, 'x.workflow.ts'),
      workflowText("import dep from 'dep'; const { name } = dep;"),
    );

    const [here, there] = await Promise.all([
      closureOf(root, 'x.workflow.ts'),
      closureOf(copy, 'x.workflow.ts'),
    ]);

    expect(here.problems).toEqual([]);
    expect(here.files.map(({ path }) => path)).toContain('node_modules/other/index.js');
    expect(there.code).toBe(here.code);
  });

  test('that tries what is not there goes on without it', async () => {
    await put(
      'node_modules/dep/index.js',
      "try { require('absent'); } catch (error) { exports.name = error.code === 'MODULE_NOT_FOUND' ? 'x' : 'y'; }",
    );
    await putWorkflow("import dep from 'dep'; const { name } = dep;");

    expect((await load()).workflow?.id).toBe('x');
  });

  test.each([
    ["import 'absent';", 'x.workflow.ts', 'import_unresolved'],
    ["import 'dep/hidden';", 'x.workflow.ts', 'import_unresolved'],
    ["import 'dep/computed';", 'node_modules/dep/computed.js', 'dynamic_import'],
    ["import 'dep/addon';", 'x.workflow.ts', 'import_unresolved'],
    ["import 'dep/out';", 'node_modules/dep/out.js', 'path_outside'],
    ["import 'node:worker_threads';", 'x.workflow.ts', 'dynamic_import'],
  ])('`%s` is a problem of the definition, at its place', async (line, file, code) => {
    const exported = { './computed': './computed.js', './addon': './addon.node', './out': './out.js' };
    await put('node_modules/dep/package.json', JSON.stringify({ exports: exported }));
    await put('node_modules/dep/computed.js', "\nrequire('./' + process.argv[2]);");
    await put('node_modules/dep/addon.node', '');
    await put('node_modules/dep/hidden.js', '');
    await put('node_modules/dep/out.js', "\nrequire('../../x.workflow.ts');");
    await putWorkflow(`${line}\nconst name = 'x';`);

    const { workflow, problems } = await load();

    expect(workflow).toBeNull();
    expect(problems).toMatchObject([{ file, code, line: 2, severity: 'error' }]);
  });
});

describe('nothing is loaded that was not hashed', () => {
  test('by whatever name `createRequire` goes, what it loads is part of the code', async () => {
    await put('one.cjs', "module.exports = 'x';");
    await put('two.json', '""');
    await put('node_modules/dep/index.js', "module.exports = '';");
    await putWorkflow(`import { createRequire as make } from 'node:module';
const load = make(import.meta.url);
const name = load('./one.cjs') + make(import.meta.url)('./two.json') + load('dep');`);

    const { workflow, files } = await load();

    expect(workflow?.id).toBe('x');
    expect(Object.keys(files)).toEqual(['node_modules/dep/index.js', 'one.cjs', 'two.json', 'x.workflow.ts']);
  });

  test.each([
    "createRequire('/')",
    "createRequire(new URL('./elsewhere/', import.meta.url))",
    'createRequire(process.argv[1])',
  ])('%s is refused, as what it loads cannot be read', async (made) => {
    await putWorkflow(
      `import { createRequire } from 'node:module';\nconst load = ${made};\nconst name = 'x';`,
    );

    const { problems } = await load();

    expect(problems).toMatchObject([{ code: 'dynamic_import', line: 3, severity: 'error' }]);
  });

  test('nor by any other way there is to a file', async () => {
    await put('evil.cjs', 'globalThis.evil = 1; module.exports = 1;');
    const ways = [
      "module.createRequire('/').call(null, EVIL)",
      'module.Module._load(EVIL)',
      'new module.Module(EVIL).require(EVIL)',
      "eval('import(EVIL)')",
      "new Function('path', 'return import(path)')(EVIL)",
      "eval('import(\\'data:text/javascript,globalThis.evil=1\\')')",
      "eval('import(\\'file://\\' + EVIL)')",
      "process.getBuiltinModule('vm').runInThisContext('import(' + JSON.stringify(EVIL) + ')')",
    ];
    const tries = ways.map((way) => `try { await (${way}); opened.push(${JSON.stringify(way)}); } catch {}`);
    await putWorkflow(`const module = process.getBuiltinModule('module');
const EVIL = ${JSON.stringify(join(root, 'evil.cjs'))};
const opened: string[] = [];
${tries.join('\n')}
const name = opened.length > 0 || 'evil' in globalThis ? 'evil ' + opened.join(' ') : 'x';`);
    const { code } = await closureOf(root, 'x.workflow.ts');

    const answer = await described('x.workflow.ts', code);

    expect(answer).toMatchObject({ ok: true, value: { draft: { id: 'x' } } });
  });

  test('what is run are the bytes that were hashed, also when the file is another by then [adv.Q1]', async () => {
    const seen = join(root, 'seen');
    await put('late.ts', "export const late = 'hashed';");
    await putWorkflow(`import { writeFileSync } from 'node:fs';
writeFileSync(${JSON.stringify(join(root, 'late.ts'))}, "export const late = 'planted';");
const { late } = await import('./late.ts');
writeFileSync(${JSON.stringify(seen)}, late);
const name = 'x';`);
    const { code } = await closureOf(root, 'x.workflow.ts');

    expect(await described('x.workflow.ts', code)).toMatchObject({ ok: false, kind: 'code_changed' });
    expect(await readFile(seen, 'utf8')).toBe('hashed');
  });
});

const DESCRIBED = { ref: 'describe', context: {}, timeoutMs: 10_000 };

function described(file: string, code: string) {
  return functions.call({ ...DESCRIBED, file, code });
}

function load() {
  const loader = createTypeScriptLoader({ known: { checks: {} }, functions });
  return loader.load({ root, path: 'x.workflow.ts' });
}

function putWorkflow(before: string, path = 'x.workflow.ts'): Promise<void> {
  return put(path, workflowText(before));
}

function workflowText(before: string): string {
  return `import { defineWorkflow } from '@phasegate/sdk';\n${before}
export default defineWorkflow({ type: name, steps: [{ name: 'a', postconditions: [{ check: () => true }] }] });`;
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

import { link, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isImportEntry } from '@phasegate/core/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Functions } from '../../runtime/ports.ts';
import { closureOf } from './closureOf.ts';
import { OPEN_GATE } from './fixtures/openGate.ts';
import { createFunctions } from './functionHost.ts';

let root: string;
let functions: Functions;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'phasegate-rewiring-'));
  functions = createFunctions({ root, gate: OPEN_GATE });
});
afterEach(async () => {
  await functions.close();
  await rm(root, { recursive: true, force: true });
});

/** What an agent can do to files whose bytes and names stay, and what was there before. */
const REWIRINGS: Readonly<Record<string, { before(): Promise<void>; after(): Promise<void> }>> = {
  'the `package.json` of two folders in a package': {
    async before() {
      await put('node_modules/rules/package.json', '{"name":"rules"}');
      await put('node_modules/rules/strict/package.json', '{"main":"../lib/strict.js"}');
      await put('node_modules/rules/lenient/package.json', '{"main":"../lib/lenient.js"}');
      await put('node_modules/rules/lib/strict.js', "exports.rule = 'strict';");
      await put('node_modules/rules/lib/lenient.js', "exports.rule = 'lenient';");
      await putWorkflow("import a from 'rules/strict';\nimport b from 'rules/lenient';\nconst { rule } = a;");
    },
    async after() {
      await put('node_modules/rules/strict/package.json', '{"main":"../lib/lenient.js"}');
      await put('node_modules/rules/lenient/package.json', '{"main":"../lib/strict.js"}');
    },
  },
  'a `package.json` that was not there, in place of an index': {
    async before() {
      await put('node_modules/rules/strict/index.js', "exports.rule = 'strict';");
      await put('node_modules/rules/lenient.js', "exports.rule = 'lenient';");
      await putWorkflow(
        "import a from 'rules/strict';\nimport 'rules/strict/index.js';\nimport 'rules/lenient';\nconst { rule } = a;",
      );
    },
    after: () => put('node_modules/rules/strict/package.json', '{"main":"../lenient.js"}'),
  },
  'a link to an equal file in a package': {
    async before() {
      for (const name of ['a', 'b']) {
        await put(`node_modules/rules/${name}/rule.js`, "exports.rule = require('./min.js').rule;");
        await put(`node_modules/rules/${name}/min.js`, `exports.rule = '${name}';`);
      }
      const imports = ['a/rule.js', 'a/min.js', 'b/min.js'].map((path) => `import 'rules/${path}';`);
      await putWorkflow(`${imports.join('\n')}\nimport b from 'rules/b/rule.js';\nconst { rule } = b;`);
    },
    async after() {
      await rm(join(root, 'node_modules/rules/b/rule.js'));
      await symlink('../a/rule.js', join(root, 'node_modules/rules/b/rule.js'));
    },
  },
  'a folder of packages that is nearer, with a link to another known one': {
    async before() {
      await put('node_modules/dep/index.js', "exports.rule = 'strict';");
      await put('loose/node_modules/dep/index.js', "exports.rule = 'lenient';");
      await put('strict/rule.ts', "import dep from 'dep';\nexport const { rule } = dep;");
      await put('loose/rule.ts', "import dep from 'dep';\nexport const { rule } = dep;");
      await putWorkflow("import { rule } from './strict/rule.ts';\nimport './loose/rule.ts';\nimport 'dep';");
    },
    async after() {
      await mkdir(join(root, 'strict/node_modules'));
      await symlink('../../loose/node_modules/dep', join(root, 'strict/node_modules/dep'));
    },
  },
  'one of two names of a linked package': {
    async before() {
      await put('packages/strict/index.js', "exports.rule = 'strict';");
      await put('packages/lenient/index.js', "exports.rule = 'lenient';");
      await linkPackage('one', 'strict');
      await linkPackage('two', 'lenient');
      await linkPackage('three', 'strict');
      await putWorkflow("import 'one';\nimport 'two';\nimport a from 'three';\nconst { rule } = a;");
    },
    async after() {
      await rm(join(root, 'node_modules/three'));
      await linkPackage('three', 'lenient');
    },
  },
  'a package that was tried and not there': {
    async before() {
      await put(
        'node_modules/dep/index.js',
        "exports.rule = 'strict'; try { exports.rule = require('maybe').rule; } catch {}",
      );
      await put('node_modules/lenient/index.js', "exports.rule = 'lenient';");
      await putWorkflow("import dep from 'dep';\nimport 'lenient';\nconst { rule } = dep;");
    },
    after: () => symlink('lenient', join(root, 'node_modules/maybe')),
  },
  'a name that two files have': {
    async before() {
      await put('flows/rule.ts', "import dep from 'dep';\nexport const { rule } = dep;");
      await put('node_modules/dep/index.js', "exports.rule = 'strict';");
      await putWorkflow("import './node_modules/dep/index.js';\nimport { rule } from './flows/rule.ts';");
    },
    after: () => put('flows/node_modules/dep/index.js', "exports.rule = 'lenient';"),
  },
};

describe.each(Object.entries(REWIRINGS))('%s', (_, { before, after }) => {
  test('is other code, and none of it is run, in a process that is kept neither [adv.Q6]', async () => {
    await before();
    const accepted = await closureOf(root, 'x.workflow.ts');
    expect(accepted.problems).toEqual([]);
    const { code } = accepted;
    expect(await described(code)).toMatchObject({ ok: true });

    await after();

    expect((await closureOf(root, 'x.workflow.ts')).code).not.toBe(code);
    expect(await described(code)).toMatchObject({ ok: false, kind: 'code_changed' });
    await functions.close();
    expect(await described(code)).toMatchObject({ ok: false, kind: 'code_changed' });
  });
});

describe('a link of the project', () => {
  test.each([
    ['a symbolic link', symlink],
    ['a hard link', (path: string, at: string) => link(join(dirname(at), path), at)],
  ])('%s to an equal file imports what is beside its name, as the file did [adv.Q6]', async (_, make) => {
    for (const [name, format] of [
      ['a', 'ts'],
      ['b', 'ts'],
      ['a', 'cjs'],
      ['b', 'cjs'],
    ]) {
      const isModule = format === 'ts';
      await put(
        `lib/${name}/rule.${format}`,
        isModule ? "export { rule } from './min.ts';" : "exports.rule = require('./min.cjs').rule;",
      );
      await put(
        `lib/${name}/min.${format}`,
        isModule ? `export const rule = '${name}';` : `exports.rule = '${name}';`,
      );
    }
    await putWorkflow(`import { rule as one } from './lib/b/rule.ts';
import { rule as two } from './lib/a/rule.ts';
import three from './lib/b/rule.cjs';
import four from './lib/a/rule.cjs';
const rule = [one, two, three.rule, four.rule].join('');`);
    const { code } = await closureOf(root, 'x.workflow.ts');
    expect(await described(code)).toMatchObject({ ok: true, value: { draft: { id: 'baba' } } });

    for (const format of ['ts', 'cjs']) {
      const place = join(root, `lib/b/rule.${format}`);
      await rm(place);
      await make(`../a/rule.${format}`, place);
    }

    await functions.close();
    expect(await described(code)).toMatchObject({ ok: true, value: { draft: { id: 'baba' } } });
  });

  test('a folder that became a link to another is other code where its files differ', async () => {
    for (const name of ['a', 'b']) await put(`lib/${name}/min.ts`, `export const rule = '${name}';`);
    await putWorkflow("import './lib/a/min.ts';\nimport { rule } from './lib/b/min.ts';");
    const { code } = await closureOf(root, 'x.workflow.ts');

    await rename(join(root, 'lib/b'), join(root, 'lib/c'));
    await symlink('a', join(root, 'lib/b'));

    expect((await closureOf(root, 'x.workflow.ts')).code).not.toBe(code);
  });
});

describe('a package that is linked to a folder of the project', () => {
  beforeEach(async () => {
    await put('packages/lib/index.js', "import './deep.js';\nexport const rule = {};");
    await put('packages/lib/deep.js', "export const deep = 'deep';");
    await linkPackage('lib', 'lib');
  });

  test('is one with the files of the project, and that is accepted with them', async () => {
    await putWorkflow(`import { rule as one } from 'lib';
import { rule as two } from './packages/lib/index.js';
const rule = String(one === two);`);

    const { code, files, problems } = await closureOf(root, 'x.workflow.ts');

    expect(problems).toEqual([]);
    expect(files.map(({ path }) => path)).toEqual([
      'node_modules/lib/deep.js',
      'node_modules/lib/index.js',
      'packages/lib/deep.js',
      'packages/lib/deep.js//is node_modules/lib/deep.js',
      'packages/lib/index.js',
      'packages/lib/index.js//is node_modules/lib/index.js',
      'x.workflow.ts',
    ]);
    expect(await described(code)).toMatchObject({ ok: true, value: { draft: { id: 'true' } } });
  });

  test('is refused where its imports mean other files than those of the project', async () => {
    await put('packages/lib/index.js', "import './deep';\nexport const rule = 'x';");
    await put('packages/lib/deep.ts', "export const deep = 'typed';");
    await putWorkflow("import { rule } from 'lib';\nimport './packages/lib/index.js';");

    const { problems } = await closureOf(root, 'x.workflow.ts');

    expect(problems).toMatchObject([
      {
        file: 'packages/lib/index.js',
        code: 'import_unresolved',
        message:
          '`node_modules/lib/index.js` is also imported as `packages/lib/index.js`, where its own imports mean other files; import it by one name',
      },
    ]);
  });
});

describe('what was accepted before', () => {
  test('keeps its hash where no link and no second `package.json` decides an import', async () => {
    await put('lib/index.ts', "export * from './typed.js';\nexport * from '../data.json';");
    await put('lib/typed.ts', 'export const typed = 1;');
    await put('data.json', '{}');
    await put(
      'node_modules/@s/dep/package.json',
      JSON.stringify({
        name: '@s/dep',
        exports: { '.': { import: './esm.mjs', require: './cjs.cjs' }, './sub/*': './sub/*.js' },
        imports: { '#own': './own.js', '#other': 'other' },
      }),
    );
    await put(
      'node_modules/@s/dep/esm.mjs',
      "import '#own'; import '#other'; import '@s/dep/sub/x'; import 'maybe';",
    );
    await put('node_modules/@s/dep/own.js', "require('nested'); require('./folder');");
    await put('node_modules/@s/dep/folder/index.js', "require('fs');");
    await put('node_modules/@s/dep/sub/x.js', "require('@s/dep');");
    await put('node_modules/@s/dep/cjs.cjs', "require('nested/sub');");
    await put('node_modules/@s/dep/node_modules/nested/index.js', "require('other');");
    await put('node_modules/@s/dep/node_modules/nested/sub.js', "require('./index');");
    await put('node_modules/other/package.json', '{"main":"lib"}');
    await put('node_modules/other/lib/index.js', 'exports.other = 1;');
    await putWorkflow("import './lib';\nimport '@s/dep';\nconst rule = 'x';");

    const { code, files, problems } = await closureOf(root, 'x.workflow.ts');

    expect(problems).toEqual([]);
    expect(files.map(({ path }) => path)).toHaveLength(14);
    expect(files.some(({ path }) => isImportEntry(path))).toBe(false);
    // As Phasegate had it before it compared where imports lead.
    expect(code).toBe('5fe2dd3c5487ab50ea726b27a3fd2347d30008116a043fc33d501fdb97af0c3d');
  });

  test('is named by who wants it, where two versions of a package are linked from a store', async () => {
    const store = 'node_modules/.pnpm';
    for (const version of ['1', '2'])
      await put(`${store}/dep@${version}/node_modules/dep/index.js`, `exports.rule = 'v${version}';`);
    await put(`${store}/old/node_modules/old/index.js`, "exports.rule = require('dep').rule;");
    await put(`${store}/old/node_modules/old/again.js`, "require('dep');");
    await symlink('../../dep@1/node_modules/dep', join(root, store, 'old/node_modules/dep'));
    await symlink('.pnpm/old/node_modules/old', join(root, 'node_modules/old'));
    await symlink('.pnpm/dep@2/node_modules/dep', join(root, 'node_modules/dep'));
    await putWorkflow("import 'dep';\nimport old from 'old';\nimport 'old/again.js';\nconst { rule } = old;");

    const { code, files, problems } = await closureOf(root, 'x.workflow.ts');

    expect(problems).toEqual([]);
    expect(files.map(({ path }) => path)).toEqual([
      'node_modules/dep/index.js',
      'node_modules/old/again.js',
      'node_modules/old/index.js',
      'node_modules/old/node_modules/dep/index.js',
      'x.workflow.ts',
    ]);
    expect(await described(code)).toMatchObject({ ok: true, value: { draft: { id: 'v1' } } });
  });
});

function described(code: string) {
  return functions.call({ file: 'x.workflow.ts', code, ref: 'describe', context: {}, timeoutMs: 10_000 });
}

function linkPackage(name: string, folder: string): Promise<void> {
  return mkdir(join(root, 'node_modules'), { recursive: true }).then(() =>
    symlink(`../packages/${folder}`, join(root, 'node_modules', name)),
  );
}

function putWorkflow(before: string): Promise<void> {
  return put(
    'x.workflow.ts',
    `import { defineWorkflow } from '@phasegate/sdk';\n${before}
export default defineWorkflow({ type: rule, steps: [{ name: 'a', postconditions: [{ check: () => true }] }] });`,
  );
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

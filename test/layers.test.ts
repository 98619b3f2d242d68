import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { arrowsOf } from './layers/arrowsOf.ts';
import { checkLayers } from './layers/checkLayers.ts';
import { importsOf } from './layers/importsOf.ts';
import { type House, type Layers, readHouse, readLayers } from './layers/layers.ts';
import { roomOf } from './layers/roomOf.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
// Read once: all that follows asks about the same files.
const house = readHouse(root);
const { arrows } = arrowsOf(house);

test('the sources import only what layers.json allows, without cycles, and core stays pure', () => {
  const findings = checkLayers(house, readLayers(root));

  expect(findings.map(({ rule, where, message }) => `${rule} ${where}: ${message}`)).toEqual([]);
  expect(house.files.size).toBeGreaterThan(20);
});

test('what is written by authors stands on the sdk, that on core, and nothing below knows a surface [S4.2]', () => {
  const layers = readLayers(root);
  const seenFrom = (room: string) => {
    const own = arrows.filter(({ from }) => roomOf(from, layers) === room);
    return [...new Set(own.map(({ to }) => roomOf(to, layers)))].filter((to) => to !== room).sort();
  };
  const authored = readFileSync(join(root, 'examples/w1-editing/w1.workflow.ts'), 'utf8');

  expect(importsOf(authored).map(({ specifier }) => specifier)).toEqual(['@phasegate/sdk']);
  expect(seenFrom('sdk')).toEqual(['core', 'wire']);
  expect(seenFrom('wire')).toEqual(['core']);
  expect(seenFrom('wire/schemas')).toEqual(['core', 'wire']);
  expect(seenFrom('core')).toEqual([
    'core/contract',
    'core/engine',
    'core/ground',
    'core/model',
    'core/ports',
    'core/store-contract',
  ]);
  // The process that runs an author's functions gives them the protected database.
  expect(seenFrom('loaders')).toEqual(['core', 'database', 'files', 'proofs', 'runtime/ports', 'sdk']);
  // Which agents have a name is told in the help.
  expect(seenFrom('surfaces/cli')).toEqual([
    'core',
    'files',
    'launch',
    'proofs',
    'runtime/ports',
    'settings',
    'templates',
    'wire',
  ]);
});

test('engine, API and client are modules of their own: the client knows the engine’s words only, the API neither [S2.51]', () => {
  const layers = readLayers(root);
  const sees = (from: string, to: string) =>
    arrows.some((arrow) => roomOf(arrow.from, layers) === from && roomOf(arrow.to, layers) === to);

  for (const room of ['core/engine', 'surfaces/rest', 'sdk']) {
    expect([...house.files.keys()].some((file) => roomOf(file, layers) === room)).toBe(true);
  }
  expect(sees('surfaces/rest', 'sdk')).toBe(false);
  expect(sees('surfaces/rest', 'runtime')).toBe(false);
  expect(sees('sdk', 'surfaces/rest')).toBe(false);
  expect(sees('core/engine', 'sdk')).toBe(false);
  expect(sees('sdk', 'core')).toBe(true);
});

test('what design 3 does without is not there [S3.83]', () => {
  const without =
    /rejection-?tracker|smart-?router|event-?emitter|trigger-?engine|artifact-?types|artifact-?query|routing-?config|(?:^|\/)escalation\.ts$/i;

  expect([...house.files.keys()].filter((file) => without.test(file))).toEqual([]);
});

describe('the reader of imports', () => {
  test('finds every kind of import, type or value', () => {
    const source = `
      import one from './one.ts';
      import type { Two } from './two.ts';
      import {
        three,
        type Three,
      } from './three.ts';
      import './four.ts';
      import * as five from "./five.ts";
      export * from './six.ts';
      export * as seven from './seven.ts';
      export { eight as default } from './eight.ts';
      export type { Nine } from './nine.ts';
      const ten = await import('./ten.ts');
      const eleven = await import(\`./eleven.ts\`);
      type Twelve = import('./twelve.ts').Twelve;
      import type from './thirteen.ts';
      import type from from './fourteen.ts';
    `;

    const found = importsOf(source).map(({ specifier, kind }) => `${kind} ${specifier}`);

    expect(found).toEqual([
      'value ./one.ts',
      'type ./two.ts',
      'value ./three.ts',
      'value ./four.ts',
      'value ./five.ts',
      'value ./six.ts',
      'value ./seven.ts',
      'value ./eight.ts',
      'type ./nine.ts',
      'value ./ten.ts',
      'value ./eleven.ts',
      'value ./twelve.ts',
      'value ./thirteen.ts',
      'type ./fourteen.ts',
    ]);
  });

  test('is not fooled by comments, strings, templates, regular expressions or members', () => {
    const source = `
      // import './a.ts';
      /* import './b.ts'; */
      const text = "import './c.ts'";
      const template = \`import './d.ts' \${text} export * from './e.ts'\`;
      const pattern = /import '.\\/f.ts'/;
      const meta = import.meta.url;
      const conditions = { import: './g.js', from: './h.js' };
      loader.import('./i.ts');
      export const from = './j.ts';
      const computed = await import(text);
    `;

    expect(importsOf(source)).toEqual([]);
  });

  test('knows the line', () => {
    expect(importsOf(`\n\nimport {\n  a,\n} from './a.ts';`)).toEqual([
      { specifier: './a.ts', kind: 'value', line: 3 },
    ]);
  });
});

describe('the check of layers', () => {
  test('accepts a house that keeps the rules', () => {
    expect(rulesBroken({})).toEqual([]);
  });

  test('refuses an arrow that is not allowed, also of a type', () => {
    expect(rulesBroken({ 'packages/app/src/left/a.ts': `import { b } from '../right/b.ts';` })).toEqual([
      'arrow',
    ]);
    expect(rulesBroken({ 'packages/app/src/left/a.ts': `import type { B } from '../right/b.ts';` })).toEqual([
      'arrow',
    ]);
    expect(rulesBroken({ 'packages/app/src/left/a.ts': `await import('../right/b.ts');` })).toEqual([
      'arrow',
    ]);
  });

  test('sees an arrow through the name of a package', () => {
    const files = { 'packages/app/src/right/b.ts': `import { core } from '@house/core';` };

    expect(rulesBroken(files)).toEqual(['arrow']);
  });

  test('accepts an exception for what it names only, and finds one that is not needed', () => {
    const exception = {
      from: 'packages/app/src/left/a.ts',
      to: 'right',
      only: 'type',
      why: 'a test',
    } as const;
    const typed = { 'packages/app/src/left/a.ts': `import type { B } from '../right/b.ts';` };
    const valued = { 'packages/app/src/left/a.ts': `import { B } from '../right/b.ts';` };

    expect(rulesBroken(typed, { exceptions: [exception] })).toEqual([]);
    expect(rulesBroken(valued, { exceptions: [exception] })).toEqual(['arrow', 'stale_exception']);
    expect(rulesBroken({}, { exceptions: [exception] })).toEqual(['stale_exception']);
  });

  test('finds cycles of values and of types', () => {
    const cycle = (keyword: string) => ({
      'packages/app/src/right/b.ts': `import ${keyword} { C } from './c.ts'; export const b = 1;`,
      'packages/app/src/right/c.ts': `export ${keyword} { d } from './d.ts';`,
      'packages/app/src/right/d.ts': `import ${keyword} { b } from './b.ts';`,
    });

    expect(rulesBroken(cycle(''))).toEqual(['cycle']);
    expect(rulesBroken(cycle('type'))).toEqual(['cycle']);
    expect(rulesBroken({ 'packages/app/src/right/b.ts': `import './b.ts';` })).toEqual(['cycle']);
  });

  test('keeps a pure room from Node, the clock, chance, timers and the network', () => {
    const impure = [
      `import { join } from 'node:path';`,
      `import type { Stats } from 'node:fs';`,
      `export const now = Date.now();`,
      `export const at = new Date();`,
      `export const dice = Math.random();`,
      `export const home = process.env.HOME;`,
      `export const page = fetch('https://example.org');`,
      `setTimeout(() => {}, 1);`,
      `export const clock = { Date };`,
    ];

    for (const source of impure) {
      expect(rulesBroken({ 'packages/core/src/index.ts': source }), source).toEqual(['impure']);
      expect(rulesBroken({ 'packages/app/src/right/b.ts': source }), source).toEqual([]);
    }
  });

  test('leaves names that only look like globals alone', () => {
    const source = `
      // new Date()
      export interface Shape { readonly process: string; fetch?: boolean; }
      export const text = 'setTimeout';
      export const most = Math.max(1, 2);
      export const own = (run: { process: string }) => run.process;
    `;

    expect(rulesBroken({ 'packages/core/src/index.ts': source })).toEqual([]);
  });

  test('finds a package that is not declared, an entry that is not exported and a file that is not there', () => {
    expect(rulesBroken({ 'packages/app/src/left/a.ts': `import 'left-pad';` })).toEqual(['undeclared']);
    expect(rulesBroken({ 'packages/app/src/left/a.ts': `import 'fs';` })).toEqual(['undeclared']);
    expect(rulesBroken({ 'packages/core/src/index.ts': `import 'yaml';` })).toEqual(['undeclared']);
    expect(rulesBroken({ 'packages/app/src/left/a.ts': `import '@house/core/inner';` })).toEqual([
      'unresolved',
    ]);
    expect(rulesBroken({ 'packages/app/src/left/a.ts': `import './gone.ts';` })).toEqual(['unresolved']);
  });

  test('refuses names that say nothing, in any spelling', () => {
    for (const name of ['utils/a', 'left/fileHelpers', 'left/run-manager', 'common', 'right/AuditService']) {
      expect(rulesBroken({ [`packages/app/src/${name}.ts`]: '' }), name).toContain('name');
    }
    expect(rulesBroken({ 'packages/app/src/left/commonality.ts': '' })).toEqual([]);
  });

  test('refuses a file over the limit, and a test is a file', () => {
    const long = 'export {};\n'.repeat(31);

    expect(rulesBroken({ 'packages/app/src/left/a.ts': long })).toEqual(['length']);
    expect(rulesBroken({ 'packages/app/src/left/a.test.ts': long })).toEqual(['length']);
    expect(rulesBroken({ 'packages/app/src/left/a.ts': long.slice(11) })).toEqual([]);
  });

  test('finds a file in no room, a room without files and a room that sees none', () => {
    const rooms = { ...layers.rooms, gone: { holds: ['packages/app/src/gone'], sees: [] } };
    const blind = { ...layers.rooms, left: { holds: ['packages/app/src/left'], sees: ['core', 'nowhere'] } };

    expect(rulesBroken({ 'packages/app/src/new/a.ts': '' })).toEqual(['no_room']);
    expect(rulesBroken({}, { rooms })).toEqual(['empty_room']);
    expect(rulesBroken({}, { rooms: blind })).toEqual(['unknown_room']);
  });

  test('lets tests and fixtures import what they prove', () => {
    const source = `import { b } from '../right/b.ts'; import 'vitest';`;

    expect(rulesBroken({ 'packages/app/src/left/a.test.ts': source })).toEqual([]);
    expect(rulesBroken({ 'packages/app/src/left/fixtures/a.ts': source })).toEqual([]);
  });
});

const layers: Layers = {
  maxLines: 30,
  forbiddenNames: ['utils', 'helpers', 'manager', 'common', 'service'],
  impureGlobals: ['Date', 'Math.random', 'process', 'fetch', 'setTimeout'],
  rooms: {
    core: { holds: ['packages/core/src'], sees: [], kind: 'pure' },
    left: { holds: ['packages/app/src/left'], sees: ['core'] },
    right: { holds: ['packages/app/src/right'], sees: [] },
    main: { holds: ['packages/app/src/main.ts'], sees: '*' },
  },
  exceptions: [],
};

function rulesBroken(
  files: Readonly<Record<string, string>>,
  changed: Partial<Layers> = {},
): readonly string[] {
  const house: House = {
    files: new Map(
      Object.entries({
        'packages/core/src/index.ts': 'export const core = 1;',
        'packages/app/src/left/a.ts': `import { core } from '@house/core'; import { parse } from 'yaml';`,
        'packages/app/src/right/b.ts': `import { join } from 'node:path'; export const b = join('a');`,
        'packages/app/src/main.ts': `import './left/a.ts'; import './right/b.ts'; import '@house/core';`,
        ...files,
      }),
    ),
    packages: [
      {
        folder: 'packages/core',
        name: '@house/core',
        dependencies: [],
        entries: { '.': 'packages/core/src/index.ts' },
      },
      { folder: 'packages/app', name: 'app', dependencies: ['@house/core', 'yaml'], entries: {} },
    ],
  };
  return checkLayers(house, { ...layers, ...changed }).map((finding) => finding.rule);
}

import { expect, test } from 'vitest';
import { freeImports } from './freeImports.ts';

const rule = { path: 'lib/rule.ts', text: '' };
const found = (specifier: string, kind: 'import' | 'require' = 'import') => ({ specifier, kind, at: 0 });

test('an import that the files of a closure decide is not said again', () => {
  const files = [
    {
      path: 'x.workflow.ts',
      text: '',
      imports: [
        { found: found('./lib/rule'), target: 'lib/rule.ts' },
        { found: found('dep'), target: 'node_modules/dep/main.js' },
        { found: found('node:fs'), target: null },
        { found: found('@phasegate/sdk'), target: null },
      ],
    },
    { ...rule, imports: [] },
    { path: 'node_modules/dep/package.json', text: '{"main":"main.js"}', imports: [] },
    {
      path: 'node_modules/dep/main.js',
      text: '',
      imports: [
        { found: found('absent', 'require'), target: null },
        { found: found('./absent', 'require'), target: null },
      ],
    },
  ];

  expect(freeImports(files)).toEqual([]);
});

test.each([
  ['to another file', './lib/rule', 'lib/other.ts', '→ lib/other.ts'],
  ['to nothing', './lib/rule', null, '→ nothing'],
  ['to a file where there would be none', 'absent', 'lib/rule.ts', '→ lib/rule.ts'],
  ['to what a `package.json` said before it was hashed', 'dep', 'node_modules/dep/b.js', '/b.js'],
  ['by a name that looks like an answer', './a" → b.ts', 'lib/rule.ts', '"./a\\" → b.ts" → lib/rule.ts'],
])('an import that leads %s is said in full', (_, specifier, target, words) => {
  const said = freeImports([
    { path: 'x.workflow.ts', text: '', imports: [{ found: found(specifier), target }] },
    { ...rule, imports: [] },
    { path: 'lib/other.ts', text: '', imports: [] },
    { path: 'node_modules/dep/package.json', text: '{"main":"a.js"}', imports: [] },
    { path: 'node_modules/dep/a.js', text: '', imports: [] },
    { path: 'node_modules/dep/b.js', text: '', imports: [] },
  ]);

  expect(said).toEqual([expect.stringMatching(/^x\.workflow\.ts\/\/import "/)]);
  expect(said[0]).toContain(words);
});

import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type House, readHouse, readLayers } from './layers/layers.ts';
import { repeatedConstants } from './layers/sharedConstants.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

test('what two rooms have to spell alike stands in one place', () => {
  const found = repeatedConstants(readHouse(root), readLayers(root));

  const unknown = found.filter(({ what }) => !ALIKE.has(what));
  expect(unknown.map(({ what, places }) => `${what} in ${places.join(' and ')}`)).toEqual([]);
  // What is fixed leaves the list.
  expect([...ALIKE.keys()].filter((what) => !found.some((one) => one.what === what))).toEqual([]);
});

/** Found, and left as it is. */
const ALIKE: ReadonlyMap<string, string> = new Map([
  ['/\\b(?:gateDecision|decisions)\\b/u', 'the proof spells the rule again that it proves'],
  ['/^[A-Za-z_]\\w*$/', 'what may be written without quotes in each of several languages'],
  ['/^[A-Za-z0-9_.-]+$/', 'names of servers, and names of tools'],
  ['/^\\s*(?:[-*+]|\\d+[.)])\\s/', 'a list item of Markdown, which is nobody’s rule of ours'],
  ['list of fail, iterate, ok, skip', 'the process of an author’s functions loads nothing of the engine'],
  ['list of is_true, non_empty, optional, positive, present', 'sorted by strictness in one of them'],
  ['list of .git, dist, node_modules', 'where workflows, and where documents are not looked for'],
  [
    'list of gate_opened, item_completed, phase_completed',
    'what a database is kept for, and what is counted',
  ],
]);

test.each([
  ['a pattern', 'if (/^(?:PHASEGATE|ORCHESTRATOR)_/i.test(name)) throw 1;'],
  ['a signed text', 'const text = canonicalJson({ run: runId, gate, option, shown: card.shown });'],
  ['a limit of size', 'const LARGEST_BODY = 2 * 1024 * 1024;'],
  ['a list', "const PASSED: readonly string[] = ['HOME', 'LANG', 'TZ'];"],
  ['a set', "const PASSED = new Set(['TZ', 'HOME', 'LANG']);"],
  ['a long text', "const MESSAGE = 'nobody may do this without a human';"],
])('%s in two rooms is found, and in one room is not', (_name, source) => {
  const layers = readLayers(root);
  const house = (...files: readonly string[]): House => ({
    packages: [],
    files: new Map(files.map((file) => [`packages/phasegate/src/${file}`, source])),
  });

  expect(repeatedConstants(house('runner/a.ts', 'agents/b.ts'), layers)).toHaveLength(1);
  expect(repeatedConstants(house('runner/a.ts', 'runner/b.ts', 'agents/b.test.ts'), layers)).toEqual([]);
});

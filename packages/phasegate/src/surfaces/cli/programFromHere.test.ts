import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { programFromHere } from './programFromHere.ts';

const here = mkdtempSync(join(tmpdir(), 'program-from-here-'));
writeFileSync(join(here, 'agent.js'), '');
mkdirSync(join(here, 'run'));

test.each([
  [
    ['node', 'agent.js', '{prompt}'],
    ['node', join(here, 'agent.js'), '{prompt}'],
  ],
  [
    ['/usr/bin/python3.12', './agent.js'],
    ['/usr/bin/python3.12', join(here, 'agent.js')],
  ],
  [
    ['./agent.sh', 'agent.js'],
    [join(here, 'agent.sh'), 'agent.js'],
  ],
])('a path is meant from the folder of the call: %j', (words, meant) => {
  expect(programFromHere(words as [string, ...string[]], here)).toEqual(meant);
});

test.each([
  [['my-agent', 'agent.js']],
  [['node', '/opt/agent.js']],
  [['node', '--import', 'agent.js']],
  [['sh', '-c', 'agent.js']],
  [['bun', 'run', 'agent.js']],
  [['python3', '{prompt_file}']],
  [['node']],
])('what is not a path of that folder stays as it is: %j', (words) => {
  expect(programFromHere(words as [string, ...string[]], here)).toEqual(words);
});

test('a script that is not there is refused, with how to name it', () => {
  expect(() => programFromHere(['node', 'lib/other.js', '{prompt}'], here)).toThrow(
    expect.objectContaining({
      code: 'usage',
      message: expect.stringContaining('`lib/other.js` is not a file in this folder'),
      hint: 'name it by its whole path: `-- node /path/to/other.js {prompt}`',
    }),
  );
});

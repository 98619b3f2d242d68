import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { splitCommand } from '../../packages/phasegate/src/runner/commandWords.ts';
import { COMMANDS } from '../../packages/phasegate/src/surfaces/cli/commandTable.ts';
import { parseArguments } from '../../packages/phasegate/src/surfaces/cli/parseArguments.ts';
import { commandLinesIn, NOT_RUN } from '../docs/commandLines.ts';
import { FULL } from '../tier.ts';
import { asProcess, makeProject, phasegate, TESTED, type TestProject } from './cli.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PAGES = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs/guide')).map((name) => `docs/guide/${name}`),
  'docs/deploy/README.md',
];
const LINES = PAGES.flatMap((page) => commandLinesIn(page, readFileSync(join(ROOT, page), 'utf8')));
const OURS = LINES.filter(({ text }) => text.startsWith('phasegate '));
const RUN = LINES.filter(({ text }) => !NOT_RUN.some(([pattern]) => pattern.test(text)));
/** Contract tests of `tdd` run the project’s tests again and again, and ten thousand runs are many. */
const SLOW = /^phasegate (?:(?:test|coverage) |simulate .*--runs \d{5})/;

let project: TestProject;

beforeAll(async () => {
  project = makeProject({ ...TESTED, 'docs/a.md': '# Rolling back\n\nHow we roll back a release.\n' });
  expect((await phasegate(project, ['init', '--yes'])).code).toBe(0);
  // Something to look at, for the lines that look at runs.
  expect((await phasegate(project, ['start', 'tdd'])).code).toBe(0);
});

describe('the command blocks of README and guides', () => {
  test.each([...new Set(OURS.map(({ text }) => text))])('can be understood: %s', async (text) => {
    const [name = '', ...words] = wordsOf(text);
    const entry = COMMANDS.find((candidate) => candidate.name === name);
    const command = await entry?.load();
    if (command === undefined) throw new Error(`there is no command \`${name}\``);

    // `{prompt}` and RUN are words like any other; what is unknown, missing or too much is not.
    expect(() => parseArguments(words, command, { name })).not.toThrow();
  });

  test.each([...new Set(RUN.map(({ text }) => text))].filter((text) => FULL || !SLOW.test(text)))(
    'are run: %s',
    async (text) => {
      const call = SLOW.test(text) ? asProcess : phasegate;
      const { code, stdout, stderr } = await call(project, wordsOf(text));

      expect(code, `${stdout}\n${stderr}`).toBe(0);
    },
  );

  test('are run, or have a reason that still fits one of them', () => {
    const unused = NOT_RUN.filter(([pattern]) => !LINES.some(({ text }) => pattern.test(text)));

    expect(unused.map(([pattern]) => pattern.source)).toEqual([]);
    expect(RUN.filter(({ text }) => !text.startsWith('phasegate '))).toEqual([]);
    expect(RUN.length).toBeGreaterThan(30);
  });
});

/** The words of a line as a shell gives them, as far as these lines have any of a shell's. */
function wordsOf(text: string): readonly string[] {
  const split = splitCommand(text.replaceAll('$HOME', project?.base ?? '/home/maria'));
  if (!split.ok) throw new Error(split.reason);
  return split.words.slice(1);
}

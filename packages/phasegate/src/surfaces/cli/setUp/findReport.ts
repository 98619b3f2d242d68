import { join } from 'node:path';
import { isJsonObject, type Json, own } from '@phasegate/core';
import { readRegularIfAny } from '../../../files/readRegular.ts';
import { plainWords } from '../../../templates/index.ts';

/** The words that run the same tests with a report for machines; null where the runner is not a known one. */
export function reportOf(root: string, command: string): readonly string[] | null {
  const words = plainWords(command);
  if (words === null) return null;
  const [program = '', verb] = words;
  if (['npm', 'pnpm', 'yarn'].includes(program) && verb === 'test' && words.length === 2) {
    const script = scriptIn(root);
    return script === null ? null : scriptReport(script);
  }
  return scriptReport(command) ?? otherReport(words);
}

/** What a script of `package.json` runs: its own program, and nothing around it. */
function scriptReport(script: string): readonly string[] | null {
  const words = plainWords(script.replaceAll(/["']/g, ''))
    ? (script.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^(["'])(.*)\1$/, '$2'))
    : globbedWords(script);
  if (words === null) return null;
  const [program, ...rest] = words[0] === 'npx' ? words.slice(1) : words;
  if (program === 'node' && rest[0] === '--test')
    return [
      'node',
      '--test',
      '--test-reporter=tap',
      ...rest.slice(1).filter((word) => !/reporter/.test(word)),
    ];
  if (program === 'vitest' && rest.every((word) => word === 'run' || word === '--run'))
    return ['node', 'node_modules/vitest/vitest.mjs', 'run', '--reporter=json', '--outputFile={report}'];
  if (program === 'jest' && rest.length === 0) return ['node', 'node_modules/jest/bin/jest.js', '--json'];
  return null;
}

/** Words with globs in quotes, as `node --test "test/*.test.js"` has them. */
function globbedWords(script: string): readonly string[] | null {
  const words = (script.match(/"[^"$`\\]*"|'[^']*'|[\w@%+:,./=-]+/g) ?? []).map((word) =>
    word.replace(/^(["'])(.*)\1$/, '$2'),
  );
  return script.replaceAll(/["'\s]/g, '') === words.join('').replaceAll(/\s/g, '') ? words : null;
}

function otherReport(words: readonly string[]): readonly string[] | null {
  if (words.at(-1) === 'pytest') return [...words, '-q', '-p', 'no:cacheprovider', '--junitxml={report}'];
  if (words[0] === 'go' && words[1] === 'test') return ['go', 'test', '-json', ...words.slice(2)];
  return null;
}

function scriptIn(root: string): string | null {
  const bytes = readRegularIfAny(join(root, 'package.json'), { most: 4 * 1024 * 1024, links: 'follow' });
  try {
    const scripts = own(JSON.parse(bytes?.toString('utf8') ?? '{}') as Json, 'scripts');
    const test = isJsonObject(scripts) ? own(scripts, 'test') : undefined;
    return typeof test === 'string' ? test.trim() : null;
  } catch {
    return null;
  }
}

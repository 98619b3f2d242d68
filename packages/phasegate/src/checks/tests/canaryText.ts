import { randomInt } from 'node:crypto';

/** A test file with tests in it that must fail. */
export interface Canary {
  readonly text: string;
  /** How those tests are called. */
  readonly titles: readonly string[];
}

/**
 * A test file with tests that must fail at an assertion, as its runner has them; null for a file that holds no tests of a
 * known one. Names and values are others each time, and look like those of the file: code under test that is to spare
 * these tests must not know them by anything that it could be told beforehand.
 */
export function canaryFor(path: string, text: string): Canary | null {
  const words = wordsOf(text);
  if (/\.[cm]?[jt]sx?$/.test(path)) return scriptCanary(path, text, words);
  if (/(?:^|\/)(?:test_[^/]*|[^/]*_test)\.py$/.test(path)) {
    const title = `test_${words.some().join('_')}`;
    const [one, other] = values();
    return { text: `${text}\n\ndef ${title}():\n    assert ${one} == ${other}\n`, titles: [title] };
  }
  if (path.endsWith('_test.go') && /\btesting\.T\b/.test(text)) {
    const title = `Test${words.some().map(capital).join('')}`;
    return {
      text: `${text}\nfunc ${title}(t *testing.T) { t.Fatal("${words.some().join(' ')}") }\n`,
      titles: [title],
    };
  }
  return null;
}

function scriptCanary(path: string, text: string, words: Words): Canary | null {
  const isModule = /^\s*(?:import|export)\b/m.test(text) && !/\.c[jt]s$/.test(path);
  const [test, expect] = [words.name(), words.name()];
  if (/['"]node:test['"]/.test(text)) return nodeCanary(text, isModule, words);
  if (/['"]vitest['"]/.test(text)) {
    const named = `import { expect as ${expect}, test as ${test} } from 'vitest';`;
    return withTests(text, named, expecting({ test, expect, words }));
  }
  if (/\b(?:test|it|describe)\s*(?:\.\w+)*\(/.test(text))
    return withTests(text, '', expecting({ test: 'test', expect: 'expect', words }));
  return null;
}

interface Test {
  readonly title: string;
  readonly line: string;
}

function expecting({
  test,
  expect,
  words,
}: {
  readonly test: string;
  readonly expect: string;
  readonly words: Words;
}): readonly Test[] {
  return ['toBe', 'toEqual', 'toStrictEqual'].map((way) => {
    const [one, other] = values();
    const title = words.some().join(' ');
    return { title, line: `${test}('${title}', () => ${expect}(${one}).${way}(${other}));` };
  });
}

function nodeCanary(text: string, isModule: boolean, words: Words): Canary {
  const test = words.name();
  // Those of the file, by its own name for them: `strict` has functions of its own, which can be changed alone.
  const used = ASSERTIONS.filter((name) => text.includes(`'${name}'`) || text.includes(`"${name}"`));
  const sources = (used.length === 0 ? ['node:assert'] : used).map((name) => ({
    name,
    whole: words.name(),
    // What a module imports by name can be another function than the property of the same name.
    single: words.name(),
  }));
  const load = sources.map(({ name, whole, single }) =>
    isModule
      ? `import ${whole} from '${name}';\nimport * as ${single} from '${name}';`
      : `const ${whole} = require('${name}'), ${single} = ${whole};`,
  );
  const own = isModule
    ? `import { test as ${test} } from 'node:test';`
    : `const { test: ${test} } = require('node:test');`;
  const ways = sources.flatMap(({ whole, single }) =>
    ['equal', 'strictEqual', 'deepEqual', 'deepStrictEqual', 'ok'].flatMap((way) =>
      (isModule ? [whole, single] : [whole]).map((object) => {
        const [one, other] = values();
        const title = words.some().join(' ');
        const called =
          way === 'ok' ? `${object}.ok(${one} === ${other})` : `${object}.${way}(${one}, ${other})`;
        return { title, line: `${test}('${title}', () => ${called});` };
      }),
    ),
  );
  return withTests(text, [own, ...load].join('\n'), ways);
}

const ASSERTIONS = ['node:assert', 'node:assert/strict', 'assert', 'assert/strict'];

/** In any order: where they stand says nothing. */
function withTests(text: string, load: string, tests: readonly Test[]): Canary {
  const lines = tests.map(({ line }) => ({ line, at: randomInt(1_000_000) })).sort((a, b) => a.at - b.at);
  const added = lines.map(({ line }) => line).join('\n');
  return { text: `${text}\n${load}\n${added}\n`, titles: tests.map(({ title }) => title) };
}

interface Words {
  /** A few, of which one is in no file. */
  some(): readonly string[];
  /** A name for a variable that the file does not have. */
  name(): string;
}

function wordsOf(text: string): Words {
  const known = [...new Set(text.slice(0, MOST_READ).match(/\b[a-z]{3,10}\b/g) ?? [])].filter(
    (word) => !PYTHON_AND_GO.has(word),
  );
  const any = () => known[randomInt(Math.max(1, known.length))] ?? 'value';
  const own = () => Array.from({ length: 7 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
  return {
    some: () => [any(), own(), any()],
    name: () => `${any()}${capital(own())}`,
  };
}

const MOST_READ = 100_000;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
/** A runner may do something else with tests of such names. */
const PYTHON_AND_GO = new Set(['skip', 'only', 'todo', 'slow', 'network', 'integration', 'bench', 'fuzz']);

function capital(word: string): string {
  return `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;
}

/** Two numbers that are not the same. */
function values(): readonly [number, number] {
  const one = randomInt(1000);
  return [one, one + 1 + randomInt(1000)];
}

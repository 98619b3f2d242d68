import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createYamlLoader } from './yamlLoader.ts';
import { YamlTree } from './yamlTree.ts';

const repeat = (times: number, line: (index: number) => string) =>
  Array.from({ length: times }, (_, index) => line(index)).join('');
const loader = createYamlLoader({ known: { checks: {} } });

async function load(text: string) {
  const root = mkdtempSync(join(tmpdir(), 'phasegate-huge-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, 'workflows'));
  const file = { root, path: 'workflows/x.workflow.yaml' };
  writeFileSync(join(root, file.path), text);
  return { peeked: await loader.peek(file), loaded: await loader.load(file) };
}

test('of thousands of problems the first are told, and how many are left out', async () => {
  const gates = repeat(1500, (at) => `  P${at}: {zz: 1}\n`);
  const { problems } = (await load(`workflow: a\nphases: {A: {}}\ngates:\n${gates}`)).loaded;

  expect(problems).toHaveLength(1001);
  expect(problems.slice(0, 4).map(({ line, code }) => [line, code])).toEqual([
    [4, 'missing_key'],
    [4, 'unknown_key'],
    [5, 'missing_key'],
    [5, 'unknown_key'],
  ]);
  expect(problems.at(-1)).toMatchObject({ code: 'more_problems', severity: 'error' });
});

test('of problems that only follow from another none is told, counted, or in the way of one that does not', async () => {
  const names = repeat(1500, (at) => `      - g${at}\n`);
  const contract = (end: string) =>
    `workflow: a\ngates: 5\nphases:\n  A:\n    gates:\n${names}    next: B\n  B: {${end}}\n`;

  expect((await load(contract('next: null'))).loaded.problems).toMatchObject([
    { code: 'wrong_type', line: 2 },
  ]);
  expect((await load(contract('next: null, writes: [/etc]'))).loaded.problems).toMatchObject([
    { code: 'wrong_type', line: 2 },
    { code: 'bad_glob', line: 1507 },
  ]);
});

describe('a file with more in it than is read', () => {
  test.each([
    ['a list', `x: [${repeat(60_000, () => '1,')}]\n`],
    ['maps', repeat(30_000, (at) => `k${at}: 1\n`)],
    ['anchors and aliases', repeat(20_000, (at) => `a${at}: &a${at} 1\nb${at}: *a${at}\n`)],
    ['merged maps', `b: &b {a: 1}\nc:\n${repeat(20_000, () => '  - {<<: *b}\n')}`],
    ['lists in lists', `x: ${'['.repeat(200_000)}`],
    ['comments', repeat(60_000, () => '#\n')],
    ['wrong escapes', `x: "${'\\q'.repeat(110_000)}"\n`],
  ])('is refused, with the line that is too much: %s', async (_, text) => {
    const { peeked, loaded } = await load(`workflow: a\n${text}`);

    expect(loaded).toMatchObject({ workflow: null, problems: [{ code: 'too_large', severity: 'error' }] });
    expect(loaded.problems[0]?.message).toMatch(/more than 100,000 signs.*make it smaller/);
    expect(peeked?.problems).toMatchObject([{ code: 'too_large' }]);
  });

  test('is refused at its line', async () => {
    const { loaded } = await load(`workflow: a\n${repeat(30_000, (at) => `k${at}: 1\n`)}`);

    // Seven for each line: the key and the value with their marks, the colon, the space and the end.
    expect(loaded.problems[0]?.line).toBe(14_286);
  });

  test('may be as large as a file can be where it is text', async () => {
    const instructions = repeat(20_000, () => '      one more line of what is to be done here\n');

    const { loaded } = await load(
      `workflow: a\nphases:\n  A:\n    instructions: |\n${instructions}    next: null\n`,
    );

    expect(loaded.problems).toEqual([]);
    expect(loaded.workflow).not.toBeNull();
  });
});

test('an alias stands for the nearest anchor before it, and places are found through it', () => {
  const tree = new YamlTree('a', 'a: &x {k: 1}\nb: *x\nc: &x {k: 2}\nd: *x\ne: *y\n');

  expect(tree.flaws).toMatchObject([{ message: 'there is no such anchor before this alias' }]);
  expect(tree.value).toBeUndefined();
  const whole = new YamlTree('a', 'a: &x {k: 1}\nb: *x\nc: &x {k: 2}\nd: *x\n');
  expect(whole.value).toEqual({ a: { k: 1 }, b: { k: 1 }, c: { k: 2 }, d: { k: 2 } });
  expect(whole.lines.at(whole.offsetOf(['d', 'k'])).line).toBe(3);
});

test('aliases are counted where they lead to others, and that is said', () => {
  const nine = (of: string) => repeat(9, () => `*${of},`);
  const tree = new YamlTree(
    'a',
    `a: &a [1]\nb: &b [${nine('a')}]\nc: &c [${nine('b')}]\nd: [${nine('c')}]\n`,
  );

  expect(tree.flaws).toMatchObject([
    { code: 'too_large', message: 'more than 100 aliases once each is followed' },
  ]);
});

test('what aliases repeat is bounded', () => {
  const tree = new YamlTree('a', `a: &a [${repeat(1000, () => 'x,')}]\nb: [${repeat(90, () => '*a,')}]\n`);

  expect(tree.value).toBeUndefined();
  expect(tree.flaws).toMatchObject([{ code: 'too_large' }]);
});

import { linkSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { EVIDENCE_LIMIT } from '@phasegate/core/model';
import { expect, test } from 'vitest';
import { readEvidence } from './evidence.ts';

test('evidence is read from a file and from stdin', async () => {
  expect(await readEvidence(fileWith('{"plan": {"steps": 3}}'), () => Readable.from([]))).toEqual({
    plan: { steps: 3 },
  });
  expect(await readEvidence('-', () => Readable.from(['{"a"', ': 1}']))).toEqual({ a: 1 });
});

test('what is in the state directory of a project is not handed in, by whatever name', async () => {
  const state = mkdtempSync(join(tmpdir(), 'phasegate-state-'));
  for (const name of ['keys.json', 'state.db']) writeFileSync(join(state, name), '{}');
  mkdirSync(join(state, 'accepted'));
  writeFileSync(join(state, 'accepted/a.json'), '{}');
  const link = join(mkdtempSync(join(tmpdir(), 'phasegate-link-')), 'plan.json');
  symlinkSync(join(state, 'keys.json'), link);
  for (const file of [join(state, 'keys.json'), join(state, 'accepted/a.json'), link])
    await expect(readEvidence(file, () => Readable.from([]))).rejects.toMatchObject({
      code: 'evidence_unreadable',
      message: expect.stringContaining('Phasegate keeps for itself'),
    });
});

test('a file of several names is not handed in: one of them may be in the state directory', async () => {
  const state = mkdtempSync(join(tmpdir(), 'phasegate-state-'));
  for (const name of ['keys.json', 'state.db']) writeFileSync(join(state, name), '{}');
  const folder = mkdtempSync(join(tmpdir(), 'phasegate-link-'));
  linkSync(join(state, 'keys.json'), join(folder, 'plan.json'));
  symlinkSync('plan.json', join(folder, 'link.json'));
  for (const name of ['plan.json', 'link.json'])
    await expect(readEvidence(join(folder, name), () => Readable.from([]))).rejects.toMatchObject({
      code: 'evidence_unreadable',
      message: expect.stringContaining('several names'),
    });
});

test('a character split over two chunks of stdin stays whole', async () => {
  const bytes = Buffer.from('{"name": "Zoë"}');
  const cut = bytes.indexOf(0xc3) + 1;

  expect(await readEvidence('-', () => Readable.from([bytes.subarray(0, cut), bytes.subarray(cut)]))).toEqual(
    {
      name: 'Zoë',
    },
  );
});

test('what is not JSON is refused with its line and column', async () => {
  await expect(
    readEvidence(fileWith('{\n  "a": 1,\n  "b" 2\n}'), () => Readable.from([])),
  ).rejects.toMatchObject({
    code: 'evidence_unreadable',
    message: expect.stringContaining('at line 3, column 7'),
  });
  await expect(readEvidence('-', () => Readable.from(['{"a": [1,\n']))).rejects.toThrow(
    'stdin is not JSON at line 1, column 10: unexpected end of JSON input',
  );
});

test.each([
  ['{a', "stdin is not JSON at line 1, column 2: expected property name or '}'"],
  ['{"a": 1}}', 'stdin is not JSON at line 1, column 9: unexpected non-whitespace character after JSON'],
  ['{\n "a": tru}', "stdin is not JSON at line 2, column 10: unexpected token '}'"],
  ['', 'stdin is not JSON at line 1, column 1: unexpected end of JSON input'],
  [`{"a":"${'x'.repeat(99)}",\n"b": hello}`, "stdin is not JSON at line 2, column 6: unexpected token 'h'"],
])('the place of a fault is said once: %j', async (text, message) => {
  await expect(readEvidence('-', () => Readable.from([text]))).rejects.toMatchObject({ message });
});

test('a number no JSON has (1e999) is refused with its place [adv.O1]', async () => {
  await expect(
    readEvidence(fileWith('{"a": [{"b": 1e999}]}'), () => Readable.from([])),
  ).rejects.toMatchObject({
    code: 'evidence_unreadable',
    message: expect.stringMatching(/ has at `a\[0\]\.b` a number that JSON cannot hold$/),
  });
  await expect(readEvidence('-', () => Readable.from(['-1e999']))).rejects.toThrow(
    'stdin is a number that JSON cannot hold',
  );
});

test('a key with half of a surrogate pair is refused with its place [adv.O1]', async () => {
  await expect(readEvidence('-', () => Readable.from(['{"p":{"\\ud800":1}}']))).rejects.toThrow(
    'stdin has at `p` a key with half of a surrogate pair',
  );
});

test.each([
  ['[1]', 'a list'],
  ['null', 'null'],
  ['"text"', 'a string'],
  ['7', 'a number'],
])('%s is JSON but no evidence', async (text, kind) => {
  await expect(readEvidence('-', () => Readable.from([text]))).rejects.toMatchObject({
    code: 'evidence_unreadable',
    message: `stdin holds ${kind}, and evidence is a JSON object`,
  });
});

test('a missing file, a directory, bytes that are not text, and nesting without end are refused', async () => {
  const none = Readable.from([]);
  await expect(readEvidence('/nowhere/x.json', () => none)).rejects.toThrow('there is no such file');
  await expect(readEvidence(tmpdir(), () => none)).rejects.toThrow('it is a folder');
  await expect(readEvidence('-', () => Readable.from([Buffer.from([0x7b, 0xff, 0x7d])]))).rejects.toThrow(
    'not UTF-8',
  );
  const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  await expect(readEvidence('-', () => Readable.from([deep]))).rejects.toThrow(
    'nested deeper than 200 levels',
  );
});

test('more than 1 MB is refused without reading on [adv.O4]', async () => {
  let read = 0;
  async function* endless() {
    for (;;) {
      read += 1024 * 1024;
      yield Buffer.alloc(1024 * 1024, ' ');
    }
  }

  await expect(readEvidence('-', () => Readable.from(endless()))).rejects.toMatchObject({
    code: 'evidence_unreadable',
    message: 'stdin is over the limit of 1 MB',
  });
  expect(read).toBeLessThan(EVIDENCE_LIMIT * 4);
});

function fileWith(text: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'phasegate-evidence-')), 'evidence.json');
  writeFileSync(file, text);
  return file;
}

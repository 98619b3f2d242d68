import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FULL } from '../../../../test/tier.ts';
import { runScript } from '../stores/fixtures/runScript.ts';
import { openKeys, rotateTokenSecret } from './keys.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'phasegate-keys-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('keys are made once, for their owner only, and read again afterwards', () => {
  const state = join(folder, 'made', 'on', 'demand');
  const made = openKeys(state);

  expect(openKeys(state)).toEqual(made);
  expect(statSync(join(state, 'keys.json')).mode & 0o777).toBe(0o600);
  expect(statSync(state).mode & 0o777).toBe(0o700);
  expect(readdirSync(state)).toEqual(['keys.json']);
});

test('no two projects and no two purposes share a secret', () => {
  const one = openKeys(join(folder, 'one'));
  const two = openKeys(join(folder, 'two'));

  const secrets = [one, two].flatMap(({ audit, rows, tokens }) => [
    audit.privateKey,
    rows,
    tokens.current.secret,
  ]);
  expect(new Set(secrets).size).toBe(6);
});

test.runIf(FULL)('processes that are first at once all get the keys of one of them', async () => {
  const folders = Array.from({ length: 60 }, (_, number) => join(folder, `state-${number}`));
  const start = String(Date.now() + 2000);
  const results = await Promise.all([1, 2, 3, 4].map(() => runScript('printKeys.ts', [start, ...folders])));

  expect(results.map(({ code, stderr }) => [code, stderr])).toEqual(results.map(() => [0, '']));
  expect(new Set(results.map(({ stdout }) => stdout)).size).toBe(1);
  expect(folders.flatMap((path) => readdirSync(path))).toEqual(folders.map(() => 'keys.json'));
});

test.each([
  ['text', 'not json'],
  ['nothing', ''],
  ['another shape', '[]'],
  ['a missing secret', (keys: string) => keys.replace('"rows"', '"others"')],
  ['a short secret', (keys: string) => keys.replace(/("rows": ").{6}/, '$1')],
  ['a token secret without a name', (keys: string) => keys.replace(/"kid": "\w+"/, '"kid": ""')],
  ['half a file', (keys: string) => keys.slice(0, 200)],
])('keys damaged to %s are a clear fault and never made anew', (_, damage) => {
  openKeys(folder);
  const file = join(folder, 'keys.json');
  const damaged = typeof damage === 'string' ? damage : damage(readFileSync(file, 'utf8'));
  writeFileSync(file, damaged);

  expect(() => openKeys(folder)).toThrow(expect.objectContaining({ code: 'store_corrupt' }));
  expect(() => openKeys(folder)).toThrow(file);
  expect(() => rotateTokenSecret(folder)).toThrow(expect.objectContaining({ code: 'store_corrupt' }));
  expect(readFileSync(file, 'utf8')).toBe(damaged);
});

test('keys are not made for a database whose keys are gone', () => {
  writeFileSync(join(folder, 'state.db'), '');

  expect(() => openKeys(folder)).toThrow(expect.objectContaining({ code: 'store_corrupt' }));
  expect(() => openKeys(folder)).toThrow('the keys are missing');
  expect(readdirSync(folder)).toEqual(['state.db']);
});

test('a folder that cannot be made is a fault with its reason', () => {
  writeFileSync(join(folder, 'file'), '');

  expect(() => openKeys(join(folder, 'file', 'state'))).toThrow(
    expect.objectContaining({ code: 'store_unavailable' }),
  );
});

test('rotation makes a new token secret, keeps the one before, and leaves the other keys alone [S2.39]', () => {
  const first = openKeys(folder);
  const second = rotateTokenSecret(folder);
  const third = rotateTokenSecret(folder);

  expect(second.tokens.previous).toEqual(first.tokens.current);
  expect(third.tokens.previous).toEqual(second.tokens.current);
  expect(third.tokens.current.kid).not.toBe(second.tokens.current.kid);
  expect({ ...third, tokens: null }).toEqual({ ...first, tokens: null });
  expect(openKeys(folder)).toEqual(third);
  expect(statSync(join(folder, 'keys.json')).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['keys.json']);
});

import { execFile } from 'node:child_process';
import { chmodSync, copyFileSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ADA, BOB, claim, done, openWith, queue } from '../fixtures/agentsAtWork.ts';
import { openKeys, rotateTokenSecret, tokenSecretsOf } from '../keys.ts';
import type { Claimed } from '../ports.ts';
import { createTokens } from './tokens.ts';

const kidOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;

describe('while agents work a rotation', () => {
  test('throws nobody out: old tokens verify, new ones have the new key [S2.39]', async () => {
    const it = openWith();
    await queue(it);
    await queue(it);
    const [first, second] = [await claim(it, ADA), await claim(it, BOB)];
    const rotated = rotateTokenSecret(it.folder).tokens;
    it.pass(1);

    await it.project.claims.admit(first.token);
    const { next } = await done(it, first);
    expect(kidOf(first.token)).toBe(rotated.previous?.kid);
    expect(kidOf(next?.token ?? '')).toBe(rotated.current.kid);
    await it.project.claims.admit((next as Claimed).token);
    await it.project.claims.admit(second.token);
  });

  test('by another process is noticed at once where its token comes first [S2.39]', () => {
    return inFolder(async (folder) => {
      const now = () => 1_800_000_000_000;
      const here = createTokens({ secrets: tokenSecretsOf(folder), now });
      const early = here.issue(REQUEST);
      rotateTokenSecret(folder);
      const there = createTokens({ secrets: tokenSecretsOf(folder), now });
      const { token } = there.issue(REQUEST);

      expect(await here.verify(token)).toMatchObject({ task_id: 'run-1' });
      expect(await there.verify(early.token)).toMatchObject({ task_id: 'run-1' });
      expect(kidOf(here.issue(REQUEST).token)).toBe(kidOf(token));
    });
  });

  test('twice ends the tokens of two secrets ago, also those that were seen before [S2.39 S2.79]', () => {
    return inFolder(async (folder) => {
      let time = 1_800_000_000_000;
      const tokens = createTokens({ secrets: tokenSecretsOf(folder), now: () => time });
      const { token } = tokens.issue(REQUEST);
      await tokens.verify(token);
      rotateTokenSecret(folder);
      rotateTokenSecret(folder);
      time += 1_000;
      await expect(tokens.verify(token)).rejects.toMatchObject({ code: 'token_invalid' });
    });
  });

  test('also ends those that were last seen before thousands of others', () => {
    return inFolder(async (folder) => {
      let time = 1_800_000_000_000;
      const tokens = createTokens({ secrets: tokenSecretsOf(folder), now: () => time });
      const [used, left] = [tokens.issue(REQUEST).token, tokens.issue(REQUEST).token];
      for (let others = 0; others < 3_000; others += 1) tokens.issue(REQUEST);
      expect(tokens.known(used)).toMatchObject({ task_id: 'run-1' });
      for (let others = 0; others < 1_500; others += 1) tokens.issue(REQUEST);

      // Also the one that was forgotten meanwhile is known to be ours.
      expect(tokens.known(used)).toMatchObject({ task_id: 'run-1' });
      expect(tokens.known(left)).toMatchObject({ task_id: 'run-1' });
      expect(await tokens.verify(left)).toMatchObject({ task_id: 'run-1' });

      rotateTokenSecret(folder);
      rotateTokenSecret(folder);
      time += 1_000;
      for (const token of [used, left]) {
        expect(tokens.known(token)).toBe(null);
        await expect(tokens.verify(token)).rejects.toMatchObject({ code: 'token_invalid' });
      }
    });
  });

  test('keys that cannot be read any more let nobody in', () => {
    return inFolder(async (folder) => {
      let time = 1_800_000_000_000;
      const tokens = createTokens({ secrets: tokenSecretsOf(folder), now: () => time });
      const { token } = tokens.issue(REQUEST);
      writeFileSync(join(folder, 'keys.json'), 'not json');
      time += 1_000;
      await expect(tokens.verify(token)).rejects.toMatchObject({ code: 'store_corrupt' });
    });
  });
});

describe('a file of keys that nodes share', () => {
  const spoilt: readonly (readonly [name: string, put: (file: string) => void, code: string])[] = [
    ['missing', (file) => rmSync(file), 'store_unavailable'],
    ['half written', (file) => truncateSync(file, 100), 'store_corrupt'],
    ['readable by others', (file) => chmodSync(file, 0o644), 'store_unavailable'],
  ];

  test.each(spoilt)('that is %s lets nobody in at any call until it is good again', (_, put, code) => {
    return inFolder(async (folder) => {
      openKeys(folder);
      const shared = join(folder, 'shared.json');
      copyFileSync(join(folder, 'keys.json'), shared);
      chmodSync(shared, 0o600);
      const good = readFileSync(shared);
      let time = 1_800_000_000_000;
      const tokens = createTokens({ secrets: tokenSecretsOf(folder, shared), now: () => time });
      const { token } = tokens.issue(REQUEST);

      put(shared);
      time += 1_000;

      // Within one and the same moment: the first refusal must not count as having looked.
      for (const _round of [1, 2, 3]) {
        const refused = expect.objectContaining({
          code: 'keys_unavailable',
          cause: expect.objectContaining({ code }),
        });
        expect(() => tokens.known(token)).toThrow(refused);
        expect(() => tokens.issue(REQUEST)).toThrow(refused);
        await expect(tokens.verify(token)).rejects.toEqual(refused);
      }
      writeFileSync(shared, good);
      chmodSync(shared, 0o600);
      expect(await tokens.verify(token)).toMatchObject({ task_id: 'run-1' });
      expect(await tokens.verify(tokens.issue(REQUEST).token)).toMatchObject({ task_id: 'run-1' });
    });
  });
});

describe('rotating', () => {
  test('by several processes at once is one after the other: every step keeps the secret before it', () => {
    return inFolder(async (folder) => {
      openKeys(folder);
      const module = pathToFileURL(join(import.meta.dirname, '../keys.ts')).href;
      const script = `import { rotateTokenSecret } from ${JSON.stringify(module)};
        for (let n = 0; n < 5; n += 1) {
          const { current, previous } = rotateTokenSecret(${JSON.stringify(folder)}).tokens;
          console.log(previous.kid + ' ' + current.kid);
        }`;
      const run = promisify(execFile);
      const outputs = await Promise.all(
        [1, 2, 3].map(() => run(process.execPath, ['--input-type=module', '-e', script])),
      );
      const steps = outputs.flatMap(({ stdout }) =>
        stdout
          .trim()
          .split('\n')
          .map((line) => line.split(' ')),
      );
      expect(steps).toHaveLength(15);
      // Each was made from another: nobody's step was lost under somebody else's.
      expect(new Set(steps.map(([before]) => before)).size).toBe(15);
      expect(new Set(steps.map(([, after]) => after)).size).toBe(15);
    });
  });

  test('waits a little for a lock that stays, and then says what to do', () => {
    return inFolder(async (folder) => {
      openKeys(folder);
      writeFileSync(join(folder, 'keys.json.lock'), '');
      expect(() => rotateTokenSecret(folder)).toThrow(expect.objectContaining({ code: 'store_unavailable' }));
    });
  });
});

const REQUEST = {
  task_id: 'run-1',
  phase: 'PLAN',
  allowed_tools: [],
  agent_id: 'ada',
  epoch: 1,
  expirySeconds: 7200,
};
let made: string[];
beforeEach(() => {
  made = [];
});
afterEach(async () => {
  for (const folder of made) await rm(folder, { recursive: true, force: true });
});

async function inFolder(act: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'phasegate-rotation-'));
  made.push(folder);
  await act(folder);
}

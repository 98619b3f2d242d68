import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FULL } from '../../../../test/tier.ts';
import { type ReadingGit, readingGit } from '../workspace/readingGit.ts';
import { readRange } from './readRange.ts';

/** A repository in which every commit changes the same file. */
function repository(commits: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'phasegate-range-'));
  const git = (words: readonly string[], input = '') => execFileSync('git', words, { cwd: folder, input });
  git(['init', '-q', '-b', 'main']);
  const all = Array.from({ length: commits + 1 }, (_, number) => {
    const text = `content ${number}\n`;
    const head = `commit refs/heads/main\nmark :${number + 1}\ncommitter A <a@example.invalid> ${1_700_000_000 + number} +0000\ndata 2\nc\n`;
    return `${head}M 100644 inline src/a.ts\ndata ${text.length}\n${text}\n`;
  });
  git(['fast-import', '--quiet'], all.join(''));
  return folder;
}

async function read(folder: string, commits: number) {
  let calls = 0;
  const git = readingGit(folder, process.env);
  const counting: ReadingGit = (words, call) => {
    calls += 1;
    return git(words, call);
  };
  const before = process.cpuUsage();
  const range = await readRange(counting, `main~${commits}..main`, { eachCommit: true });
  const { user, system } = process.cpuUsage(before);
  return { range, calls, cpu: user + system };
}

test('as many calls of git for many commits as for a few, and every commit is named', async () => {
  const [few, many] = [await read(repository(2), 2), await read(repository(60), 60)];

  expect(many.calls).toBe(few.calls);
  expect(many.range).toMatchObject({ count: 60, changes: [{ path: 'src/a.ts' }] });
  expect(many.range.changes[0]?.commits).toHaveLength(60);
  expect(many.range.commits.map(({ changes }) => changes.length)).toEqual(Array(60).fill(1));
});

describe.runIf(FULL)('one path in very many commits', () => {
  test('costs in proportion to them', async () => {
    const [few, many] = [5_000, 40_000] as const;
    await read(repository(few), few);
    const small = await read(repository(few), few);
    const large = await read(repository(many), many);

    // Eight times as many: in proportion it is 8, and 64 where each commit looks at those before it.
    expect(large.cpu / small.cpu).toBeLessThan(24);
  });
});

import type { Json } from '@phasegate/core';
import { expect, test } from 'vitest';
import type { ToolAnswer } from '#wire';
import { createFileCalls } from './fileCalls.ts';

test('a file that is too large to be given whole is an error, never half a file', async () => {
  const files = answering({ path: 'a', content: 'half', truncated: true });

  await expect(files.readFile('a')).rejects.toMatchObject({ code: 'too_large' });
});

test('a tool that failed is thrown with its own code', async () => {
  const files = answering({ error: 'no_match', message: '`old` does not stand in `a`' }, { ok: false });

  await expect(files.editFile('a', { old: 'x', new: 'y' })).rejects.toMatchObject({
    code: 'no_match',
    message: '`old` does not stand in `a`',
  });
});

test('a command that failed is an answer, one that was never started is an error', async () => {
  const failed = answering(
    { exit_code: 2, stdout: '', stderr: 'no', truncated: false },
    { ok: false, exit_code: 2 },
  );
  const killed = answering(
    { error: 'timed_out', stdout: 'so far', stderr: '' },
    { ok: false, exit_code: null },
  );
  const absent = answering({ error: 'not_started', message: 'ENOENT' }, { ok: false });

  expect(await failed.runCommand('make')).toMatchObject({ ok: false, exit_code: 2, stderr: 'no' });
  expect(await killed.runCommand('make')).toMatchObject({ ok: false, exit_code: null, stdout: 'so far' });
  await expect(absent.runCommand('make')).rejects.toMatchObject({ code: 'not_started' });
});

function answering(output: Json, result: { readonly ok?: boolean; readonly exit_code?: number | null } = {}) {
  const answer: ToolAnswer = { allowed: true, result: { ok: true, ...result, output }, receipt: null };
  return createFileCalls({ useTool: async () => answer });
}

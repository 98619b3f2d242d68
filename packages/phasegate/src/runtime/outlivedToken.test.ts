import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ADA, codeOf, working } from './fixtures/workingRun.ts';
import { rotateTokenSecret } from './keys.ts';
import type { ToolImplementation } from './ports.ts';

const PHASE = { allowedTools: ['write_files', 'bash', 'mcp:own/*'], writes: ['docs/**'] };

type Working = Awaited<ReturnType<typeof working>>;
const ENDINGS: readonly (readonly [how: string, code: string, end: (at: Working) => Promise<unknown>])[] = [
  ['was replaced twice', 'token_invalid', replaceTwice],
  ['was signed two secrets ago', 'token_invalid', async (at) => rotateTwice(at)],
  ['has run out', 'token_expired', async (at) => at.pass(7_200)],
];

test.each(ENDINGS)('a batch ends with its token: nothing begins once that %s', async (_, code, end) => {
  const ending = own('end', () => end(at));
  const at = await working(PHASE, [ending]);

  const done = await at.execute([
    { tool: 'write_files', input: { path: 'docs/before', content: '' } },
    { tool: 'mcp:own/end', input: {} },
    { tool: 'write_files', input: { path: 'docs/after', content: '' } },
    { tool: 'bash', input: { command: 'touch docs/program' } },
  ]);

  expect(done.map(codeOf)).toEqual(['allowed', 'allowed', 'not_your_run', 'not_your_run']);
  expect(existsSync(join(at.workspace, 'docs/after'))).toBe(false);
  expect(existsSync(join(at.workspace, 'docs/program'))).toBe(false);
  expect((await at.history()).slice(-2)).toMatchObject([
    { event: 'token_refused', data: { code, tool: 'write_files' } },
    { event: 'token_refused', data: { code, tool: 'bash' } },
  ]);
});

test('a call that waited for its turn does not begin once its token was replaced', async () => {
  const [begun, finish] = [
    Array.from({ length: 8 }, () => Promise.withResolvers<void>()),
    Promise.withResolvers<void>(),
  ];
  let count = 0;
  const slow = own('slow', async () => {
    begun[count++]?.resolve();
    await finish.promise;
  });
  const at = await working(PHASE, [slow]);
  const before = begun.map(() => at.execute([{ tool: 'mcp:own/slow', input: {} }]));
  await Promise.all(begun.map(({ promise }) => promise));

  const late = at.execute([{ tool: 'write_files', input: { path: 'docs/late', content: '' } }]);
  await replaceTwice(at);
  finish.resolve();

  await expect(late).rejects.toMatchObject({ code: 'token_invalid' });
  expect((await Promise.all(before)).flat().map(codeOf)).toEqual(Array(8).fill('allowed'));
  expect(existsSync(join(at.workspace, 'docs/late'))).toBe(false);
  const refused = (await at.history()).filter(({ event }) => event === 'token_refused');
  expect(refused).toMatchObject([{ data: { code: 'token_invalid', tool: 'write_files' } }]);
});

function own(name: string, act: () => Promise<unknown>): ToolImplementation {
  const run = async () => {
    await act();
    return { ok: true, output: null };
  };
  return { name: `mcp:own/${name}`, description: name, input: { type: 'object' }, run };
}

async function replaceTwice({ project, run }: Working): Promise<void> {
  for (let time = 0; time < 2; time++) await project.claims.token(run, ADA);
}

function rotateTwice({ folder, pass }: Working): void {
  for (let time = 0; time < 2; time++) rotateTokenSecret(folder);
  // A rotation by another process is looked for every second.
  pass(1);
}

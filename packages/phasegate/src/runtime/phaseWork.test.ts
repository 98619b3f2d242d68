import type { JsonObject } from '@phasegate/core';
import { expect, test } from 'vitest';
import { ADA, working } from './fixtures/workingRun.ts';

const GATE = { id: 'good', human: { prompt: 'Good?', options: [{ label: 'Yes' }] } };

test('the card tells which paths calls were allowed to write, what was run, and what was refused', async () => {
  const { execute, project, run } = await working({
    allowedTools: ['read_files', 'write_files', 'edit_file', 'bash'],
    writes: ['docs/**'],
    fields: [{ name: 'report', type: 'string' }],
    gates: [GATE],
  });
  const write = (path: string) => ({ tool: 'write_files', input: { path, content: 'x' } });
  await execute([write('docs/b.md'), write('docs/a.md'), write('docs/a.md'), write('src/a.ts')]);
  await execute([{ tool: 'bash', input: { command: 'exit 3' } }]);
  await execute([{ tool: 'read_files', input: { path: 'docs/a.md' } }]);
  const agent = project.as(ADA);
  await agent.submit(run, { kind: 'complete', phase: 'ONE', evidence: {} });
  const done = await agent.submit(run, { kind: 'complete', phase: 'ONE', evidence: { report: 'fine' } });
  expect(done.view.status).toBe('waiting');

  const before = await project.gateCard(run);

  expect(before?.card).toMatchObject({
    changed: [{ phase: 'ONE', paths: ['docs/a.md', 'docs/b.md'] }],
    programs: [{ tool: 'bash', command: 'exit 3', times: 1 }],
    receipts: [
      { tool: 'write_files', times: 3, failed: 0 },
      { tool: 'bash', times: 1, failed: 1 },
      { tool: 'read_files', times: 1, failed: 0 },
    ],
  });
  const refused = (before?.card.refused ?? []) as readonly JsonObject[];
  expect(refused.map(({ what, code, times }) => [what, code, times])).toEqual([
    ['write_files', 'outside_write_scope', 1],
    ['completion', 'incomplete_checkpoint', 1],
  ]);

  // What is tried while the gate is open is recorded, and does not change what a human reads and signs.
  await agent.judgeTool(run, { tool: 'write_files', input: { path: 'docs/c.md' } });
  await agent.judgeTool(run, { tool: 'read_files', input: { path: 'docs/c.md' } });
  await agent.submit(run, { kind: 'complete', phase: 'ONE', evidence: { report: 'again' } });
  expect((await project.gateCard(run))?.shown).toBe(before?.shown);
});

test('where no tool was called and nothing refused, the card says nothing of it', async () => {
  const { project, run } = await working({ gates: [GATE] });
  await project.as(ADA).submit(run, { kind: 'complete', phase: 'ONE', evidence: {} });

  const card = (await project.gateCard(run))?.card ?? {};

  for (const key of ['changed', 'changed_unnamed', 'programs', 'receipts', 'refused'])
    expect(card).not.toHaveProperty(key);
});

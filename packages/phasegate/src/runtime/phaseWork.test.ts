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

test('what was refused is told as what was tried: a look at a task is no try to complete a phase', async () => {
  const { project, run } = await working({ fields: [{ name: 'report', type: 'string' }], gates: [GATE] });
  const agent = project.as(ADA);
  await agent.submit(run, { kind: 'fetch_task', phase: 'NOPE', task: 1 });
  await agent.submit(run, { kind: 'ask', questions: [{ text: '', options: [] }] });
  await agent.submit(run, { kind: 'report_blocked', reason: ' ' });
  await agent.submit(run, { kind: 'complete', phase: 'NOPE', evidence: {} });
  await agent.submit(run, { kind: 'complete', phase: 'ONE', evidence: { report: 'fine' } });

  const refused = ((await project.gateCard(run))?.card.refused ?? []) as readonly JsonObject[];

  expect(refused.map(({ what, code }) => [what, code])).toEqual([
    ['look at a task', 'phase_sequence_violation'],
    ['question', 'question_invalid'],
    ['report of a block', 'reason_required'],
    ['completion', 'phase_sequence_violation'],
  ]);
});

test('what was allowed in earlier phases stays on the card, named or not, until a human has decided', async () => {
  const human = {
    prompt: 'Good?',
    options: [{ label: 'Yes' }, { label: 'Again', next: 'TWO' }],
  };
  const tools = { allowedTools: ['write_files', 'bash', 'mcp:own/*'], writes: ['docs/**'] };
  const { project, run, execute } = await working(tools, [], {
    second: { ...tools, gates: [{ id: 'good', human }] },
  });
  await project.humans.add('maria', 'a long passphrase', null);
  const maria = await project.humans.unlock('maria', 'a long passphrase');
  await project.trust.workflows.accept('work', 'closure-1', maria);
  const agent = project.as(ADA);
  const long = { tool: 'bash', input: { command: `true ${'x'.repeat(4200)}` } };
  const [ran] = await execute([long]);
  expect(ran).toMatchObject({ verdict: { allowed: true }, result: { ok: true } });
  await agent.judgeTool(run, { tool: 'write_files', input: { path: `docs/${'x/'.repeat(2100)}a.md` } });
  await agent.judgeTool(run, { tool: 'mcp:own/drop', input: { table: 'users' } });
  await agent.judgeTool(run, { tool: 'write_files', input: { path: 'src/a.ts' } });
  await agent.submit(run, { kind: 'complete', phase: 'ONE', evidence: {} });
  await agent.judgeTool(run, { tool: 'bash', input: { command: 'ls' } });
  await agent.submit(run, { kind: 'complete', phase: 'TWO', evidence: {} });

  const first = await project.gateCard(run);

  expect(first?.card).toMatchObject({
    changed_unnamed: [{ phase: 'ONE', times: 1 }],
    programs_unnamed: [{ phase: 'ONE', times: 1 }],
    programs: [{ phase: 'TWO', tool: 'bash', command: 'ls', times: 1 }],
    calls: [{ phase: 'ONE', tool: 'mcp:own/drop', times: 1 }],
    receipts: [{ phase: 'ONE', tool: 'bash', times: 1, failed: 0 }],
    refused: [{ phase: 'ONE', what: 'write_files', code: 'outside_write_scope', times: 1 }],
  });
  const { gate, shown, card } = first ?? expect.fail('there is no gate');
  await agent.judgeTool(run, { tool: 'write_files', input: { path: 'docs/late.md' } });
  await project.decide(run, { gate, option: 'Again', shown, card }, maria);
  await agent.submit(run, { kind: 'complete', phase: 'TWO', evidence: {} });

  const second = (await project.gateCard(run))?.card ?? {};
  for (const key of ['changed_unnamed', 'programs_unnamed', 'programs', 'calls', 'receipts'])
    expect(second).not.toHaveProperty(key);
  // Tried while the first gate was open, it was not on its card.
  expect(second.refused).toMatchObject([{ what: 'write_files', phase: 'TWO' }]);
});

test('where no tool was called and nothing refused, the card says nothing of it', async () => {
  const { project, run } = await working({ gates: [GATE] });
  await project.as(ADA).submit(run, { kind: 'complete', phase: 'ONE', evidence: {} });

  const card = (await project.gateCard(run))?.card ?? {};

  for (const key of [
    'changed',
    'changed_unnamed',
    'programs',
    'programs_unnamed',
    'calls',
    'receipts',
    'refused',
  ])
    expect(card).not.toHaveProperty(key);
});

import { describe, expect, test } from 'vitest';
import { complete, makeProject, phasegate, startRun } from './cli.ts';

// The module counts how often it is evaluated in a process: a program that is also imported would be twice.
const SKILL = `import { fileURLToPath } from 'node:url';
import { Outcome, StepDef, Workflow } from '@phasegate/sdk';

globalThis.evaluated = (globalThis.evaluated ?? 0) + 1;
const noop = () => [Outcome.OK, {}];
const once = () => globalThis.evaluated === 1;
const imported = () => process.argv[1] !== fileURLToPath(import.meta.url) && import.meta.main !== true;

export const WORKFLOW = Workflow(
  'decision-critic',
  StepDef({ id: 'read', title: 'Read it', actions: ['Read the decision.', 'Note the claims.'], handler: noop, next: { [Outcome.OK]: 'judge' } }),
  StepDef({
    id: 'judge',
    title: 'Judge it',
    actions: ['Judge every claim.'],
    handler: (ctx) => [ctx.result.sure ? Outcome.OK : Outcome.ITERATE, { sure: ctx.result.sure }],
    postconditions: [
      { name: 'evaluated once', check: once, error: 'the module was evaluated twice' },
      { name: 'never the program', check: imported, error: 'the module was run as a program' },
    ],
    next: { [Outcome.OK]: null, [Outcome.ITERATE]: 'judge' },
  }),
);
`;

describe('a workflow of steps and outcomes', () => {
  test('is found, runs a handler at each step, and names the next command [S4.3 S4.11]', async () => {
    const project = makeProject({ 'workflows/decisionCritic.ts': SKILL });
    expect((await phasegate(project, ['list', '--json'])).json).toMatchObject({
      workflows: [{ id: 'decision-critic', format: 'typescript', problems: [] }],
    });
    const run = await startRun(project, 'decision-critic');

    const first = await phasegate(project, ['next', run]);
    const read = await complete(project, run, { phase: 'read', evidence: {} });
    const unsure = await complete(project, run, { phase: 'judge', evidence: { sure: false } });
    const sure = await complete(project, run, { phase: 'judge', evidence: { sure: true } });

    expect(first.stdout).toMatch(/Read it[\s\S]*Read the decision\.[\s\S]*Note the claims\./);
    expect(first.stdout).toContain(`phasegate done ${run} --phase read`);
    expect(read.json).toMatchObject({
      next_phase: 'judge',
      next_phase_content: expect.stringContaining('Judge every claim.'),
      next_action: `phasegate done ${run} --phase judge --evidence -`,
    });
    expect(unsure.json).toMatchObject({ checkpoint_passed: true, next_phase: 'judge' });
    expect(sure.json).toMatchObject({ workflow_complete: true });
  });

  test('is imported by a program of ours and never is the program itself [S4.36]', async () => {
    const project = makeProject({ 'workflows/decisionCritic.ts': SKILL });
    const run = await startRun(project, 'decision-critic');
    await complete(project, run, { phase: 'read', evidence: {} });

    const judged = await complete(project, run, { phase: 'judge', evidence: { sure: true } });

    expect(judged.json).toMatchObject({ checkpoint_passed: true, status: 'completed' });
  });
});

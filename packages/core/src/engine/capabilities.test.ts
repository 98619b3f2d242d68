import { describe, expect, test } from 'vitest';
import { defineWorkflow } from '../model/defineWorkflow.ts';
import { canClaim, capabilitiesNeeded, capabilityBlocker } from './capabilities.ts';
import { AGENT, NOW, phases, started, submit, workflowOf } from './fixtures/walks.ts';
import { decideStart } from './start.ts';

describe('who may claim', () => {
  const workflow = workflowOf(phases(1), { capabilities: ['node', 'review', 'node'] });

  test('is decided by what the workflow and the one who queued the run ask for', () => {
    const run = started(
      workflow,
      {},
      { queued: true, queue: { priority: 5, capabilities: ['gpu', 'node'] } },
    );

    expect(run.queue).toEqual({ priority: 5, capabilities: ['gpu', 'node'] });
    expect(capabilitiesNeeded(run)).toEqual(['node', 'review', 'gpu']);
    expect(canClaim(capabilitiesNeeded(run), ['review', 'gpu', 'node', 'more'])).toBe(true);
    expect(canClaim(capabilitiesNeeded(run), ['review', 'gpu'])).toBe(false);
    expect(capabilityBlocker(run, ['review'])).toMatchObject({
      code: 'capability_missing',
      message: 'run `run-1` needs an agent that can do `node`, `gpu`',
    });
    expect(capabilityBlocker(run, ['node', 'review', 'gpu'])).toBeNull();
  });

  test('is kept with the run through all that happens to it, and only where something was said', () => {
    const run = started(workflow, {}, { queued: true, queue: { priority: -1, capabilities: [] } });
    const plain = started(workflow, {}, { queued: true, queue: { priority: 0, capabilities: [] } });

    const claimed = submit(run, { kind: 'claim' }).run;
    expect(submit(claimed, { kind: 'release', cause: 'given_back', holder: 'local' }).run.queue).toEqual({
      priority: -1,
      capabilities: [],
    });
    expect(plain).not.toHaveProperty('queue');
    expect(submit(plain, { kind: 'claim' }).run).not.toHaveProperty('queue');
  });

  test('is refused where it makes no sense', () => {
    const decision = decideStart(
      {
        id: 'run-1',
        workflow,
        workflowHash: 'h',
        target: null,
        params: {},
        ring: 'served',
        trusted: false,
        queued: true,
        queue: { priority: 0.5, capabilities: ['two words', 'x'] },
      },
      { principal: AGENT, now: NOW, facts: {} },
    );

    expect(decision.run).toBeNull();
    expect(decision.verdict).toMatchObject({
      blockers: [
        { code: 'param_invalid', message: 'the priority must be a whole number' },
        {
          code: 'param_invalid',
          message: expect.stringMatching(/^`two words` cannot name a capability: use up to 64 letters/),
        },
      ],
    });
  });

  test('is written in the workflow, with leases and how often a lost agent is replaced', () => {
    const said = workflowOf(phases(1), { enforcement: { leaseSeconds: 60, maxReclaims: 0 } });

    expect(workflow.capabilities).toEqual(['node', 'review']);
    expect(said.enforcement).toMatchObject({ leaseSeconds: 60, maxReclaims: 0 });
    expect(Object.keys(workflowOf(phases(1)))).not.toContain('capabilities');
    expect(Object.keys(workflowOf(phases(1)).enforcement)).toEqual([
      'mode',
      'ring',
      'tokenSeconds',
      'workspace',
    ]);
  });

  test('is refused in the workflow with a problem for each mistake', () => {
    const defined = defineWorkflow(
      {
        id: 'tested',
        phases: phases(1),
        capabilities: ['ok', '-no', 'x'.repeat(65)],
        enforcement: { leaseSeconds: 0, maxReclaims: 101 },
      },
      { checks: {} },
    );

    expect(defined.ok ? [] : defined.problems.map((problem) => problem.path)).toEqual([
      ['enforcement', 'leaseSeconds'],
      ['enforcement', 'maxReclaims'],
      ['capabilities', 1],
      ['capabilities', 2],
    ]);
  });
});

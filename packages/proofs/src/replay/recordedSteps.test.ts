import type { Run, RunEvent } from '@phasegate/core/engine';
import { decide, eventOfRecord, fold } from '@phasegate/core/engine';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../test/tier.ts';
import { anyActs, anyWorkflow } from '../../../core/src/engine/fixtures/arbitraries.ts';
import { anySharedWorkflow, anySharing } from '../../../core/src/engine/fixtures/handovers.ts';
import { ADA, AGENT, BOB, NOW, phases, workflowOf } from '../../../core/src/engine/fixtures/walks.ts';
import { type Recorder, record, shared, walked } from './fixtures/recorder.ts';
import { type RecordedStep, recordedSteps } from './recordedSteps.ts';

describe('the recorded steps of any walk', () => {
  test('decided again from what is recorded give the same verdict and events', () => {
    fc.assert(
      fc.property(anyWorkflow, anyActs, (workflow, acts) => {
        const walk = walked(workflow, acts);
        expectSame(walk);
      }),
      { numRuns: cases({ quick: 100, full: 2500 }) },
    );
  });

  test('the same where agents share a run item by item', () => {
    fc.assert(
      fc.property(anySharedWorkflow, anySharing, (workflow, turns) => {
        const walk = shared(workflow, turns);
        expectSame(walk);
      }),
      { numRuns: cases({ quick: 60, full: 1500 }) },
    );
  });
});

describe('recorded steps', () => {
  test('of one time and principal are told apart by their recordings', () => {
    const walk = record(workflowOf(phases(3)));
    walk.submit({ kind: 'complete', phase: 1, evidence: { a: 1 } });
    walk.submit({ kind: 'complete', phase: 2, evidence: { b: 2 } });

    const steps = recordedSteps(walk.run().workflow, walk.records());

    expect(steps.map(({ kind, seq }) => `${kind} ${seq}`)).toEqual(['start 1', 'command 2', 'command 3']);
    expect(steps[2]).toMatchObject({ before: { phase: 2 }, after: { phase: 3 }, by: AGENT, at: NOW });
  });

  test('say what was not kept: before recordings, of another version, and too large', () => {
    const walk = record(workflowOf(phases(4)));
    walk.submit({ kind: 'complete', phase: 1, evidence: {} });
    walk.submit({ kind: 'complete', phase: 2, evidence: {} });
    walk.submit({ kind: 'complete', phase: 3, evidence: {} });
    const changes = [{}, {}, { recorded: { version: 2 } }, { recorded: { version: 1, left_out: true } }];
    const records = walk.records().map((one, index) => {
      const { recorded: _, ...data } = one.data as { readonly recorded: object };
      const time = `2026-11-15T12:00:0${index}.000Z`;
      return { ...one, time, data: { ...data, ...changes[index] } };
    });

    const steps = recordedSteps(walk.run().workflow, records);

    expect(steps.map((step) => step.kind === 'unrecorded' && step.why)).toEqual([
      'not_recorded',
      'not_recorded',
      'other_version',
      'too_large',
    ]);
    expect(steps.at(-1)?.after).toMatchObject({ phase: 4 });
  });

  test('have the tool calls in the run as it was, and what they were judged by', () => {
    const walk = record(workflowOf(phases(1, () => ({ allowedTools: ['bash'] }))));
    walk.useTool({ tool: 'bash', input: { command: 'ls', secret: 'x' } });
    walk.useTool({ tool: 'bash', input: { command: 'y'.repeat(5000) } });
    walk.useTool({ tool: 'write_files', input: { path: 'a' } }, BOB);
    walk.note('tool_judged', { tool: 'bash', allowed: true });

    const [, first, second, third, fourth] = recordedSteps(walk.run().workflow, walk.records());

    expect(first).toMatchObject({ kind: 'tool', allowed: true, use: { input: { command: 'ls' } } });
    expect(second).toMatchObject({ kind: 'unrecorded', why: 'too_large' });
    expect(third).toMatchObject({ kind: 'tool', allowed: false, code: 'no_run', by: BOB });
    expect(fourth).toMatchObject({ kind: 'unrecorded', why: 'not_recorded' });
  });

  test("have a human's refused choice, and not the refusals the workflow has no say in", () => {
    const human = { prompt: '?', options: [{ label: 'Yes' }], approvers: ['cara'] };
    const walk = record(workflowOf(phases(2, () => ({ gates: [{ id: 'go', human }] }))));
    walk.submit({ kind: 'complete', phase: 1, evidence: {} });
    walk.submit(
      { kind: 'decide', gate: 'go#1', option: 'Yes', shown: 's', signature: 'x' },
      { principal: ADA },
    );
    walk.submit({ kind: 'complete', phase: 1, evidence: {} });
    walk.note('command_refused', { command: 'decide', blockers: [{ code: 'option_unknown', message: '' }] });
    walk.note('command_refused', { command: 'get_phase', blockers: [] });

    const steps = recordedSteps(walk.run().workflow, walk.records()).slice(2);

    expect(steps).toMatchObject([
      { kind: 'command', turnedAway: ['not_an_approver'], by: ADA, command: { option: 'Yes' } },
      { kind: 'unrecorded', why: 'not_recorded' },
    ]);
  });
});

/** Every recorded decision, made again, is what it was, and they lead to the run as it is. */
function expectSame(walk: Recorder): void {
  const { workflow } = walk.run();
  const steps = recordedSteps(workflow, walk.records());
  const events = walk
    .records()
    .map(eventOfRecord)
    .filter((event): event is RunEvent => event !== null);
  expect(steps.flatMap((step) => ('events' in step ? step.events : []))).toEqual(events);
  expect(fold(workflow, events)).toEqual(steps.at(-1)?.after);
  expect(steps.at(-1)?.after).toEqual(walk.run());
  for (const step of steps) if (step.kind !== 'start') expectDecidedSame(step);
}

function expectDecidedSame(step: RecordedStep): void {
  if (step.kind !== 'command') throw new Error(`a step is ${step.kind}`);
  const { command, by: principal, at: now, facts, before } = step;
  const shown = command.kind === 'decide' ? { shown: command.shown } : {};
  const { verdict, events } = decide(before as Run, command, { principal, now, facts, ...shown });
  expect(events).toEqual(step.events);
  const codes = verdict.allowed ? undefined : verdict.blockers.map(({ code }) => code);
  if (step.turnedAway !== undefined) expect(codes).toEqual(step.turnedAway);
}

import { defineWorkflow as defineCore, type Phase } from '@phasegate/core';
import type { Condition as CoreCondition } from '@phasegate/core/model';
import { describe, expect, test } from 'vitest';
import w1 from '../../../examples/w1-editing/w1.workflow.ts';
import { WORKFLOW as confidence } from './fixtures/confidence.workflow.ts';
import { WORKFLOW as hybrid } from './fixtures/hybrid.workflow.ts';
import { WORKFLOW as linear } from './fixtures/linear.workflow.ts';
import { WORKFLOW as mode } from './fixtures/mode.workflow.ts';
import { WORKFLOW as qr } from './fixtures/qr.workflow.ts';
import {
  type Checkpoint,
  type DefinedWorkflow,
  Dispatch,
  defineWorkflow,
  Outcome,
  type ParallelItemResult,
  type ResumeContext,
  type StepContext,
  StepDef,
  type StepInput,
  type StepOutput,
  type StepResult,
  Workflow,
  type WorkflowDefinition,
} from './index.ts';

describe('the workflow of design 3', () => {
  test('has its steps in order and starts at the first [S3.7 S3.13 S3.55 S3.56]', () => {
    const workflow = compiled(w1);

    expect(workflow).toMatchObject({ id: 'w1_editing', title: 'Iterative Editing Workflow' });
    expect(workflow.entry).toBe('strategic-planning');
    expect(workflow.phases.map((phase) => phase.id)).toEqual([
      'strategic-planning',
      'create-version',
      'writer',
      'editor-review',
      'domain-expert-review',
      'chapter-review',
      'human-gate',
      'finalize',
    ]);
    expect(phaseOf(w1, 'writer')).toMatchObject({
      work: { kind: 'command', command: 'node commands/write.ts --area {item} --run {run}' },
      parallel: { key: 'improvementAreas' },
    });
  });

  test('keeps every condition under a name of its own, with its message [S3.14 S3.57 S3.58]', () => {
    const checks = compiled(w1).phases.flatMap((phase) => [...phase.preconditions, ...phase.postconditions]);

    expect(checks.map((check) => [check.label, check.message])).toEqual([
      ['book_exists', 'Book not found'],
      ['analysis_exists', 'No analysis file'],
      ['plan_created', 'Strategic plan not saved to DB'],
      ['plan_exists', 'Planning not complete'],
      ['version_created', 'New version not created (modified in place)'],
      ['version_persisted', 'Version not saved to DB'],
      ['chapters_modified', 'No chapters were modified'],
      ['work_saved', 'Chapters not saved to DB'],
      ['review_complete', 'Editor did not provide decision'],
      ['work_saved', 'Review not saved to DB'],
      ['review_complete', 'Domain expert did not provide decision'],
      ['work_saved', 'Review not saved to DB'],
      ['metrics_calculated', 'Metrics not calculated'],
      ['work_saved', 'Metrics not saved to DB'],
      ['work_saved', 'Summary not saved to DB'],
      ['artifacts_registered', 'Artifacts not registered'],
      ['workflow_completed', 'Workflow not marked complete'],
    ]);
    const refs = checks.map((check) => String(check.with.ref));
    expect(refs).toContain('steps/writer/postconditions/chapters_modified');
    expect(refs.every((ref) => typeof w1.functions[ref] === 'function')).toBe(true);
    expect(new Set(refs).size).toBe(refs.length);
  });

  test('routes by its conditions, at most three times round [S3.16 S3.59 S3.60 S3.61]', () => {
    expect(routeOf(w1, 'editor-review')).toEqual(['domain-expert-review', 'writer', 3]);
    expect(routeOf(w1, 'domain-expert-review')).toEqual(['chapter-review', 'writer', 3]);
    expect(routeOf(w1, 'chapter-review')).toEqual(['human-gate', 'strategic-planning', 3]);
    const { next } = phaseOf(w1, 'chapter-review');
    expect((next as { condition: CoreCondition }).condition.source).toBe(
      'result.metrics.delta >= checkpoint.threshold',
    );
  });

  test('has a human gate beside a way of its own, and an end [S3.17 S3.18 S3.62 S3.63 S3.64 S3.65]', () => {
    const phase = phaseOf(w1, 'human-gate');

    expect(phase.next).toEqual({ kind: 'to', target: 'finalize' });
    expect(phase.humanGate).toMatchObject({
      context: ['metrics.baseline', 'metrics.current', 'metrics.delta', 'modifiedChapters'],
      options: [
        { label: 'Approve and finalize', next: 'finalize', requiresInput: false },
        { label: 'Request more improvements', next: 'strategic-planning', requiresInput: true },
        { label: 'Reject and stop', next: null, requiresInput: false },
      ],
    });
    expect(phaseOf(w1, 'finalize').next).toEqual({ kind: 'to', target: null });
  });
});

describe('the patterns of design 4', () => {
  test('a line, whose last step needs no handler [S4.1 S4.26 S4.33 S4.38]', () => {
    const workflow = compiled(linear);

    expect(workflow).toMatchObject({
      id: 'skill-name',
      description: 'Three steps in a line',
      entry: 'step1',
    });
    expect(workflow.phases.map((phase) => phase.work.kind)).toEqual(['handler', 'handler', 'agent']);
    expect(phaseOf(linear, 'step1')).toMatchObject({ name: 'One', instructions: 'Begin\nGo on' });
    expect(phaseOf(linear, 'step3').next).toMatchObject({ kind: 'outcomes', map: { ok: null } });
  });

  test('a handler that goes round until it is sure [S4.10 S4.12 S4.39]', () => {
    const run = confidence.functions['steps/investigate/handler'];

    expect(phaseOf(confidence, 'investigate').next).toMatchObject({
      map: { ok: 'formulate', iterate: 'investigate' },
    });
    expect(run?.(context({ confidence: 'high' }, {}))).toEqual(['ok', { confidence: 'high' }]);
    expect(run?.(context({}, { iteration: 1 }))).toEqual(['iterate', { iteration: 2 }]);
    expect(run?.(context({}, { iteration: 3 }))).toEqual(['ok', { confidence: 'capped' }]);
  });

  test('what a handler reads is known without running it [S4.13 S4.14 S4.24]', () => {
    const arg = {
      description: 'How sure',
      choices: ['exploring', 'high'],
      default: 'exploring',
      required: false,
    };

    expect(confidence.args).toEqual({ investigate: { confidence: arg } });
    expect(compiled(confidence).params.confidence).toMatchObject({
      domain: { kind: 'choice_set', choices: ['exploring', 'high'] },
      default: 'exploring',
    });
  });

  test('a mode chooses the branch, and the fallback serves every other outcome [S4.5 S4.6 S4.40]', () => {
    expect(phaseOf(mode, 'planning').next).toMatchObject({
      map: { ok: 'subagent_design', skip: 'initial_synthesis' },
    });
    expect(phaseOf(mode, 'subagent_design').next).toMatchObject({ map: {}, otherwise: 'initial_synthesis' });
    expect(mode.functions['steps/planning/handler']?.(context({ mode: 'quick' }, {}))).toEqual(['skip', {}]);
    expect(mode.functions['steps/planning/handler']?.(context({}, {}))).toEqual(['ok', {}]);
  });

  test('a review by another agent [S4.15 S4.19 S4.41]', () => {
    expect(phaseOf(qr, 'qr_completeness')).toMatchObject({
      name: 'QR: Plan Completeness',
      work: { kind: 'dispatch', agent: 'quality-reviewer', script: 'skills.planner.qr.plan_completeness' },
      next: { map: { ok: 'implementation', fail: 'revise_plan' } },
    });
  });

  test('steps that are a title and a text beside steps made by functions', () => {
    const workflow = compiled(hybrid);

    expect(workflow.phases.map((phase) => phase.id)).toEqual([1, 2, 9, 13]);
    expect(phaseOf(hybrid, 1)).toMatchObject({ name: 'Context Clarification', render: null });
    expect(phaseOf(hybrid, 13).render).toBe('steps/13/body');
    const refine = hybrid.functions['steps/13/body'];
    expect(refine?.(context({ confidence: 'certain' }, {}))).toEqual([
      'Iterative Refinement (Iteration 2) -> Complete',
      'Iteration 2 of 5',
    ]);
    expect(workflow.params.rounds?.domain).toEqual({ kind: 'bounded_int', lo: 1, hi: 5 });
  });
});

test('the types have the fields of the design, by the names of the design [S3.19 S3.20 S3.21 S3.22 S3.23 S3.24]', () => {
  const step: StepResult = { step: 'a', completedAt: '2026-01-01T00:00:00Z', result: { n: 1 } };
  const item: ParallelItemResult = { status: 'failed', error: 'e', retryCount: 1 };
  const checkpoint: Checkpoint = {
    workflowRunId: 'r',
    workflowType: 'w1_editing',
    currentStep: 'b',
    completedSteps: [step],
    iterationCounts: { b: 1 },
    pendingRetry: { step: 'b', error: 'e', attempt: 1 },
    parallelResults: { 'area-1': item },
    gateDecision: { gate: 'g', option: 'o', input: 'i' },
  };
  const resume: ResumeContext = {
    workflowType: 'w1_editing',
    runId: 'r',
    currentStep: 'b',
    completedSteps: ['a'],
    lastStepOutput: step.result,
    pendingRetry: { step: 'b', error: 'e', attempt: 1 },
    parallelStatus: { total: 2, completed: 1, failed: ['area-1'] },
  };
  const input: StepInput = {
    runId: 'r',
    step: 'b',
    checkpoint: { ...checkpoint, completedSteps: [step] },
    retryContext: { error: 'e', attempt: 1 },
  };
  const output: StepOutput = {
    success: true,
    result: {},
    error: 'e',
    postconditionsPassed: true,
    nextStepHint: 'c',
  };

  // The compiler is the judge; that all are there to be used is what is left to see.
  expect([checkpoint, resume, input, output].every((value) => Object.keys(value).length > 3)).toBe(true);
});

test('the words for outcomes are those of the design [S4.5]', () => {
  expect(Outcome).toEqual({ OK: 'ok', FAIL: 'fail', SKIP: 'skip', ITERATE: 'iterate', DEFAULT: '_default' });
});

test('what is defined cannot be changed [S4.34]', () => {
  const step = StepDef({ id: 'a', next: null });

  expect(Object.isFrozen(step)).toBe(true);
  expect(Object.isFrozen(linear) && Object.isFrozen(linear.draft.phases[0])).toBe(true);
  expect(Object.isFrozen(linear.functions)).toBe(true);
});

test('the draft is pure JSON, with names where functions were [S4.35]', () => {
  for (const workflow of [w1, linear, confidence, mode, qr, hybrid]) {
    expect(JSON.parse(JSON.stringify(workflow.draft))).toEqual(workflow.draft);
    expect(workflow.problems).toEqual([]);
  }
});

test('a condition is a function, an expression, or the name of a check [C10]', () => {
  const { draft } = defineWorkflow({
    type: 'x',
    steps: [
      {
        name: 'a',
        postconditions: [
          { check: 'result.count > 0', error: 'Nothing counted' },
          { check: 'tests_are_failing', with: { artifact: 'run' }, needs: 'claimed' },
          { name: 'same', check: () => true },
          { name: 'same', check: async () => true },
        ],
        next: { condition: (ctx) => ctx.iteration > 2, onTrue: null, onFalse: 'a' },
      },
    ],
  });

  expect(draft.phases[0]?.postconditions).toEqual([
    { check: 'expression', with: { condition: 'result.count > 0' }, message: 'Nothing counted' },
    { check: 'tests_are_failing', with: { artifact: 'run' }, needs: 'claimed' },
    { ref: 'steps/a/postconditions/same', label: 'same' },
    { ref: 'steps/a/postconditions/same-2', label: 'same' },
  ]);
  expect(draft.phases[0]?.next).toEqual({
    condition: { ref: 'steps/a/next/condition', source: '(ctx) => ctx.iteration > 2' },
    onTrue: null,
    onFalse: 'a',
  });
});

test('everything that cannot be part of a draft is reported at once, and nothing throws [S3.78 S4.60 S4.61 S4.62]', () => {
  const loop: Record<string, unknown> = {};
  loop.self = loop;
  const broken = {
    type: 7,
    stepz: [],
    steps: [
      { name: 'a', postcondition: [], command: 'x', handler: () => ['ok', {}] },
      { command: 'y' },
      { name: 'c', handler: 'skills.module', next: { okay: 'a' } },
      { name: 'd', preconditions: [{ name: 'n', check: 4 }], next: { condition: 'true', onTrue: 'a' } },
      { name: 'e', parallel: true, requiredArtifacts: [{ type: 't', schema: { default: loop } }] },
      { name: 'f', next: { ok: {} }, humanGate: { prompt: 'p', options: [{ nextStep: 'a' }] } },
      'g',
    ],
  };

  const { problems, draft } = defineWorkflow(broken as unknown as WorkflowDefinition);

  expect(problems.map((problem) => [problem.path.join('/'), problem.code])).toEqual([
    ['stepz', 'unknown_key'],
    ['phases/0/postcondition', 'unknown_key'],
    ['phases/0/work', 'conflict'],
    ['phases/1', 'missing_key'],
    ['phases/2/work', 'wrong_type'],
    ['phases/2/next/okay', 'unknown_key'],
    ['phases/3/preconditions/0/check', 'wrong_type'],
    ['phases/3/next/onFalse', 'missing_key'],
    ['phases/4/artifacts/0/schema/default/self', 'wrong_type'],
    ['phases/4/parallel', 'missing_key'],
    ['phases/5/gates/0/human/options/0', 'missing_key'],
    ['phases/5/next/outcomes/ok', 'wrong_type'],
    ['phases/6', 'wrong_type'],
    ['id', 'wrong_type'],
  ]);
  expect(problems[1]?.message).toBe('unknown key `postcondition` (did you mean `postconditions`?)');
  expect(draft.phases).toHaveLength(7);
  for (const nothing of [undefined, null, 3, 'x', []]) {
    expect(defineWorkflow(nothing as unknown as WorkflowDefinition).problems).not.toEqual([]);
  }
});

test('a dispatch without an agent and a param two steps describe differently are problems', () => {
  const workflow = Workflow(
    'x',
    StepDef({ id: 'a', handler: Dispatch({} as Dispatch), args: { n: { min: 1 } as never } }),
    StepDef({ id: 'b', args: { n: { min: 2 } as never }, next: null }),
  );

  expect(workflow.problems.map((problem) => problem.code)).toEqual(['missing_key', 'conflict']);
});

function compiled(workflow: DefinedWorkflow) {
  const parameters = { type: 'object' };
  const known = {
    checks: { expression: { parameters, class: 'claimed' as const, conditions: ['condition'] } },
  };
  const result = defineCore(workflow.draft, known);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.workflow;
}

function phaseOf(workflow: DefinedWorkflow, id: string | number): Phase {
  const phase = compiled(workflow).phases.find((candidate) => candidate.id === id);
  if (phase === undefined) throw new Error(`no phase ${id}`);
  return phase;
}

function routeOf(workflow: DefinedWorkflow, id: string) {
  const { next } = phaseOf(workflow, id);
  return next.kind === 'when' ? [next.onTrue, next.onFalse, next.maxIterations] : next;
}

function context(params: object, state: object): StepContext {
  return { params, workflow_params: params, step_state: state, iteration: 2 } as unknown as StepContext;
}

import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { viewFor } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { ADA, AGENT } from '../../packages/core/src/engine/fixtures/walks.ts';
import { contextOf } from '../../packages/phasegate/src/loaders/typescript/contextOf.ts';
import { openLocalProject } from '../../packages/phasegate/src/localProject.ts';
import { Editing, type Facts, GOOD, STEPS, startEditing } from './editing.ts';
import w1 from './w1.workflow.ts';

const projectDir = fileURLToPath(new URL('.', import.meta.url));
// Loading a definition opens no store, so nothing is written there.
const { catalog } = await openLocalProject({ projectDir, env: { XDG_STATE_HOME: tmpdir() } });
const { workflow } = await catalog.load('w1_editing');

describe('a run that goes well', () => {
  test('visits every step once and ends where `next` is null [S3.4 S3.32 S3.39 S3.65]', () => {
    const editing = startEditing(workflow).goTo('human-gate');

    editing.complete({});
    editing.decide('Approve and finalize');
    editing.complete({ registered: true });

    expect(editing.run.status).toBe('completed');
    expect(editing.visited()).toEqual(STEPS);
  });

  test('keeps every result in the checkpoint for the steps that follow [S3.19 S3.20 S3.48]', () => {
    const editing = startEditing(workflow).goTo('chapter-review');

    expect(editing.checkpoint()).toMatchObject({
      workflowType: 'w1_editing',
      currentStep: 'chapter-review',
      completedSteps: STEPS.slice(0, 5).map((step) => ({ step, result: expect.anything() })),
      iterationCounts: {},
      improvementAreas: ['opening', 'ending'],
      versionId: 'v2',
      threshold: 0.1,
    });
  });
});

describe('preconditions', () => {
  test.each([
    [{ analysisPath: 'analysis.json' }, ['Book not found']],
    [{ book: 'moby-dick' }, ['No analysis file']],
    [{}, ['Book not found', 'No analysis file']],
  ])('a run with %j does not start: %j [S3.33 S3.57]', (params, messages) => {
    const started = Editing.start(workflow, { params });

    expect(started).toEqual({ refused: messages.map((message) => ['precondition_failed', message]) });
  });

  test('a version is not made before there is a plan [S3.33 S3.57]', () => {
    const planExists = w1.functions['steps/create-version/preconditions/plan_exists'];
    const planned = (completedSteps: readonly object[]) =>
      planExists?.(contextOf({ checkpoint: { completedSteps } }, { known: {} }) as never);
    expect([planned([]), planned([{ step: 'strategic-planning' }])]).toEqual([false, true]);

    const editing = startEditing(workflow, { checks: { plan_exists: false } });

    const refusal = editing.complete(GOOD['strategic-planning']);

    expect(refusal).toEqual([['precondition_failed', 'Planning not complete']]);
    expect(editing.run).toMatchObject({
      status: 'active',
      phase: 'strategic-planning',
      work: { attempts: 0 },
    });
  });
});

describe('postconditions', () => {
  const cases: readonly (readonly [string, string, Facts])[] = [
    ['strategic-planning', 'Strategic plan not saved to DB', { db: { strategicPlanExists: () => false } }],
    ['create-version', 'New version not created (modified in place)', { evidence: { versionId: 'v1' } }],
    ['create-version', 'Version not saved to DB', { db: { versionExists: () => false } }],
    ['editor-review', 'Editor did not provide decision', { evidence: { decision: null } }],
    ['domain-expert-review', 'Domain expert did not provide decision', { evidence: { decision: null } }],
    ['chapter-review', 'Metrics not calculated', { evidence: { metrics: null } }],
    ['finalize', 'Artifacts not registered', { db: { artifactsExist: () => false } }],
    ['finalize', 'Workflow not marked complete', { db: { workflowStatus: () => 'running' } }],
  ];

  test.each(cases)(
    '%s: "%s" gives one more try, then a human takes over [S3.5 S3.35 S3.40 S3.41 S3.42 S3.43 S3.58]',
    (step, message, { db = {}, evidence = {} }) => {
      const editing = startEditing(workflow).goTo(step);
      editing.db = { ...editing.db, ...db };
      const submitted = { ...GOOD[step], ...evidence };

      const first = editing.complete(submitted);
      const feedback = viewFor(editing.run, AGENT).feedback;
      const second = editing.complete(submitted);

      expect([first, second]).toEqual([[['check_failed', message]], [['check_failed', message]]]);
      expect(feedback).toBe(`Previous attempt failed: ${message}`);
      expect(editing.run).toMatchObject({
        status: 'escalated',
        phase: step,
        escalation: { reason: 'attempts', blockers: [{ message }] },
      });
    },
  );

  test('a step that does better the second time goes on [S3.43]', () => {
    const editing = startEditing(workflow).goTo('editor-review');

    editing.complete({ decision: null });
    editing.complete({ decision: 'approved' });

    expect(editing.run).toMatchObject({ status: 'active', phase: 'domain-expert-review' });
  });

  test('a question that throws is no yes [C19]', () => {
    const editing = startEditing(workflow);
    editing.db = {};

    expect(editing.complete(GOOD['strategic-planning'])).toEqual([
      ['check_errored', expect.stringMatching(/^Strategic plan not saved to DB \(.*not a function/)],
    ]);
  });
});

describe('the writer', () => {
  const chapters = { modifiedChapters: [3] };

  test('works on each area the plan named, and goes on when all are done [S3.49 S3.54]', () => {
    const editing = startEditing(workflow).goTo('writer');

    expect(editing.complete(chapters)).toEqual([
      ['item_required', 'phase `writer` is completed item by item; open: opening, ending'],
    ]);
    editing.complete(chapters, 'opening');
    expect(editing.run).toMatchObject({ status: 'active', phase: 'writer' });
    expect(editing.complete(chapters, 'opening')).toEqual([
      ['item_done', 'item `opening` is already completed'],
    ]);
    editing.complete(chapters, 'ending');

    expect(editing.run).toMatchObject({ status: 'active', phase: 'editor-review' });
    expect(editing.run.completions.at(-1)?.evidence).toEqual({
      items: { opening: chapters, ending: chapters },
    });
  });

  test('tries only the failing area again [S3.21 S3.53 S3.58]', () => {
    const editing = startEditing(workflow).goTo('writer');

    editing.complete(chapters, 'opening');
    const refusal = editing.complete({ modifiedChapters: [] }, 'ending');

    expect(refusal).toEqual([['check_failed', 'No chapters were modified']]);
    expect(editing.checkpoint().parallelResults).toEqual({
      opening: { status: 'completed', result: chapters, error: null, retryCount: 0 },
      ending: { status: 'pending', result: null, error: 'No chapters were modified', retryCount: 1 },
    });
    editing.complete(chapters, 'ending');
    expect(editing.run).toMatchObject({ status: 'active', phase: 'editor-review' });
  });

  test('hands an area that failed twice to a human, once the others are done [S3.46 S3.53]', () => {
    const editing = startEditing(workflow).goTo('writer');

    editing.complete({ modifiedChapters: [] }, 'opening');
    editing.complete({ modifiedChapters: [] }, 'opening');
    expect(editing.run.status).toBe('active');
    editing.complete(chapters, 'ending');

    expect(editing.run).toMatchObject({
      status: 'escalated',
      phase: 'writer',
      escalation: { blockers: [{ message: 'item `opening`: No chapters were modified' }] },
    });
    editing.resume('look at chapter one');
    editing.complete(chapters, 'opening');
    expect(editing.run).toMatchObject({ status: 'active', phase: 'editor-review' });
  });

  test('is passed at once with a plan that names no area: there is nothing to write', () => {
    const editing = startEditing(workflow).goTo('create-version', { improvementAreas: [] });

    expect(editing.complete(GOOD['create-version'])).toEqual([]);
    expect(editing.run.phase).toBe('editor-review');
  });

  test('`improvementAreas` planted by another step stop the run [C29]', () => {
    const editing = startEditing(workflow).goTo('create-version');

    expect(editing.complete({ ...GOOD['create-version'], improvementAreas: ['only'] })).toEqual([
      ['items_invalid', expect.stringMatching(/`strategic-planning` and `create-version`/)],
    ]);
    expect(editing.run.phase).toBe('create-version');
  });

  test('`metrics` planted by another step keep the gate closed [C29]', () => {
    const editing = startEditing(workflow).goTo('editor-review');
    editing.complete({ ...GOOD['editor-review'], metrics: { delta: 99 } });
    editing.goTo('human-gate');

    expect(editing.complete(GOOD['human-gate'] ?? {})).toEqual([
      ['context_unclear', expect.stringMatching(/`editor-review` and `chapter-review`/)],
    ]);
  });
});

describe('ways back', () => {
  test.each(['editor-review', 'domain-expert-review'])(
    '%s sends the work back three times, then a human takes over [S3.11 S3.59 S3.60 C11]',
    (reviewer) => {
      const editing = startEditing(workflow);

      for (let round = 1; round <= 3; round++) {
        editing.goTo(reviewer).complete({ decision: 'rejected' });
        expect(editing.run).toMatchObject({
          status: 'active',
          phase: 'writer',
          iterations: { [reviewer]: round },
        });
      }
      const refusal = editing.goTo(reviewer).complete({ decision: 'rejected' });

      expect(refusal).toEqual([
        [
          'iterations_exhausted',
          `the way back from \`${reviewer}\` to \`writer\` was taken 3 times, which is its limit`,
        ],
      ]);
      expect(editing.run).toMatchObject({
        status: 'escalated',
        phase: reviewer,
        escalation: { reason: 'iterations' },
      });
      editing.resume('the editor will approve now');
      editing.complete({ decision: 'approved' });
      expect(editing.run.status).toBe('active');
    },
  );

  test.each([
    [0.3, 0.29, 'strategic-planning'],
    [0.3, 0.3, 'human-gate'],
    [0.3, 0.31, 'human-gate'],
  ])('with a threshold of %d a gain of %d leads to %s [S3.61]', (threshold, delta, target) => {
    const editing = startEditing(workflow, { params: { threshold } }).goTo('chapter-review');

    editing.complete({ metrics: { baseline: 1, current: 1 + delta, delta } });

    expect(editing.run).toMatchObject({ status: 'active', phase: target });
  });

  test('a book that never gets better is planned anew three times, then a human takes over [S3.61 C11]', () => {
    const editing = startEditing(workflow);
    const flat = { metrics: { baseline: 1, current: 1, delta: 0 } };

    for (let round = 1; round <= 4; round++) editing.goTo('chapter-review').complete(flat);

    expect(editing.run).toMatchObject({ status: 'escalated', phase: 'chapter-review' });
    expect(editing.run.visits).toMatchObject({ 'strategic-planning': 4, writer: 4 });
  });

  test('metrics without a gain lead nowhere', () => {
    const editing = startEditing(workflow).goTo('chapter-review');

    expect(editing.complete({ metrics: { baseline: 1 } })).toEqual([
      ['condition_unanswerable', expect.stringContaining('result.metrics.delta >= checkpoint.threshold')],
    ]);
    expect(editing.run).toMatchObject({ status: 'active', phase: 'chapter-review', work: { attempts: 0 } });
  });
});

describe('the human gate', () => {
  test('shows the human what the design names, and the agent nothing of it [S3.17 S3.37 S3.62]', () => {
    const editing = atTheGate();

    expect(editing.run.status).toBe('waiting');
    expect(viewFor(editing.run, ADA).gate).toMatchObject({
      prompt: 'Review the changes and metrics. How would you like to proceed?',
      context: {
        'metrics.baseline': 1,
        'metrics.current': 1.25,
        'metrics.delta': 0.25,
        modifiedChapters: [1, 3],
      },
      options: [
        { label: 'Approve and finalize', requiresInput: false },
        { label: 'Request more improvements', requiresInput: true },
        { label: 'Reject and stop', requiresInput: false },
      ],
    });
    expect(viewFor(editing.run, AGENT).gate?.context).toEqual({});
  });

  test('"Approve and finalize" leads to finalize [S3.63]', () => {
    const editing = atTheGate();

    editing.decide('Approve and finalize');

    expect(editing.run).toMatchObject({ status: 'active', phase: 'finalize' });
  });

  test('"Request more improvements" needs a text, and the planner reads it [S3.18 S3.63]', () => {
    const editing = atTheGate();

    const refusal = editing.decide('Request more improvements');
    const stillWaiting = editing.run.status;
    editing.decide('Request more improvements', 'the ending is too long');

    expect(refusal).toEqual([
      ['input_required', 'option `Request more improvements` needs a text from the human'],
    ]);
    expect(stillWaiting).toBe('waiting');
    expect(editing.run).toMatchObject({ status: 'active', phase: 'strategic-planning' });
    expect(viewFor(editing.run, AGENT).current?.content).toContain('the ending is too long');
    expect(editing.checkpoint().gateDecision).toMatchObject({
      option: 'Request more improvements',
      input: 'the ending is too long',
    });
  });

  test('"Reject and stop" stops the run, which is not a completed one [S3.63]', () => {
    const editing = atTheGate();

    editing.decide('Reject and stop');

    expect(editing.run).toMatchObject({ status: 'stopped', phase: null, stoppedIn: 'human-gate' });
  });

  test('is no business of an agent [C18]', () => {
    const editing = atTheGate();

    expect(editing.decide('Approve and finalize', undefined, AGENT)).toEqual([
      ['not_a_human', 'only a human may decide at a gate'],
    ]);
    expect(editing.complete({})).toEqual([['run_waiting', 'run `w1` waits for a human']]);
  });

  function atTheGate(): Editing {
    const editing = startEditing(workflow).goTo('human-gate');
    editing.complete({});
    return editing;
  }
});

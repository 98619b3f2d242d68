import { defineWorkflow } from '@phasegate/sdk';

/**
 * Edits a book in rounds: plan, copy to a new version, write, have it reviewed twice, measure, and ask a human.
 * Commands write to a copy of the database; what they wrote is looked at through `ctx.db` rather than believed, and
 * only then becomes the book's.
 */
export default defineWorkflow({
  type: 'w1_editing',
  name: 'Iterative Editing Workflow',
  initialStep: 'strategic-planning',
  params: {
    book: { description: 'The book to edit' },
    analysisPath: { description: 'The analysis the plan is made from' },
    previousVersionId: { description: 'The version to start from' },
    threshold: { type: 'number', default: 0.1, description: 'How much better the book must get' },
    scenario: { default: 'scenarios/smooth.json', description: 'What goes wrong on the way' },
  },
  database: {
    file: 'data/book.db',
    migrations: 'migrations',
    helpers: {
      strategicPlanExists: (db, run) =>
        db.get('SELECT 1 FROM strategic_plans WHERE run = ?', run) !== undefined,
      versionExists: (db, version) => db.get('SELECT 1 FROM versions WHERE id = ?', version) !== undefined,
      artifactsExist: (db, run) =>
        db.get("SELECT 1 FROM artifacts WHERE run = ? AND kind = 'version'", run) !== undefined,
      workflowStatus: (db, run) => db.get('SELECT status FROM workflow_status WHERE run = ?', run)?.status,
      workFinished: (db, { runId, step, item = null }) =>
        db.get(
          'SELECT finished FROM work WHERE run = ? AND step = ? AND item IS ? ORDER BY id DESC',
          runId,
          step,
          item,
        )?.finished === 1,
    },
  },
  steps: [
    {
      name: 'strategic-planning',
      command: 'node commands/strategic.ts',
      preconditions: [
        { name: 'book_exists', check: (ctx) => ctx.book !== null, error: 'Book not found' },
        { name: 'analysis_exists', check: (ctx) => ctx.analysisPath !== null, error: 'No analysis file' },
      ],
      postconditions: [
        {
          name: 'plan_created',
          check: (ctx) => ctx.db.strategicPlanExists(ctx.runId),
          error: 'Strategic plan not saved to DB',
        },
      ],
      next: 'create-version',
    },
    {
      name: 'create-version',
      command: 'node commands/create-version.ts',
      preconditions: [
        {
          name: 'plan_exists',
          check: (ctx) => ctx.checkpoint.completedSteps.includes('strategic-planning'),
          error: 'Planning not complete',
        },
      ],
      postconditions: [
        {
          name: 'version_created',
          check: (ctx) => ctx.result.versionId !== ctx.previousVersionId,
          error: 'New version not created (modified in place)',
        },
        {
          name: 'version_persisted',
          check: (ctx) => ctx.db.versionExists(ctx.result.versionId),
          error: 'Version not saved to DB',
        },
      ],
      next: 'writer',
    },
    {
      name: 'writer',
      command: 'node commands/write.ts --area {item} --run {run}',
      // One item for each area the plan named; every item is completed, and judged, on its own.
      parallel: true,
      parallelKey: 'improvementAreas',
      postconditions: [
        {
          name: 'chapters_modified',
          check: (ctx) => ctx.result.modifiedChapters.length > 0,
          error: 'No chapters were modified',
        },
        {
          name: 'work_saved',
          check: (ctx) => ctx.db.workFinished(ctx),
          error: 'Chapters not saved to DB',
        },
      ],
      next: 'editor-review',
    },
    {
      name: 'editor-review',
      command: 'node commands/editor-review.ts',
      postconditions: [
        {
          name: 'review_complete',
          check: (ctx) => ctx.result.decision !== null,
          error: 'Editor did not provide decision',
        },
        {
          name: 'work_saved',
          check: (ctx) => ctx.db.workFinished(ctx),
          error: 'Review not saved to DB',
        },
      ],
      next: {
        condition: 'result.decision === "approved"',
        onTrue: 'domain-expert-review',
        onFalse: 'writer',
        maxIterations: 3,
      },
    },
    {
      name: 'domain-expert-review',
      command: 'node commands/domain-review.ts',
      postconditions: [
        {
          name: 'review_complete',
          check: (ctx) => ctx.result.decision !== null,
          error: 'Domain expert did not provide decision',
        },
        {
          name: 'work_saved',
          check: (ctx) => ctx.db.workFinished(ctx),
          error: 'Review not saved to DB',
        },
      ],
      next: {
        condition: 'result.decision === "approved"',
        onTrue: 'chapter-review',
        onFalse: 'writer',
        maxIterations: 3,
      },
    },
    {
      name: 'chapter-review',
      command: 'node commands/review-chapters.ts',
      postconditions: [
        {
          name: 'metrics_calculated',
          check: (ctx) => ctx.result.metrics !== null,
          error: 'Metrics not calculated',
        },
        {
          name: 'work_saved',
          check: (ctx) => ctx.db.workFinished(ctx),
          error: 'Metrics not saved to DB',
        },
      ],
      next: {
        condition: 'result.metrics.delta >= checkpoint.threshold',
        onTrue: 'human-gate',
        onFalse: 'strategic-planning',
        maxIterations: 3,
      },
    },
    {
      name: 'human-gate',
      command: 'node commands/human-gate.ts',
      postconditions: [
        {
          name: 'work_saved',
          check: (ctx) => ctx.db.workFinished(ctx),
          error: 'Summary not saved to DB',
        },
      ],
      humanGate: {
        prompt: 'Review the changes and metrics. How would you like to proceed?',
        context: ['metrics.baseline', 'metrics.current', 'metrics.delta', 'modifiedChapters'],
        options: [
          { label: 'Approve and finalize', nextStep: 'finalize' },
          { label: 'Request more improvements', nextStep: 'strategic-planning', requiresInput: true },
          { label: 'Reject and stop', nextStep: null },
        ],
      },
      // Where the run goes without one of the options above.
      next: 'finalize',
    },
    {
      name: 'finalize',
      command: 'node commands/finalize.ts',
      postconditions: [
        {
          name: 'artifacts_registered',
          check: (ctx) => ctx.db.artifactsExist(ctx.runId),
          error: 'Artifacts not registered',
        },
        {
          name: 'workflow_completed',
          check: (ctx) => ctx.db.workflowStatus(ctx.runId) === 'completed',
          error: 'Workflow not marked complete',
        },
      ],
      next: null,
    },
  ],
});

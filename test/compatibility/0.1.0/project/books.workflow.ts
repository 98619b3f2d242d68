import { defineWorkflow, type Handler, Outcome } from '@phasegate/sdk';

const draft: Handler = (ctx) => {
  ctx.db.run('INSERT INTO chapters (title, words) VALUES (?, ?)', `Draft for ${ctx.params.book}`, 1200);
  const rounds = Number(ctx.state.rounds ?? 0) + 1;
  return [Outcome.OK, { chapters: ctx.db.chapterCount(), rounds }];
};

const publish: Handler = (ctx) => {
  ctx.db.run('INSERT INTO chapters (title, words) VALUES (?, ?)', 'Imprint', 40);
  return [Outcome.OK, { printed: ctx.db.chapterCount() }];
};

/** A handler with state, a database with a helper, a loop whose middle is done by an agent, and a gate. */
export default defineWorkflow({
  type: 'books',
  name: 'Edit the book',
  initialStep: 'draft',
  params: { book: { type: 'string', required: true, description: 'The book to edit' } },
  database: {
    file: 'data/book.db',
    migrations: 'migrations',
    helpers: { chapterCount: (db) => db.get('SELECT count(*) AS n FROM chapters')?.n ?? 0 },
  },
  steps: [
    {
      name: 'draft',
      handler: draft,
      postconditions: [
        { name: 'saved', check: (ctx) => ctx.db.chapterCount() > 0, error: 'The chapter was not saved' },
      ],
    },
    {
      name: 'review',
      instructions: 'Read the draft and submit a `decision` and the `filesRead`.',
      postconditions: [
        {
          name: 'has_read',
          check: (ctx) => ctx.result.filesRead.length > 0,
          error: 'Name the files you read',
        },
      ],
      next: {
        condition: 'result.decision === "approved"',
        onTrue: 'publish',
        onFalse: 'draft',
        maxIterations: 3,
      },
    },
    {
      name: 'publish',
      handler: publish,
      humanGate: {
        prompt: 'Publish the book?',
        context: ['decision', 'rounds', 'printed'],
        options: [
          { label: 'Publish' },
          { label: 'Back', nextStep: 'draft' },
          { label: 'Never', nextStep: null },
        ],
      },
      next: null,
    },
  ],
});

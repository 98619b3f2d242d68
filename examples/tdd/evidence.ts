import type { TestRun } from './demoProject.ts';

/** The plan the scripted agent is really going to follow. */
export const PLAN = {
  summary: 'Write `slugify` in src/slugify.js, which so far gives titles back as they are',
  scope: ['src/slugify.js', 'test/slugify.test.js'],
  acceptance_criteria: [
    { id: 'AC-1', text: 'words become lower case and are joined by hyphens' },
    { id: 'AC-2', text: 'what is neither letter nor digit is left out' },
    { id: 'AC-3', text: 'accents are taken off' },
  ],
};

/** The tests of `agent/slugify.test.js`, as TDD wants them listed. */
export const TESTS = PLAN.acceptance_criteria.map(({ id, text }) => ({
  name: `${id} ${text}`,
  file: 'test/slugify.test.js',
  criterion: id,
}));

/** What IMPL wants to see, with the counts of a test run. */
export function implementation(test_run_result: TestRun): object {
  return { changes: ['src/slugify.js'], test_run_result, commands_executed: [test_run_result.command] };
}

/** A review that found nothing that must be fixed. */
export const REVIEW = {
  decision: 'approved',
  summary: 'The change does what the plan says, and each criterion has a test that shows it',
  files_read: ['src/slugify.js', 'test/slugify.test.js'],
  findings: [{ severity: 'COULD', file: 'src/slugify.js', text: 'other scripts than Latin are left out' }],
};

/** The last thing to hand in. */
export const REPORT = {
  summary: 'Titles now become slugs: lower case, hyphens, no accents',
  follow_ups: ['decide what becomes of titles without a single Latin letter'],
};

/** Counts that nobody counted. */
export const INVENTED: TestRun = { command: 'npm test', total: 3, passed: 3, failed: 0, skipped: 0 };

/** A line of each phase that an agent must not read before the phase is entered. */
export const SECRETS: Readonly<Record<string, string>> = {
  TDD: 'Write one test or more for each acceptance criterion of the plan',
  IMPL: 'Write the simplest code that makes the tests pass',
  REVIEW: 'Read the whole change as a stranger would',
  COMPLETE: 'Tell anyone who reads this tomorrow what was done',
};

import { describe, expect, test } from 'vitest';
import { CHECKS } from '../../packages/phasegate/src/checks/index.ts';
import { makeProject, phasegate, startRun } from './cli.ts';

const SECRET = { passphrase: 'open sesame' };

/** How each kind of check asks for something that an honest agent cannot give here, and what it says of that. */
const ASKED: Readonly<Record<string, readonly [given: string, says: RegExp]>> = {
  expression: ['{ condition: result.commands_executed == 7 }', /./],
  json_schema: ['{ schema: { type: object, required: [delta] } }', /delta/],
  command: ['{ argv: [no-such-program] }', /there is no program `no-such-program`/],
  tests: ['{ argv: [no-such-runner], expect: green }', /there is no program `no-such-runner`/],
  files: ['{ exist: [report.md] }', /report\.md/],
  artifacts_present: ['{ types: [report] }', /report/],
  made_from_this_tree: ['{ artifact: report }', /no `report` was handed in/],
  cites_receipts: ['{}', /is not the id of a receipt of this run/],
  tests_exist_for_acceptance_criteria: ['{}', /./],
  tests_are_failing: ['{}', /./],
  tests_are_passing: ['{}', /./],
  tests_exist: ['{}', /./],
  no_skipped_tests: ['{}', /./],
  coverage_at_least: ['{ minimum: 80 }', /./],
  plan_has_scope: ['{}', /./],
  scope_is_bounded: ['{}', /./],
  changes_within_scope: ['{}', /./],
  review_is_complete: ['{}', /./],
  all_review_models_completed: ['{ models: [one, other] }', /./],
  no_blocking_findings: ['{}', /./],
};

/** Where a check can stand: the one of the second phase is asked when the first is left. */
const PLACES = {
  postconditions: (check: string) => `
  WORK: { instructions: Work., required_evidence: [commands_executed], postconditions: [${check}] }
  END: { instructions: Report. }`,
  preconditions: (check: string) => `
  WORK: { instructions: Work., required_evidence: [commands_executed] }
  END: { instructions: Report., preconditions: [${check}] }`,
  blockers: (check: string) => `
  WORK:
    instructions: Work.
    required_evidence: [commands_executed]
    gate: { blockers: [${check}], human: { prompt: Is it well?, options: [{ label: Yes }, { label: No, next: null }] } }
  END: { instructions: Report. }`,
} as const;

test('no kind of check is left out', () => {
  expect(Object.keys(ASKED).sort()).toEqual(CHECKS.map(({ name }) => name).sort());
});

describe('an agent that cannot give what is asked says so, and a human decides:', () => {
  const rows = Object.entries(ASKED).map(([name, [given, says]]) => ({ name, given, says }));

  test.each(rows)('check `$name` [adv.I12]', async ({ name, given, says }) => {
    await leadsToHuman(
      PLACES.postconditions(`{ check: ${name}, with: ${given}, message: It is not shown }`),
      says,
    );
  });

  test.each(Object.keys(PLACES) as (keyof typeof PLACES)[])('a check under `%s` [adv.I12]', async (place) => {
    const check = '{ check: files, with: { exist: [report.md] }, message: It is not shown }';
    await leadsToHuman(PLACES[place](check), /report\.md/);
  });

  test('a function of a workflow in code [adv.I12]', async () => {
    const code = `import { defineWorkflow } from '@phasegate/sdk';
export default defineWorkflow({
  type: 'proven', name: 'Proven', initialStep: 'WORK',
  steps: [
    { name: 'WORK', instructions: 'Work.', postconditions: [{ name: 'holds', check: () => false, error: 'It is not shown' }] },
    { name: 'END', instructions: 'Report.' },
  ],
});
`;
    await leadsToHuman({ 'proven.workflow.ts': code }, /It is not shown/);
  });

  test('evidence that is required and missing, and an artifact that does not verify [adv.I12]', async () => {
    const asked = `
  WORK:
    instructions: Work.
    required_artifacts: [{ type: fix, verify: { command: [no-such-runner], expect: green } }]
  END: { instructions: Report. }`;
    await leadsToHuman(asked, /fix/, {});
    await leadsToHuman(asked, /no-such-runner|sandbox|verified/, { fix: 'done' });
  });
});

/** Handed in as it is, it is refused with a way on that is open to the agent; that way ends at a human, who goes on. */
async function leadsToHuman(
  asked: string | Readonly<Record<string, string>>,
  says: RegExp,
  evidence: object = { commands_executed: ['ls'] },
): Promise<void> {
  const files =
    typeof asked === 'string' ? { 'proven.workflow.yaml': `workflow: proven\nphases:${asked}\n` } : asked;
  const project = makeProject(files);
  await phasegate(project, ['humans', 'add', 'maria'], SECRET);
  await phasegate(project, ['trust', 'proven', '--yes'], SECRET);
  const run = await startRun(project, 'proven');

  const done = await phasegate(project, ['done', run, '--evidence', '-', '--json'], {
    stdin: JSON.stringify(evidence),
  });
  expect([done.code, done.json.checkpoint_passed], done.stdout).toEqual([1, false]);
  const blockers = done.json.blockers as { message: string; next_action?: unknown }[];
  expect(blockers.map(({ message }) => message).join('\n')).toMatch(says);
  for (const blocker of blockers)
    expect(JSON.stringify(blocker), 'the way on').toMatch(/next|phasegate|report/);

  const told = await phasegate(project, ['blocked', run, '--reason', 'it cannot be shown here', '--json']);
  expect(told.json).toMatchObject({ status: 'escalated' });
  const waiting = await phasegate(project, ['status', run]);
  expect(waiting.stdout).toContain('it cannot be shown here');
  expect((await phasegate(project, ['runs', '--json'])).json).toMatchObject({
    runs: [{ status: 'escalated' }],
  });
  // Nothing is lost, and the agent alone does not come by: a human has it go on, or leads it past what cannot be shown.
  expect((await phasegate(project, ['resume', run])).code).toBe(2);
  const resumed = await phasegate(project, ['resume', run, '--note', 'try again', '--json'], SECRET);
  expect(resumed.json).toMatchObject({ status: 'active', current_phase: 'WORK' });
  expect((await phasegate(project, ['audit', 'verify'])).code).toBe(0);
}

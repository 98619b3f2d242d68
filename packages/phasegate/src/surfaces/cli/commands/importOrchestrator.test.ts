import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { own } from '@phasegate/core';
import { expect, test } from 'vitest';
import type { Shell } from '../fixtures/callCli.ts';
import { importInto, walkImported } from '../fixtures/walkImported.ts';

const FIXTURES = join(import.meta.dirname, '../../../loaders/import/fixtures');
const CONTRACT = join(FIXTURES, 'agent_workflow.yaml');

const plan = { acceptance_criteria: [{ criterion: 'it adds', how_to_verify: 'a test' }] };
const red = { exit_code: 1, passed: 0, failed: 1 };
const green = { exit_code: 0, passed: 1, failed: 0 };
const EVIDENCE = {
  PLAN: { plan_document: plan },
  RED: { test_run_result: red },
  GREEN: { GREEN_test_run_result: green },
  LOOK: { review_report: { blocking_issues: [] } },
};

test('a contract of workflow-orchestrator is walked to its end and holds at every phase', async () => {
  const imported = await importInto(CONTRACT);
  expect(imported.report).toMatchObject({ kind: 'orchestrator-contract', workflow: 'pair-work' });

  const walked = await walkImported(imported, { evidence: EVIDENCE });

  expect(walked.status).toBe('completed');
  expect(walked.phases).toEqual(['PLAN', 'RED', 'GREEN', 'LOOK', 'REPORT']);
  expect(walked.waited).toEqual(['PLAN', 'GREEN', 'LOOK']);
  expect(walked.refused).toEqual({
    skipped: ['PLAN', 'RED', 'GREEN', 'LOOK'],
    empty: ['PLAN', 'RED', 'GREEN', 'LOOK', 'REPORT'],
    unapproved: ['PLAN', 'GREEN', 'LOOK'],
  });
});

test('what its checks refused is refused here too', async () => {
  const imported = await importInto(CONTRACT);
  const refused = async (evidence: object) =>
    expect(
      walkImported(await importInto(CONTRACT), { evidence: { ...EVIDENCE, ...evidence } }),
    ).rejects.toThrow(/check_failed|artifact_invalid|incomplete_checkpoint/);

  await refused({ PLAN: { plan_document: { acceptance_criteria: [{ criterion: 'it adds' }] } } });
  await refused({ RED: { test_run_result: green } });
  await refused({ GREEN: { GREEN_test_run_result: { ...green, exit_code: 2 } } });
  await refused({ LOOK: { review_report: { blocking_issues: ['it is wrong'] } } });
  expect(own(imported.contract, 'enforcement')).toMatchObject({ mode: 'strict' });
});

test('every key of a contract is mapped, decided by a human or left out, with its line and a reason', async () => {
  const { report, contract } = await importInto(CONTRACT);
  const named = (list: string) =>
    (own(report, list) as { key: string; line: number; text: string }[]).map(({ key }) => key);

  expect(named('human')).toEqual([
    'phases[PLAN].required_artifacts[plan_document].validation[has_steps]',
    'phases[PLAN].gates[plan_approval].type',
    'phases[PLAN].gates[plan_approval].blockers[scope_is_small]',
    'phases[GREEN].gates[tests_passing].blockers[coverage_threshold_met]',
    'phases[LOOK].gates[review_approved].type',
    'phases[LOOK].auto_spawn[0]',
  ]);
  expect(named('left_out')).toEqual([
    'task',
    'phases[PLAN].gates[plan_approval].blockers[no_open_questions]',
    'phases[RED].gates[tests_written].timeout_seconds',
    'transitions[3].triggers',
    'enforcement.mode',
    'enforcement.phase_tokens.enabled',
    'enforcement.phase_tokens.algorithm',
    'enforcement.tool_enforcement',
    'coordination',
    'monitoring',
    'schemas.unused.json',
  ]);
  expect(own(report, 'left_out')).toContainEqual(
    expect.objectContaining({ key: 'monitoring', line: 120, text: expect.stringContaining('not a key') }),
  );
  const phases = own(contract, 'phases') as object[];
  expect(phases[1]).toMatchObject({
    allowed_tools: ['read_files', 'write_files', 'edit_file', 'bash'],
    tool_constraints: {
      write_files: { allowed: ['tests/**'], denied: ['src/**'] },
      bash: { allowed: ['npm test **'], denied: ['curl **', 'git **'] },
    },
    writes: ['tests/**'],
  });
  expect(phases[2]).toMatchObject({
    writes: ['**'],
    tool_constraints: { write_files: { denied: ['.env*'] } },
  });
  expect(phases[3]).toMatchObject({
    gate: { human: { options: expect.arrayContaining([expect.objectContaining({ next: 'GREEN' })]) } },
  });
});

test('a list of items is walked to its end: the engine looks, and a human decides what could be skipped', async () => {
  const imported = await importInto(join(FIXTURES, 'items.yaml'));
  expect(imported.report).toMatchObject({ kind: 'orchestrator-items', workflow: 'small-steps' });

  const walked = await walkImported(imported, { work });

  expect(walked).toMatchObject({ status: 'completed', phases: ['PLAN', 'EXECUTE', 'FINISH'] });
  expect(walked.waited).toEqual(['PLAN', 'EXECUTE', 'FINISH']);
  expect(walked.refused).toEqual({
    skipped: ['PLAN', 'EXECUTE'],
    empty: ['PLAN', 'EXECUTE', 'FINISH'],
    unapproved: ['PLAN', 'EXECUTE', 'FINISH'],
  });
  await expect(walkImported(await importInto(join(FIXTURES, 'items.yaml')))).rejects.toThrow('not verified');
  const keys = (list: string) => (own(imported.report, list) as { key: string }[]).map(({ key }) => key);
  expect(keys('human')).toEqual([
    'phases[PLAN].items[risks].required',
    'phases[PLAN].items[risks].skippable',
    'phases[PLAN].items[approval].verification',
    'phases[EXECUTE].items[security_review].step_type',
    'phases[FINISH].required_reviews[0]',
    'phases[FINISH].exit_gate',
    'phases[FINISH].items[analysis].evidence_schema',
    'phases[FINISH].items[analysis].verification',
  ]);
  expect(keys('left_out')).toEqual([
    'settings.supervision_mode',
    'settings.reviews',
    'phases[PLAN].phase_type',
    'phases[EXECUTE].executor',
    'phases[EXECUTE].items[notes].agent',
  ]);
});

test('phases with typed gates are walked to their end, and a command that must print nothing is held to it', async () => {
  const source = join(FIXTURES, 'gates.yaml');
  const imported = await importInto(source);
  expect(imported.report).toMatchObject({ kind: 'orchestrator-gates', workflow: 'held-phases' });
  // A machine without a sandbox is warned, and not kept out.
  const asked = JSON.stringify(imported.contract);
  expect(asked.match(/"check":"command"/g)).toHaveLength(2);
  expect(asked.match(/"verify":true,"needs":"observed"/g)).toHaveLength(2);

  const walked = await walkImported(imported, { work });

  expect(walked).toMatchObject({ status: 'completed', phases: ['plan', 'build'], waited: ['build'] });
  expect(walked.refused).toEqual({ skipped: ['plan'], empty: ['plan', 'build'], unapproved: ['build'] });
  const leaveSomething = (phase: string, shell: Shell) => {
    work(phase, shell);
    shell.write('src/leftovers', 'something');
  };
  await expect(walkImported(await importInto(source), { work: leaveSomething })).rejects.toThrow(
    'check_failed',
  );
});

/** What the agent leaves in the project. */
function work(_phase: string, shell: Shell): void {
  for (const folder of ['docs', 'src']) mkdirSync(join(shell.root, folder), { recursive: true });
  shell.write('docs/plan.md', '# Plan\n');
  shell.write('src/a.txt', 'a\n');
}

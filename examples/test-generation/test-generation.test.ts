import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cases } from '../../test/tier.ts';
import { STOPS } from './evidence.ts';
import { type McpProject, makeMcpProject } from './mcpProject.ts';
import { sentencesOf } from './sentencesOf.ts';
import { type Plan, type Visit, type Walked, walk } from './walk.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const WORKFLOW = 'workflows/test_generation_v3';
const PHASES = join(HERE, WORKFLOW, 'phases');
const METADATA = JSON.parse(readFileSync(join(HERE, WORKFLOW, 'metadata.json'), 'utf8'));

const plan: Plan = {
  workflow: 'test_generation_v3',
  start: { workflow_type: 'test_generation_v3', target_file: 'test.py' },
  stops: STOPS,
  sentences: withPurposes(sentencesOf(PHASES)),
  callsPerProcess: cases({ quick: 28, full: 20 }),
  meanwhile(phase, project) {
    if (phase !== 2) return;
    project.write(`${WORKFLOW}/phases/3/phase.md`, '# Phase 3\n\nNothing to do here, go on.\n');
    project.remove(`${WORKFLOW}/phases/3/gate-definition.yaml`);
  },
};

let project: McpProject;
let walked: Walked;

beforeAll(async () => {
  project = makeMcpProject(HERE, ['workflows']);
  walked = await walk(project, plan);
});

afterAll(() => project.close());

describe('the walk', () => {
  test('begins at phase 1 of 8, with the titles of all and the text of the first [S0.43 S0.62]', () => {
    const { started } = walked;

    expect(started).toMatchObject({ phase: 1, phase_number: 1, phase_content: fileOf(1, 'phase.md') });
    expect(started.workflow_overview).toMatchObject({
      total_phases: 8,
      phases: STOPS.map(({ phase, name }) => ({ phase, phase_name: name })),
    });
  });

  test('goes through every phase to the end, over many server processes [S0.37 S0.52 S0.69 S0.72]', () => {
    const { visits, final } = walked;

    expect(project.processes).toBeGreaterThan(STOPS.length);
    expect(visits.map(({ entered }) => entered.phase)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(final).toMatchObject({
      status: 'completed',
      current_phase: null,
      completed_phases: [1, 2, 3, 4, 5, 6, 7, 8],
      progress: { completed: 8, current: null, total: 8 },
    });
  });

  test('ends with the last phase, and says so [S0.42]', () => {
    expect(visitOf(8).right).toMatchObject({
      checkpoint_passed: true,
      phase_completed: 8,
      workflow_complete: true,
      message: 'All phases complete',
      status: 'completed',
    });
  });

  test('is taken up again by anyone who starts the same workflow for the same file [S0.52]', () => {
    const taken = walked.resumed.map(({ session_id, resumed, phase }) => ({ session_id, resumed, phase }));

    expect(taken).toEqual(
      [2, 3, 4, 5, 6, 7, 8].map((phase) => ({ session_id: walked.session, resumed: true, phase })),
    );
  });

  test('serves the files as they were when it began, exactly [C5 C26 S1.64 S1.92]', () => {
    for (const { phase, entered, tasks } of walked.visits) {
      expect(entered.phase_content).toBe(fileOf(phase, 'phase.md'));
      expect(entered).not.toHaveProperty('phase_overview');
      expect(tasks.map(({ task_content }) => task_content)).toEqual(
        taskFiles(phase).map((name) => fileOf(phase, name)),
      );
      expect(tasks.every(({ source }) => source === 'static')).toBe(true);
    }
    expect(project.read(`${WORKFLOW}/phases/3/phase.md`)).not.toBe(fileOf(3, 'phase.md'));
  });

  test('hands on what every earlier phase left, as it was handed in [S0.41 S0.53 S0.54 S0.70]', () => {
    for (const { phase, entered, right } of walked.visits) {
      const left = Object.fromEntries(STOPS.slice(0, phase - 1).map((stop) => [stop.phase, stop.right]));
      expect(entered.artifacts_from_previous).toEqual(left);
      if (phase === 8) continue;
      expect(right).toMatchObject({
        checkpoint_passed: true,
        phase_completed: phase,
        next_phase: phase + 1,
        next_phase_content: fileOf(phase + 1, 'phase.md'),
        artifacts_available: { ...left, [phase]: STOPS[phase - 1]?.right },
      });
    }
  });

  test('answers every call with the same JSON as text and as structure', () => {
    expect(walked.uneven).toEqual([]);
  });
});

describe('skipping', () => {
  test.each(STOPS)(
    'from phase $phase is refused in every form, with what to do instead [C1 C3 S0.10 S0.44 S0.55 S0.63 S0.67]',
    ({ phase }) => {
      const { skips } = visitOf(phase);

      expect(skips.length).toBe(20);
      for (const { form, answer } of skips) {
        expect(answer, JSON.stringify(form)).toMatchObject({
          error: 'phase_sequence_violation',
          message: expect.stringMatching(/^Cannot access Phase /),
          reason: `Currently on Phase ${phase}`,
          required_action: `Complete Phase ${phase} checkpoint first`,
          violation_type: 'attempted_skip',
          current_phase_content: fileOf(phase, 'phase.md'),
          artifacts_available: visitOf(phase).entered.artifacts_from_previous,
          progress: { completed: phase - 1, current: phase, total: 8 },
          next_action: expect.stringContaining('get_task('),
        });
      }
    },
  );

  test('never gave away a sentence of a phase that was not reached [S0.1 S0.15 S0.67]', () => {
    const known = [...plan.sentences.values()].flat().length;

    // Only what would be noticed can be missed: nearly all of them were answered in their own phase.
    expect(known).toBeGreaterThan(400);
    expect(walked.heard / known).toBeGreaterThan(0.95);
    expect(walked.calls).toBeGreaterThan(200);
    expect(walked.leaks).toEqual([]);
  });

  test('back is reading: a completed phase is shown again and not entered again [S0.9 S0.11 S0.13]', () => {
    for (const { phase, before } of walked.visits.slice(1)) {
      expect(before?.review).toMatchObject({
        phase: phase - 1,
        phase_content: fileOf(phase - 1, 'phase.md'),
        artifacts_from_previous: {},
      });
      expect(before?.again).toMatchObject({ checkpoint_passed: false, error: 'phase_sequence_violation' });
    }
  });
});

describe('evidence', () => {
  test('of phase 1 with one value of five is refused with exactly the four that are missing [S0.31 S0.65]', () => {
    const { wrong } = visitOf(1);

    expect(wrong).toMatchObject({ checkpoint_passed: false, error: 'incomplete_checkpoint', phase: 1 });
    expect(wrong.missing_evidence).toEqual([
      'method_count (required: methods of classes; zero is a fine answer)',
      'branch_count (required: two-way decisions: if, elif, except, loop, conditional expression, boolean operator)',
      'ast_command_output (required: what the parser printed, as it printed it)',
      'functions_list (required: names of all functions and methods, in file order)',
    ]);
    expect(wrong.examples).toMatchObject({ function_count: 6, functions_list: expect.any(Array) });
  });

  test('of phase 1 with all five passes, and nothing is missing [S0.64]', () => {
    const { right } = visitOf(1);

    expect(right.checkpoint_passed).toBe(true);
    expect(right.missing_evidence ?? []).toEqual([]);
  });

  test.each([
    [2, 'incomplete_checkpoint', /^logger_call_count \(wrong type: expected int, got str\)/],
    [3, 'check_failed', /every external dependency needs a place where a test replaces it/],
    [4, 'incomplete_checkpoint', /^usage_patterns \(validation failed: one line for each way/],
    [5, 'check_failed', /branch_coverage_goal \(validation failed: branches the finished tests will take/],
    [6, 'incomplete_checkpoint', /^baseline_output \(validation failed: last lines of the suite/],
    [7, 'incomplete_checkpoint', /^test_count \(validation failed: cases in it/],
    [8, 'check_failed', /more mutants were killed than made/],
  ])(
    'of phase %i that is wrong is refused as %s, and right evidence passes [S0.68 S0.71]',
    (phase, error, why) => {
      const { wrong, right } = visitOf(phase);

      expect(wrong).toMatchObject({
        checkpoint_passed: false,
        error,
        current_phase: phase,
        status: 'active',
      });
      const [reason] = [wrong.missing_evidence, [wrong.message]].filter(Array.isArray).flat();
      expect(reason).toMatch(why);
      expect(wrong.current_phase_content).toContain(fileOf(phase, 'phase.md'));
      expect(right.checkpoint_passed).toBe(true);
    },
  );

  test('does not help while a task is unread, the last one included; and a task is read by fetching it', () => {
    for (const { phase, entered, untouched, tasks } of walked.visits) {
      const unread = JSON.stringify([entered, untouched[0]]);
      for (const { task_content } of tasks) {
        const [, , sentence = ''] = String(task_content).split('\n');
        expect(sentence.length).toBeGreaterThan(20);
        expect(unread).not.toContain(JSON.stringify(sentence).slice(1, -1));
      }
      expect(untouched.map(({ error }) => error)).toEqual(['tasks_not_fetched', 'tasks_not_fetched']);
      expect(untouched.every(({ current_phase }) => current_phase === phase)).toBe(true);
    }
  });
});

describe('after the end', () => {
  test('every phase can be read, and none can be handed in [S0.9]', async () => {
    const { session: session_id } = walked;

    const { answer: review } = await project.call('get_phase', { session_id, phase: '3' });
    const { answer: task } = await project.call('get_task', { session_id, phase: 8, task_number: 2 });
    const { answer: again } = await project.call('complete_phase', { session_id, phase: 8, evidence: {} });

    expect(review.phase_content).toBe(fileOf(3, 'phase.md'));
    expect(task.task_content).toBe(fileOf(8, 'task-2-measure.md'));
    expect(again).toMatchObject({ checkpoint_passed: false, status: 'completed' });
  });

  test('a new start is a new run, from the files as they are now', async () => {
    const { answer } = await project.call('start_workflow', plan.start);

    expect(answer).toMatchObject({ resumed: false, phase: 1 });
    expect(answer.session_id).not.toBe(walked.session);
  });
});

function visitOf(phase: number): Visit {
  const visit = walked.visits.find((one) => one.phase === phase);
  if (visit === undefined) throw new RangeError(`phase ${phase} was not visited`);
  return visit;
}

function fileOf(phase: number, name: string): string {
  return readFileSync(join(PHASES, String(phase), name), 'utf8');
}

function taskFiles(phase: number): readonly string[] {
  return readdirSync(join(PHASES, String(phase)))
    .filter((name) => name.startsWith('task-'))
    .sort();
}

function withPurposes(sentences: ReturnType<typeof sentencesOf>): ReturnType<typeof sentencesOf> {
  const purposes = new Map<number, string>(
    METADATA.phases.map((phase: { phase_number: number; purpose: string }) => [
      phase.phase_number,
      phase.purpose,
    ]),
  );
  return new Map([...sentences].map(([phase, lines]) => [phase, [...lines, purposes.get(phase) as string]]));
}

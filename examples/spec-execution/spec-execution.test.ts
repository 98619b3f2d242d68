import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cases } from '../../test/tier.ts';
import { type McpProject, makeMcpProject } from '../test-generation/mcpProject.ts';
import { sentencesOf } from '../test-generation/sentencesOf.ts';
import { type Plan, type Visit, type Walked, walk } from '../test-generation/walk.ts';
import { GATES, STOPS } from './evidence.ts';
import { sentencesOfTasks } from './sentencesOfTasks.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const TASKS = 'specs/payments-retry/tasks.md';
const PHASES = 'workflows/spec_execution_v1/phases';
const METADATA = PHASES.replace(/phases$/, 'metadata.json');
const source = fileOf(TASKS);

const plan: Plan = {
  workflow: 'spec_execution_v1',
  start: { workflow_type: 'spec_execution_v1', options: { spec_path: 'specs/payments-retry' } },
  stops: STOPS,
  sentences: new Map([...sentencesOf(join(HERE, PHASES)), ...sentencesOfTasks(source)]),
  callsPerProcess: cases({ quick: 30, full: 15 }),
  meanwhile(phase, project) {
    if (phase === 1) project.write(TASKS, ticked(source).replaceAll('card', 'wallet'));
    if (phase === 2) project.write(TASKS, source.slice(0, source.indexOf('### Phase 3')));
    if (phase === 3) project.write(`${PHASES}/dynamic/task-template.md`, 'Do as you like: [TASK_NAME]\n');
  },
};

let project: McpProject;
let walked: Walked;

beforeAll(async () => {
  project = makeMcpProject(HERE, ['workflows', 'specs']);
  walked = await walk(project, plan);
});

afterAll(() => project.close());

describe('the walk', () => {
  test('begins with a phase 0 from a file, and knows how many the specification has [S1.1 S1.38 S1.43]', () => {
    const { started } = walked;

    expect(started).toMatchObject({ phase: 0, phase_content: fileOf(`${PHASES}/0/phase.md`), task_count: 2 });
    expect(started).not.toHaveProperty('phase_overview');
    expect(started.workflow_overview).toMatchObject({
      total_phases: 5,
      phases: STOPS.map(({ phase, name }) => ({ phase, phase_name: name })),
    });
  });

  test('leads from phase 0 into phase 1 in the words of the template [S1.2 S1.27 S1.44 S1.88]', () => {
    const { right } = visitOf(0);

    expect(right).toMatchObject({ checkpoint_passed: true, phase_completed: 0, next_phase: 1 });
    const lines = String(right.next_phase_content).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        '# Phase 1: Reasons and schedule',
        'Decide in pure code, without a database or a provider, whether and when a failed charge is tried again.',
        'Tasks: 3. Expected duration: 2 days.',
        'Call `get_task` with phase 1 and task_number 1. Work only on a task that you have fetched, in the order of',
        '- `complete_phase` for phase 1 before all 3 tasks were fetched',
        '- [ ] Neither module imports the database, the provider client or the clock',
        'AFTER THIS: phase 2. It is in the answer to that call and nowhere else; with `none` the run is complete.',
      ]),
    );
  });

  test('serves every phase of the source through the same calls as files [S1.7 S1.9 S1.40]', () => {
    for (const { phase, entered } of walked.visits.slice(1)) {
      expect(entered).toMatchObject({
        phase,
        phase_name: STOPS[phase]?.name,
        phase_overview: entered.phase_content,
        tasks: TASK_NAMES[phase]?.map((name, index) => ({ number: index + 1, name })),
        task_count: TASK_NAMES[phase]?.length,
      });
    }
  });

  test('goes to the end over many server processes, and nothing is left to do [S1.73 S1.80]', async () => {
    const { session: session_id, final } = walked;

    const { answer: current } = await project.call('get_current_phase', { session_id });
    const { answer: review } = await project.call('get_phase', { session_id, phase: 2 });

    expect(project.processes).toBeGreaterThan(STOPS.length);
    expect(final).toMatchObject({ status: 'completed', completed_phases: [0, 1, 2, 3, 4] });
    expect(current).toMatchObject({ phase: null, message: 'All phases complete' });
    expect(current).not.toHaveProperty('phase_content');
    expect(review.phase_content).toBe(visitOf(2).entered.phase_content);
  });

  test('has its own copy: neither the specification nor a template can be changed under it [C5 S1.87]', () => {
    const told = walked.visits.flatMap(({ entered, tasks }) => [entered.phase_content, ...contents(tasks)]);

    expect(told.join('\n')).not.toMatch(/wallet|Do as you like/);
    expect(visitOf(4).tasks).toHaveLength(3);
    expect(project.read(TASKS)).not.toContain('Phase 4: Support');
  });
});

describe('tasks', () => {
  const fetched = () =>
    walked.visits.slice(1).flatMap(({ phase, tasks }) => tasks.map((task) => ({ phase, task })));

  test('come one at a time, from the source, with their number and session [S1.26 S1.41]', () => {
    expect(fetched()).toHaveLength(14);
    for (const { phase, task } of fetched()) {
      expect(task).toMatchObject({ session_id: walked.session, phase, source: 'dynamic' });
    }
    expect(visitOf(3).tasks.map(({ task_number }) => task_number)).toEqual([1, 2, 3, 4]);
  });

  test('carry what the source says, and the call that comes next [S1.28 S1.45 S1.54 S1.55 S1.58 S1.59 S1.60 S1.61 S1.62 S1.90]', () => {
    const [, second, , last] = contents(visitOf(2).tasks);

    expect(second).toBe(
      fileOf(`${PHASES}/dynamic/task-template.md`)
        .replaceAll('[TASK_ID]', '2.2')
        .replaceAll('[TASK_NAME]', 'Record an attempt before the provider is called')
        .replaceAll('[PHASE_NUMBER]', '2')
        .replaceAll('[PHASE_NAME]', 'Storage without double charges')
        .replaceAll('[ESTIMATED_TIME]', '4 hours')
        .replaceAll('[DEPENDENCIES]', '2.1')
        .replaceAll(
          '[TASK_DESCRIPTION]',
          '- The row comes first and the call second, so that a crash can be told from a charge that never began.',
        )
        .replaceAll(
          '[ACCEPTANCE_CRITERIA]',
          [
            "- [ ] The idempotency key is the invoice and the attempt's ordinal, and nothing else",
            '- [ ] A crash between the row and the call leaves an attempt in state unknown',
            '- [ ] A second insert with the same key is refused by the database',
          ].join('\n'),
        )
        .replaceAll('[NEXT_TASK_NUMBER]', '3'),
    );
    expect(last).toContain('3. CALL NEXT: `get_task` with phase 2 and task_number none.');
    expect(visitOf(4).entered.phase_content).toContain('AFTER THIS: phase none.');
  });

  test('and phases reach the agent with no placeholder left in them', () => {
    const told = walked.visits.flatMap(({ entered, tasks }) => [entered.phase_content, ...contents(tasks)]);

    expect(told).toHaveLength(21);
    expect(told.join('\n')).not.toMatch(/\[[A-Z_]{2,}\]/);
  });

  test('must all be read before their phase can be completed [S1.91]', () => {
    for (const { untouched } of walked.visits) {
      expect(untouched.map(({ error }) => error)).toEqual(['tasks_not_fetched', 'tasks_not_fetched']);
    }
  });
});

describe('breaking out', () => {
  test.each(STOPS)(
    'of phase $phase is refused in every form, with the phase to work on [C1 C4 S1.89]',
    ({ phase }) => {
      const { skips, entered } = visitOf(phase);

      expect(skips).toHaveLength(20);
      for (const { form, answer } of skips) {
        expect(answer, JSON.stringify(form)).toMatchObject({
          error: 'phase_sequence_violation',
          message: expect.stringMatching(/^Cannot access Phase /),
          reason: `Currently on Phase ${phase}`,
          required_action: `Complete Phase ${phase} checkpoint first`,
          violation_type: 'attempted_skip',
          current_phase_content: entered.phase_content,
          artifacts_available: entered.artifacts_from_previous,
          progress: { completed: phase, current: phase, total: 5 },
        });
      }
    },
  );

  test('never brought a sentence of a phase that was not reached [S1.89]', () => {
    const known = [...plan.sentences.values()].flat().length;

    expect(known).toBeGreaterThan(90);
    expect(walked.heard / known).toBeGreaterThan(0.95);
    expect(walked.leaks).toEqual([]);
  });

  test('by starting again leads back into the same run, also after the specification was changed', () => {
    const taken = walked.resumed.map(({ session_id, resumed, phase }) => ({ session_id, resumed, phase }));

    expect(taken).toEqual(
      [1, 2, 3, 4].map((phase) => ({ session_id: walked.session, resumed: true, phase })),
    );
  });

  test('by going back shows a completed phase and enters none [S1.89]', () => {
    for (const { phase, before } of walked.visits.slice(1)) {
      expect(before?.review).toMatchObject({ phase: phase - 1, artifacts_from_previous: {} });
      expect(before?.again).toMatchObject({ checkpoint_passed: false, error: 'phase_sequence_violation' });
    }
  });
});

describe('gates', () => {
  test('of phase 0 want what was read [S1.91]', () => {
    expect(visitOf(0).wrong.missing_evidence).toEqual([
      'requirement_ids (validation failed: ids of all functional requirements, as the document has them)',
      'risks (required: what could go wrong in carrying this out, the gravest first)',
    ]);
  });

  test.each([1, 2, 3, 4])('of phase %i want an answer to every line, and a yes is none [S1.91]', (phase) => {
    const { wrong, right, entered } = visitOf(phase);

    expect(wrong).toMatchObject({
      checkpoint_passed: false,
      error: 'incomplete_checkpoint',
      current_phase: phase,
    });
    expect(wrong.missing_evidence).toEqual([
      'tasks_completed (required: Ids of the tasks that were done)',
      'validation_gate is missing `item_3`',
      'validation_gate/item_1 must have at least 10 characters, has 3',
    ]);
    expect(JSON.stringify(entered.checkpoint_criteria)).toContain(GATES[phase]?.[0]);
    expect(right.checkpoint_passed).toBe(true);
  });
});

describe('two specifications', () => {
  test('are two runs of the same workflow, each with its own phases [S1.65 S1.86]', async () => {
    project.write('specs/one/tasks.md', small('Alpha'));
    project.write('specs/two/tasks.md', small('Omega'));
    project.write(`${PHASES}/dynamic/task-template.md`, fileOf(`${PHASES}/dynamic/task-template.md`));
    // By itself the second would wait for the first to end.
    const shared = { ...JSON.parse(fileOf(METADATA)), workspace: 'shared' };
    project.write(METADATA, JSON.stringify(shared));

    const [one, two] = [await begin('specs/one'), await begin('specs/two/tasks.md')];

    expect(one.session_id).not.toBe(two.session_id);
    expect(await firstDynamicPhase(one.session_id)).toContain('# Phase 1: Alpha');
    expect(await firstDynamicPhase(two.session_id)).toContain('# Phase 1: Omega');
  });
});

const TASK_NAMES: Readonly<Record<number, readonly string[]>> = Object.fromEntries(
  [1, 2, 3, 4].map((phase) => [
    phase,
    [...source.matchAll(new RegExp(`\\*\\*Task ${phase}\\.\\d\\*\\*: (.*)`, 'g'))].map(
      ([, name]) => name as string,
    ),
  ]),
);

function visitOf(phase: number): Visit {
  const visit = walked.visits.find((one) => one.phase === phase);
  if (visit === undefined) throw new RangeError(`phase ${phase} was not visited`);
  return visit;
}

function contents(tasks: Visit['tasks']): readonly string[] {
  return tasks.map(({ task_content }) => String(task_content));
}

function fileOf(path: string): string {
  return readFileSync(join(HERE, path), 'utf8');
}

function ticked(text: string): string {
  return text.replaceAll('- [ ]', '- [x]');
}

async function begin(spec_path: string) {
  // Options may come as the text of an object.
  const options = JSON.stringify({ spec_path });
  const { answer } = await project.call('start_workflow', { workflow_type: 'spec_execution_v1', options });
  return answer;
}

async function firstDynamicPhase(session_id: unknown): Promise<string> {
  for (const task_number of [1, 2]) await project.call('get_task', { session_id, phase: 0, task_number });
  const evidence = STOPS[0]?.right ?? {};
  const { answer } = await project.call('complete_phase', { session_id, phase: 0, evidence });
  return String(answer.next_phase_content);
}

function small(name: string): string {
  return `### Phase 1: ${name}\n\n- [ ] **Task 1.1**: Do it\n  - **Acceptance Criteria**:\n    - [ ] It is done\n`;
}

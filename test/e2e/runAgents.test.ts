import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { SECRETS } from '../../examples/tdd/evidence.ts';
import { someOf } from '../tier.ts';
import { asHuman, copyTrusted, drive, makeTrusted, type RunEvent } from './bookProject.ts';
import { phasegate, startRun, type TestProject } from './cli.ts';
import { doPhase } from './tddWork.ts';

const LONG = 240_000;
const EXAMPLE = fileURLToPath(new URL('../../examples/tdd', import.meta.url));
const AGENT = fileURLToPath(new URL('forgetfulAgent.ts', import.meta.url));
const PHASES = ['PLAN', 'TDD', 'IMPL', 'REVIEW', 'COMPLETE'];
const CARDS: Readonly<Record<string, string>> = { PLAN: 'Find out what the change touches', ...SECRETS };

const FORGOT = 'the agent ended without completing the phase';
/** Claims the engine looked into itself; the others lack what the phase asks for, and are not an attempt to complete it. */
const CLAIMED: Readonly<Record<string, string>> = {
  TDD: 'The engine ran the tests and did not see them fail',
  IMPL: 'The engine ran the tests and did not see them pass',
};

/** The project with its run at each phase, nobody having forgotten anything on the way there. */
const at = new Map<string, TestProject>();
let run: string;

beforeAll(async () => {
  const project = await makeTrusted();
  for (const path of ['agent_workflow.yaml', 'package.json', 'schemas', 'src']) {
    cpSync(join(EXAMPLE, path), join(project.root, path), { recursive: true });
  }
  await asHuman(project, ['trust', 'tdd', '--yes']);
  run = await startRun(project, 'tdd');
  for (const phase of PHASES) {
    at.set(phase, copyTrusted(project));
    await doPhase({ root: project.root, run, phase }, (words, evidence) =>
      phasegate(project, words, evidence === undefined ? {} : { stdin: JSON.stringify(evidence) }),
    );
    if (phase === 'PLAN') await asHuman(project, ['decide', run, '--option', 'Approve']);
  }
  const { json } = await phasegate(project, ['status', run, '--json']);
  expect(json).toMatchObject({ status: 'completed' });
}, LONG);

const CASES = PHASES.flatMap((phase) =>
  [
    { does: 'ends without reporting', how: 'silent', reason: FORGOT },
    { does: 'answers with prose', how: 'prose', reason: FORGOT },
    { does: 'never ends', how: 'loop', reason: 'did not end within 3 seconds and was killed' },
    { does: 'claims success without work', how: 'claim', reason: CLAIMED[phase] ?? FORGOT },
  ].map((one) => ({ phase, ...one })),
);

// Each thing an agent may do at one phase or another, or at all of them.
test.concurrent.each(someOf(CASES, { quick: 1, full: CASES.length }))(
  'an agent that $does at $phase is started again with the card and the reason, then a human takes over: the run does not advance [S3.1 S3.2 S3.5 S3.41 S3.42 fail.11]',
  async ({ phase, how, reason }) => {
    const project = copyTrusted(at.get(phase) as TestProject);

    const driven = await drive(project, ['run', run, ...agent(project, how), '--step-timeout', '3']);

    expect(driven.json).toMatchObject({ outcome: 'escalated', phase });
    expect(driven.code).toBe(1);
    expect(starts(driven.events)).toEqual([`${phase} 1`, `${phase} 2`]);
    const prompts = promptsOf(project);
    expect(prompts).toHaveLength(2);
    for (const prompt of prompts) {
      expect(prompt).toContain(CARDS[phase]);
      for (const later of PHASES.slice(PHASES.indexOf(phase) + 1)) expect(prompt).not.toContain(CARDS[later]);
    }
    expect(prompts[0]).not.toContain('Previous attempt failed');
    expect(prompts[1]).toContain('Previous attempt failed: ');
    expect(prompts[1]).toContain(reason);
    expect(driven.events.findLast(({ event }) => event === 'waiting')).toMatchObject({
      what: { for: 'escalation', phase, failure: expect.stringContaining(reason) },
    });
    const { json } = await phasegate(project, ['status', run, '--json']);
    expect(json).toMatchObject({
      status: 'escalated',
      phase,
      completed_phases: PHASES.slice(0, PHASES.indexOf(phase)),
    });
  },
  LONG,
);

test(
  'the workflow completes even if the model forgets, once in every phase [S3.1 S3.2 S3.5 S3.8 S3.10 S3.42 S3.43 fail.11]',
  async () => {
    const project = copyTrusted(at.get('PLAN') as TestProject);
    const words = agent(project, 'forget');

    const first = await drive(project, ['run', run, ...words]);
    expect(first.json).toMatchObject({ outcome: 'waiting', phase: 'PLAN' });
    await asHuman(project, ['decide', run, '--option', 'Approve']);
    const second = await drive(project, ['run', run, ...words]);

    expect(second.json, second.stderr).toMatchObject({ outcome: 'completed' });
    expect(starts([...first.events, ...second.events])).toEqual(
      PHASES.flatMap((phase) => [`${phase} 1`, `${phase} 2`]),
    );
    expect(promptsOf(project)).toHaveLength(2 * PHASES.length);
    expect((await phasegate(project, ['audit', 'verify', '--json'])).json).toMatchObject({ ok: true });
  },
  LONG,
);

function agent(project: TestProject, how: string): readonly string[] {
  return ['--agent', `node ${AGENT} ${how} ${join(project.base, 'seen')} {prompt}`];
}

function promptsOf(project: TestProject): readonly string[] {
  const seen = join(project.base, 'seen');
  return readdirSync(seen)
    .sort()
    .map((name) => readFileSync(join(seen, name), 'utf8'));
}

function starts(events: readonly RunEvent[]): readonly string[] {
  return events.flatMap(({ event, phase, attempt }) =>
    event === 'step_started' ? [`${phase} ${attempt}`] : [],
  );
}

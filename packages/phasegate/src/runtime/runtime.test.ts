import type { Command, PhaseDraft, Phasegate, Principal } from '@phasegate/core';
import { decisionText } from '@phasegate/core/contract';
import { artifactsOf } from '@phasegate/core/engine';
import { encodeSubmitted, PLAIN } from '@phasegate/wire';
import { describe, expect, test } from 'vitest';
import { type MemoryProject, openMemoryProject } from './fixtures/openMemoryProject.ts';
import type { UnlockedHuman } from './ports.ts';

const AGENT: Principal = { kind: 'agent', name: 'local' };
const TWO: readonly PhaseDraft[] = [
  { id: 'PLAN', instructions: 'plan it' },
  { id: 'BUILD', instructions: 'build it' },
];
const GATED: readonly PhaseDraft[] = [
  {
    id: 'PLAN',
    gates: [
      {
        id: 'ok',
        human: {
          prompt: 'Go?',
          options: [{ label: 'Yes' }, { label: 'No', next: null }],
          timeout: { after: '1h' },
        },
      },
    ],
  },
  { id: 'BUILD' },
];

describe('a run', () => {
  test('is made with its audit, and the project notes that it was [S3.29 S3.30 S3.32 S0.51 S0.62]', async () => {
    const { phasegate, run, store } = await start(TWO);

    expect(await phasegate.view(run)).toMatchObject({
      run,
      workflow: 'tested',
      status: 'active',
      phase: 'PLAN',
      epoch: 1,
      trusted: false,
    });
    expect(await events(phasegate, run)).toEqual(['run_started']);
    expect((await store.history(null, { after: 0, limit: 9 })).map(({ event }) => event)).toEqual([
      'run_started',
    ]);
  });

  test('keeps what was refused, and less of it once an agent has been refused very often', async () => {
    const { phasegate, project, run, store } = await start(TWO);
    const human = project.as({ kind: 'human', name: 'ada' });
    for (let turn = 0; turn < 300; turn++) {
      const evidence = { turn, text: 'x'.repeat(10_000) };
      await phasegate.submit(run, { kind: 'complete', phase: `BUILD-${turn}`, evidence });
      // A human who keeps giving the run back is as patient as it gets.
      if ((await phasegate.view(run)).status === 'escalated') await human.submit(run, { kind: 'resume' });
    }

    const records = await store.history(run, { after: 0, limit: 1000 });

    const refused = records.filter(({ event }) => event === 'phase_refused').map(({ data }) => data);
    expect(refused).toHaveLength(300);
    expect(refused[9]).toMatchObject({ recorded: { command: { evidence: { turn: 9 } } } });
    expect(refused[290]).toMatchObject({ recorded: { left_out: true } });
    expect(records.reduce((sum, { data }) => sum + JSON.stringify(data).length, 0)).toBeLessThan(3_000_000);
  });

  test('is not shown to one who asks for the verdict alone: view and outcome are made when they are read', async () => {
    const { phasegate, run } = await start(TWO);

    const submitted = await phasegate.submit(run, { kind: 'complete', phase: 'PLAN', evidence: {} });

    expect(Object.getOwnPropertyDescriptor(submitted, 'view')?.get).toBeDefined();
    expect(Object.getOwnPropertyDescriptor(submitted, 'outcome')?.get).toBeDefined();
    expect(submitted.view).toMatchObject({ phase: 'BUILD' });
  });

  test('keeps every transition with its evidence, and the project notes its end [S0.40 S0.47 S2.12 S2.28 S2.30 S3.36 S3.79 C25]', async () => {
    const { phasegate, run, store } = await start(TWO);

    await phasegate.submit(run, { kind: 'complete', phase: 'PLAN', evidence: { plan: 'short' } });
    const { view } = await phasegate.submit(run, { kind: 'complete', phase: 'BUILD', evidence: {} });

    expect(view).toMatchObject({ status: 'completed', epoch: 3, completedPhases: ['PLAN', 'BUILD'] });
    expect(await events(phasegate, run)).toEqual(['run_started', 'phase_completed', 'phase_completed']);
    expect((await store.load(run))?.run.completions).toMatchObject([{ evidence: { plan: 'short' } }, {}]);
    expect((await store.history(null, { after: 0, limit: 9 })).map(({ event }) => event)).toEqual([
      'run_started',
      'run_ended',
    ]);
    expect(await store.verify()).toMatchObject({ ok: true, findings: [] });
  });

  test('is read by its id, saved and loaded as a whole, and says what each phase left [S0.5]', async () => {
    const { phasegate, run, store } = await start(TWO);

    await phasegate.submit(run, { kind: 'complete', phase: 'PLAN', evidence: { plan: 'short', steps: [1] } });
    const loaded = (await store.load(run))?.run;

    expect(await phasegate.view(run)).toMatchObject({ run, phase: 'BUILD', completedPhases: ['PLAN'] });
    expect(loaded).toMatchObject({ id: run, phase: 'BUILD', completions: [{ phase: 'PLAN' }] });
    expect(loaded && artifactsOf(loaded)).toEqual({ PLAN: { plan: 'short', steps: [1] } });
  });

  test('is not found by another id, and is another agent’s business to nobody [S0.49]', async () => {
    const { project, run, phasegate } = await start(TWO);
    const other = project.as({ kind: 'agent', name: 'other' });

    await expect(phasegate.view('run-none')).rejects.toMatchObject({ code: 'run_unknown' });
    await expect(other.view(run)).rejects.toMatchObject({ code: 'not_permitted' });
    expect(await other.runs()).toEqual([]);
    expect(encodeSubmitted(await other.submit(run, complete('PLAN')), PLAIN)).toMatchObject({
      error: 'not_your_run',
    });
    expect(await events(phasegate, run)).toContain('command_refused');
  });

  test('completed by two at once moves once; the other is refused [adv.K2 adv.K5]', async () => {
    const { phasegate, run } = await start(TWO);

    const answers = await Promise.all([1, 2, 3].map(() => phasegate.submit(run, complete('PLAN'))));

    expect(answers.filter(({ verdict }) => verdict.allowed)).toHaveLength(1);
    expect((await events(phasegate, run)).filter((event) => event === 'phase_completed')).toHaveLength(1);
  });

  test('may be asked for a phase by id, number or name [C2]', async () => {
    const { phasegate, run } = await start(TWO);

    expect((await phasegate.submit(run, complete(1))).verdict.allowed).toBe(true);
    expect(await phasegate.phase(run, '2')).toMatchObject({ ok: true, phase: { id: 'BUILD' } });
    expect(await phasegate.phase(run)).toMatchObject({
      ok: true,
      phase: { content: expect.stringContaining('build it') },
    });
  });

  test('time in a run never goes back, whatever the clock does [adv.E10]', async () => {
    const { phasegate, run, setTime } = await start(TWO);

    setTime('2020-01-01T00:00:00.000Z');
    const { view } = await phasegate.submit(run, complete('PLAN'));

    expect(view.updatedAt >= view.startedAt).toBe(true);
  });
});

describe('checks', () => {
  test.each([
    ['throwing', 'check_errored', 'boom'],
    ['expression', 'check_errored', 'result.decision'],
  ])(
    'one that cannot answer (%s) refuses the phase and says why [C19 S0.34 adv.E4]',
    async (check, code, reason) => {
      const condition = check === 'expression' ? { with: { condition: 'result.decision === "yes"' } } : {};
      const { phasegate, run } = await start([
        { id: 'PLAN', postconditions: [{ check, ...condition, message: 'not done' }] },
      ]);

      const answer = encodeSubmitted(await phasegate.submit(run, complete('PLAN')), PLAIN);

      expect(answer).toMatchObject({ checkpoint_passed: false, error: code, attempt: 1 });
      expect(answer.message).toContain(reason);
    },
  );

  test('a failed attempt is remembered with its reason for the one who resumes the run [S3.44 S3.45 S3.48 S3.22]', async () => {
    const failing = { check: 'files', with: { exist: ['plan.md'] }, message: 'no plan was written' };
    const { phasegate, run } = await start([{ id: 'PLAN', postconditions: [failing] }]);

    await phasegate.submit(run, complete('PLAN'));

    expect(await phasegate.view(run)).toMatchObject({
      attempts: 1,
      feedback: expect.stringContaining('Previous attempt failed: no plan was written'),
    });
  });

  test('a function of the workflow answers as a fact; code that changed escalates the run instead of being guessed at', async () => {
    const step: PhaseDraft = {
      id: 'PLAN',
      postconditions: [{ ref: 'steps/PLAN/postconditions/done', label: 'done', message: 'not done' }],
    };
    const { phasegate, run, answer } = await start([step], { code: 'c', module: 'w.ts' });

    answer({ ok: true, value: false });
    expect(encodeSubmitted(await phasegate.submit(run, complete('PLAN')), PLAIN)).toMatchObject({
      error: 'check_failed',
    });
    answer({ ok: false, kind: 'code_changed', reason: 'the code changed' });
    expect(encodeSubmitted(await phasegate.submit(run, complete('PLAN')), PLAIN)).toMatchObject({
      error: 'escalated',
      status: 'escalated',
    });
    const message = `the code changed: bring \`w.ts\` back as it was, or accept it with \`phasegate trust tested\` and move the run with \`phasegate migrate ${run}\``;
    expect(await phasegate.view(run)).toMatchObject({ escalation: { reason: 'code_changed', message } });
  });

  test('a step without a handler succeeds with ok [C14]', async () => {
    const { phasegate, run } = await start([{ id: 'PLAN', next: { outcomes: { ok: null } } }]);

    expect((await phasegate.submit(run, complete('PLAN'))).view.status).toBe('completed');
  });
});

describe('a human', () => {
  test('decides with a signature; without one nothing is decided, and the attempt is recorded [C18 adv.J2 adv.H2]', async () => {
    const { project, phasegate, run, ada } = await withHuman(GATED);
    await phasegate.submit(run, complete('PLAN'));
    const command = await decision(project, run, 'Yes');
    const asAda = project.as(ada.principal);

    await expect(asAda.submit(run, command)).rejects.toMatchObject({ code: 'credential_invalid' });
    await expect(
      asAda.submit(run, { ...command, signature: ada.sign('something else') }),
    ).rejects.toMatchObject({ code: 'credential_invalid' });
    expect(encodeSubmitted(await phasegate.submit(run, command), PLAIN)).toMatchObject({
      error: 'not_a_human',
    });
    expect((await phasegate.view(run)).status).toBe('waiting');
    const noted = await project.as(ada.principal).history(null);
    expect(noted.map(({ event }) => event)).toContain('credential_failed');

    const { view } = await asAda.submit(run, signed(command, run, ada));
    expect(view.phase).toBe('BUILD');
    expect(await project.verifyAudit()).toMatchObject({ ok: true });
  });

  test('cannot decide on what was not shown, nor reuse a decision [adv.J6 adv.J5]', async () => {
    const { project, phasegate, run, ada } = await withHuman(GATED);
    await phasegate.submit(run, complete('PLAN'));
    const command = await decision(project, run, 'Yes');
    const asAda = project.as(ada.principal);

    expect(
      encodeSubmitted(await asAda.submit(run, signed({ ...command, shown: 'other' }, run, ada)), PLAIN),
    ).toMatchObject({
      error: 'shown_changed',
    });
    await asAda.submit(run, signed(command, run, ada));
    expect(encodeSubmitted(await asAda.submit(run, signed(command, run, ada)), PLAIN)).toMatchObject({
      error: 'run_not_waiting',
    });
  });

  test('who does not decide in time finds the run parked, not approved [adv.J8 adv.J9]', async () => {
    const { phasegate, run, setTime } = await withHuman(GATED);
    await phasegate.submit(run, complete('PLAN'));

    setTime('2026-11-15T14:00:00.000Z');

    expect(await phasegate.view(run)).toMatchObject({
      status: 'escalated',
      escalation: { reason: 'gate_timed_out' },
    });
    expect(await events(phasegate, run)).toContain('gate_timed_out');
  });

  test('once set up must accept a workflow before it starts, and again after it changed [adv.G9]', async () => {
    const { project, ada, edit, phasegate } = await withHuman(TWO);

    edit();
    await expect(phasegate.start({ workflow: 'tested' })).rejects.toMatchObject({
      code: 'untrusted_workflow',
    });
    const card = await project.trust.workflows.card('tested');
    expect(card).toMatchObject({
      trusted: false,
      files: [{ path: 'agent_workflow.yaml', change: 'changed' }],
    });
    await expect(project.trust.workflows.accept('tested', 'closure-1', ada)).rejects.toMatchObject({
      code: 'untrusted_workflow',
    });
    await project.trust.workflows.accept('tested', card.closure, ada);

    expect((await phasegate.start({ workflow: 'tested' })).view).toMatchObject({ trusted: true });
  });

  test('can be added by nobody but a human once there is one, and the last one stays', async () => {
    const { project, ada } = await withHuman(TWO);

    await expect(project.humans.add('eve', 'a passphrase', null)).rejects.toMatchObject({
      code: 'not_permitted',
    });
    await expect(project.humans.remove('ada', ada)).rejects.toMatchObject({ code: 'not_permitted' });
    await expect(project.humans.unlock('ada', 'wrong passphrase')).rejects.toMatchObject({
      code: 'credential_invalid',
    });
    await project.humans.add('grace', 'another passphrase', ada);
    expect((await project.humans.list()).map(({ name }) => name)).toEqual(['ada', 'grace']);
  });
});

describe('a tool call', () => {
  test('is judged by the phase, and the verdict is in the audit whatever it was [S2.14 S2.40 S2.56 S2.67 S2.72]', async () => {
    const { phasegate, run, store } = await start([{ id: 'PLAN', allowedTools: ['read_files'] }]);

    expect((await phasegate.judgeTool(run, { tool: 'read_files', input: { path: 'a.txt' } })).allowed).toBe(
      true,
    );
    expect((await phasegate.judgeTool(run, { tool: 'bash', input: { command: 'ls' } })).allowed).toBe(false);

    const judged = (await store.history(run, { after: 0, limit: 9 })).filter(
      ({ event }) => event === 'tool_judged',
    );
    expect(judged.map(({ data }) => data)).toMatchObject([
      { tool: 'read_files', phase: 'PLAN', allowed: true },
      { tool: 'bash', phase: 'PLAN', allowed: false, code: 'tool_not_allowed' },
    ]);
    expect(judged[0]?.principal).toBe('agent:local');
  });

  test('by an agent that does not hold the run is judged as one without a run', async () => {
    const { project, run } = await start([{ id: 'PLAN', allowedTools: ['write_files'], writes: ['**'] }]);

    const verdict = await project
      .as({ kind: 'agent', name: 'other' })
      .judgeTool(run, { tool: 'write_files', input: { path: 'a' } });

    expect(verdict).toMatchObject({ allowed: false, blockers: [{ code: 'no_run' }] });
  });
});

interface Begun extends MemoryProject {
  readonly phasegate: Phasegate;
  readonly run: string;
}

async function start(
  phases: readonly PhaseDraft[],
  more: { code?: string; module?: string } = {},
): Promise<Begun> {
  const memory = openMemoryProject({ id: 'tested', phases, ...more });
  const phasegate = memory.project.as(AGENT);
  const { view } = await phasegate.start({ workflow: 'tested' });
  return { ...memory, phasegate, run: view?.run ?? '' };
}

async function withHuman(phases: readonly PhaseDraft[]): Promise<Begun & { ada: UnlockedHuman }> {
  const memory = openMemoryProject({ id: 'tested', phases });
  await memory.project.humans.add('ada', 'a long passphrase', null);
  const ada = await memory.project.humans.unlock('ada', 'a long passphrase');
  await memory.project.trust.workflows.accept('tested', 'closure-1', ada);
  const phasegate = memory.project.as(AGENT);
  const { view } = await phasegate.start({ workflow: 'tested' });
  return { ...memory, phasegate, run: view?.run ?? '', ada };
}

type Decide = Extract<Command, { kind: 'decide' }>;

async function decision(project: MemoryProject['project'], run: string, option: string): Promise<Decide> {
  const card = await project.gateCard(run);
  return { kind: 'decide', gate: card?.gate ?? '', option, shown: card?.shown ?? '', signature: '' };
}

function signed(command: Decide, run: string, human: UnlockedHuman): Decide {
  const { gate, option, input = null, shown } = command;
  return {
    ...command,
    signature: human.sign(decisionText({ run, gate, option, input, shown, by: human.principal.name })),
  };
}

function complete(phase: string | number): Command {
  return { kind: 'complete', phase, evidence: {} };
}

async function events(phasegate: Phasegate, run: string): Promise<readonly string[]> {
  return (await phasegate.history(run)).map(({ event }) => event);
}

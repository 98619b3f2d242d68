import type { WorkflowDraft } from '@phasegate/core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type MemoryProject, openMemoryProject } from './fixtures/openMemoryProject.ts';
import type { GateCard, UnlockedHuman } from './ports.ts';

const PASSPHRASE = 'correct horse battery';

describe('the humans of a project', () => {
  test('two first ones at once are one: the other needs that human [adv.P2]', async () => {
    const { project } = opened({ sqlite: true });

    const added = await Promise.allSettled(
      ['ada', 'eve', 'mallory'].map((name) => project.humans.add(name, PASSPHRASE, null)),
    );

    expect(added.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const one of added) if (one.status === 'rejected') expect(one.reason.code).toBe('not_permitted');
    expect(await project.humans.list()).toHaveLength(1);
    expect(await project.verifyAudit()).toMatchObject({ ok: true });
  });

  test('two who remove each other at once leave one', async () => {
    const { project, add } = opened();
    const [ada, eve] = [await add('ada'), await add('eve')];

    const removed = await Promise.allSettled([
      project.humans.remove('eve', ada),
      project.humans.remove('ada', eve),
    ]);

    expect(removed.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await project.humans.list()).toHaveLength(1);
  });

  test('one who was removed adds and removes nobody, not even when added again', async () => {
    const { project, add } = opened();
    const [ada, eve] = [await add('ada'), await add('eve')];
    await project.humans.remove('eve', ada);
    const refused = { code: 'not_permitted' };

    await expect(project.humans.add('mallory', PASSPHRASE, eve)).rejects.toMatchObject(refused);
    await add('eve');
    await expect(project.humans.add('mallory', PASSPHRASE, eve)).rejects.toMatchObject(refused);
    await expect(project.humans.remove('ada', eve)).rejects.toMatchObject(refused);
  });

  test('change a passphrase with the old one; what was signed still holds', async () => {
    const { project, add, decided } = opened();
    await add('ada');
    const run = await decided('ada');
    const { changePassphrase, unlock } = project.humans;

    await expect(changePassphrase('ada', 'wrong horse', 'another secret')).rejects.toMatchObject({
      code: 'credential_invalid',
    });
    await expect(changePassphrase('ada', PASSPHRASE, 'short')).rejects.toMatchObject({ code: 'usage' });
    await changePassphrase('ada', PASSPHRASE, 'another secret');

    await expect(unlock('ada', PASSPHRASE)).rejects.toMatchObject({ code: 'credential_invalid' });
    expect((await unlock('ada', 'another secret')).principal.name).toBe('ada');
    expect(await project.verifyAudit()).toMatchObject({ ok: true, findings: [] });
    expect((await project.load(run)).decisions).toHaveLength(1);
    const events = (await project.feed.after(0, 1000)).map(({ event }) => event);
    expect(events.filter((event) => event === 'credential_failed')).toHaveLength(2);
    expect(events).toContain('passphrase_changed');
  });

  test.each([undefined, true] as const)(
    'removed and added again, keep their genuine decisions [adv.P3]',
    async (sqlite) => {
      const { project, add, decided, pass } = opened(sqlite === undefined ? {} : { sqlite });
      const ada = await add('ada');
      await add('eve');
      await decided('eve');
      pass(3600);
      await project.humans.remove('eve', ada);
      pass(3600);
      await add('eve');
      await decided('eve');

      expect(await project.verifyAudit()).toMatchObject({ ok: true, findings: [] });
    },
  );

  test('keep their genuine decisions where the clock was hours ahead when they were added or decided', async () => {
    const { project, add, decided, pass } = opened({ sqlite: true });
    const ada = await add('ada');
    pass(6 * 3600);
    await add('eve');
    pass(-6 * 3600);
    await decided('eve');
    pass(6 * 3600);
    await decided('eve');
    pass(-6 * 3600);
    await project.humans.remove('eve', ada);

    expect(await project.verifyAudit()).toMatchObject({ ok: true, findings: [] });
  });
});

describe('a quorum', () => {
  test('is not filled by the vote of one who was removed; added again, they vote again [adv.P4]', async () => {
    const { project, add, waiting, vote, pass } = opened();
    const ada = await add('ada');
    const [eve, kim] = [await add('eve'), await add('kim')];
    await project.trust.workflows.accept('gated', 'closure-1', ada);
    const run = await waiting('TWO');
    await vote(run, eve);
    pass(60);
    await project.humans.remove('eve', ada);

    await vote(run, ada);
    expect(await project.load(run)).toMatchObject({ status: 'waiting' });
    await expect(vote(run, eve)).rejects.toMatchObject({ code: 'not_permitted' });
    expect((await vote(run, ada)).verdict).toMatchObject({ blockers: [{ code: 'already_voted' }] });

    await vote(run, await add('eve', kim));
    expect(await project.load(run)).toMatchObject({ phase: 'END' });
    expect(await project.verifyAudit()).toMatchObject({ ok: true, findings: [] });
  });

  test('is not filled by a vote of a key that was reset since; with the new key it is cast again [adv.P3 adv.P4]', async () => {
    const { project, add, waiting, vote, pass } = opened();
    const ada = await add('ada');
    const [eve, kim] = [await add('eve'), await add('kim')];
    await project.trust.workflows.accept('gated', 'closure-1', ada);
    const run = await waiting('TWO');
    await vote(run, eve);
    pass(60);

    await project.humans.reset('eve', 'a new secret', kim);

    await vote(run, ada);
    expect(await project.load(run)).toMatchObject({ status: 'waiting' });
    await expect(vote(run, eve)).rejects.toMatchObject({ code: 'credential_invalid' });
    await expect(project.humans.reset('ada', 'a new secret', eve)).rejects.toMatchObject({
      code: 'not_permitted',
    });
    await vote(run, await project.humans.unlock('eve', 'a new secret'));
    expect(await project.load(run)).toMatchObject({ phase: 'END' });
    expect(await project.verifyAudit()).toMatchObject({ ok: true, findings: [] });
  });

  test('is not filled by one human with keys they made for others since the run began [adv.P3]', async () => {
    const { project, add, waiting, vote, pass } = opened();
    const ada = await add('ada');
    const [eve] = [await add('eve'), await add('kim')];
    await project.trust.workflows.accept('gated', 'closure-1', ada);
    const run = await waiting('TWO');
    pass(60);
    await vote(run, ada);

    await project.humans.reset('kim', 'a new secret', ada);
    const taken = await project.humans.unlock('kim', 'a new secret');
    for (const human of [taken, await add('zoe', ada), await add('max', taken)]) {
      const { verdict } = await vote(run, human);
      expect(verdict).toMatchObject({ blockers: [{ code: 'already_voted' }] });
      expect(verdict).toMatchObject({
        blockers: [{ message: expect.stringContaining('count as one here') }],
      });
    }
    await expect(project.humans.add('Eve', PASSPHRASE, ada)).rejects.toMatchObject({ code: 'usage' });
    expect(await project.load(run)).toMatchObject({ status: 'waiting' });

    await vote(run, eve);
    expect(await project.load(run)).toMatchObject({ phase: 'END' });
    expect(await project.verifyAudit()).toMatchObject({ ok: true, findings: [] });
  });

  test('a choice by a card is judged on the run as it is now, not as it was when the card was made', async () => {
    const { project, waiting, add } = opened();
    const ada = await add('ada');
    await project.trust.workflows.accept('gated', 'closure-1', ada);
    const run = await waiting('ONE');
    const read = async () => (await project.gateCard(run)) ?? expect.fail('there is no gate');
    const choose = ({ gate, card, shown }: GateCard, option: string) =>
      project.decide(run, { gate, option, shown, card }, ada);
    const [first, second] = [await read(), await read()];
    const unknown = await choose(first, 'Perhaps');
    await project.as(ada.principal).submit(run, { kind: 'stop', reason: 'enough' });

    expect(unknown.verdict).toMatchObject({ blockers: [{ code: 'option_unknown' }] });
    for (const option of ['Perhaps', 'Approve']) {
      const { verdict, view } = await choose(second, option);
      expect([verdict.allowed, view.status]).toEqual([false, 'stopped']);
      expect(verdict).not.toMatchObject({ blockers: [{ code: 'option_unknown' }] });
    }
    expect(await project.load(run)).toMatchObject({ status: 'stopped', completions: [] });
    expect(await project.verifyAudit()).toMatchObject({ ok: true, findings: [] });
  });
});

const GATE = { prompt: 'Ship it?', options: [{ label: 'Approve' }] };
const GATED: WorkflowDraft = {
  id: 'gated',
  gates: { one: { human: GATE }, two: { human: { ...GATE, quorum: 2 } } },
  phases: [{ id: 'ONE', gates: ['one'] }, { id: 'TWO', gates: ['two'] }, { id: 'END' }],
};

function opened(options: Parameters<typeof openMemoryProject>[1] = {}) {
  const bed: MemoryProject = openMemoryProject(GATED, options);
  const { project } = bed;
  onTestFinished(() => project.close());
  let first: UnlockedHuman | null = null;
  const agent = project.as({ kind: 'agent', name: 'a1' });

  async function vote(run: string, human: UnlockedHuman) {
    const card = await project.gateCard(run);
    if (card === null) throw new Error('there is no gate');
    const { gate, shown } = card;
    return project.decide(run, { gate, option: 'Approve', shown }, human);
  }

  async function waiting(phase: 'ONE' | 'TWO') {
    const started = await agent.start({ workflow: 'gated' });
    const run = started.view?.run ?? '';
    await agent.submit(run, { kind: 'complete', phase: 'ONE', evidence: {}, outcome: 'ok' });
    if (phase === 'ONE') return run;
    await vote(run, await project.humans.unlock('ada', PASSPHRASE));
    await agent.submit(run, { kind: 'complete', phase: 'TWO', evidence: {}, outcome: 'ok' });
    return run;
  }

  return {
    ...bed,
    vote,
    waiting,
    async add(name: string, by = first) {
      await project.humans.add(name, PASSPHRASE, by);
      const human = await project.humans.unlock(name, PASSPHRASE);
      first ??= human;
      return human;
    },
    /** A run with a decision of that human. */
    async decided(name: string) {
      const human = await project.humans.unlock(name, PASSPHRASE);
      await project.trust.workflows.accept('gated', 'closure-1', human);
      const run = await waiting('ONE');
      expect((await vote(run, human)).verdict.allowed).toBe(true);
      return run;
    },
  };
}

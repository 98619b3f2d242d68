import type { Command } from '@phasegate/core';
import { decisionText } from '@phasegate/core/contract';
import { describe, expect, test } from 'vitest';
import { openMemoryProject } from './fixtures/openMemoryProject.ts';

const AGENT = { kind: 'agent', name: 'local' } as const;
const YEAR = 365 * 24 * 3600;

/** A run that waits at a gate for an hour at most, on a machine whose clock can be set and whose start cannot. */
async function waiting(then: 'park' | 'stop' | { readonly next: string } = 'park') {
  const steady = { at: 5_000_000, start: 'first' as string | null };
  const timeout = { after: '1h', then };
  const human = { prompt: 'Go?', options: [{ label: 'Yes' }, { label: 'No', next: null }], timeout } as const;
  const memory = openMemoryProject(
    { id: 'tested', phases: [{ id: 'PLAN', gates: [{ id: 'ok', human }] }, { id: 'BUILD' }] } as never,
    { sqlite: true, parts: { steady: { boot: () => steady.start, sinceBoot: () => steady.at } } },
  );
  const { project, pass, store } = memory;
  await project.humans.add('ada', 'a long passphrase', null);
  const ada = await project.humans.unlock('ada', 'a long passphrase');
  await project.trust.workflows.accept('tested', 'closure-1', ada);
  const phasegate = project.as(AGENT);
  const run = (await phasegate.start({ workflow: 'tested' })).view?.run ?? '';
  await phasegate.submit(run, { kind: 'complete', phase: 'PLAN', evidence: {} } as Command);
  return {
    ...memory,
    phasegate,
    run,
    ada,
    steady,
    /** Somebody sets the clock. */
    set: pass,
    /** Time passes. */
    wait: (seconds: number) => {
      pass(seconds);
      steady.at += seconds * 1000;
    },
    async decide() {
      const card = await project.gateCard(run);
      const choice = { gate: card?.gate ?? '', option: 'Yes', shown: card?.shown ?? '' };
      const text = decisionText({ run, ...choice, input: null, by: 'ada' });
      const command = { kind: 'decide', ...choice, signature: ada.sign(text) } as Command;
      return (await project.as(ada.principal).submit(run, command)).view;
    },
    /** A human has it go on, and the agent hands in what it has once more. */
    async resume() {
      await project.as(ada.principal).submit(run, { kind: 'resume' } as Command);
      await phasegate.submit(run, { kind: 'complete', phase: 'PLAN', evidence: {} } as Command);
    },
    kept: () => store.keptAll('gate_clock'),
  };
}

describe('a gate with a limit, where the clock is set forward', () => {
  test.each(['park', 'stop'] as const)(
    'stays open until its time has passed (%s) [adv.J9 adv.E10]',
    async (then) => {
      const it = await waiting(then);
      const { look, stop } = { look: () => it.project.as(AGENT).view(it.run), stop: it.project.close };
      it.set(YEAR);

      expect(await look()).toMatchObject({ status: 'waiting' });
      it.wait(3_500);
      expect(await look()).toMatchObject({ status: 'waiting' });
      expect(await it.decide()).toMatchObject({ phase: 'BUILD' });

      expect(await it.kept()).toEqual([]);
      expect(await it.project.verifyAudit()).toMatchObject({ ok: true });
      await stop();
    },
  );

  test('is expired when its time has passed, which is no refusal, and a human has it go on [adv.J9 adv.J8]', async () => {
    const it = await waiting();
    it.set(YEAR);
    it.wait(3_700);

    expect(await it.phasegate.view(it.run)).toMatchObject({
      status: 'escalated',
      escalation: { reason: 'gate_timed_out' },
    });
    await it.resume();
    // The whole hour again, by the time that passes and not by what the clock says.
    it.set(YEAR);
    it.wait(3_500);
    expect(await it.phasegate.view(it.run)).toMatchObject({ status: 'waiting' });
    expect(await it.decide()).toMatchObject({ phase: 'BUILD' });
    expect(await it.project.verifyAudit()).toMatchObject({ ok: true });
  });

  test.each([
    [
      'after the machine was started again',
      (steady: { start: string | null }) => void Object.assign(steady, { start: 'second' }),
    ],
    [
      'where the system does not say which start it was',
      (steady: { start: string | null }) => void Object.assign(steady, { start: null }),
    ],
    ['in another place that has run for less', (steady: object) => void Object.assign(steady, { at: 10 })],
  ])('goes by the clock %s, is parked and not lost', async (_, change) => {
    const it = await waiting();
    change(it.steady);
    it.set(YEAR);

    expect(await it.phasegate.view(it.run)).toMatchObject({ status: 'escalated' });
    await it.resume();
    expect(await it.decide()).toMatchObject({ phase: 'BUILD' });
  });

  test('the watch of a server leaves it open, too, and asks nobody again and again', async () => {
    const it = await waiting();
    it.set(YEAR);
    const before = (await it.store.history(it.run, { after: 0, limit: -1 })).length;
    const watch = it.project.server.watch();
    await it.phasegate.view(it.run);
    await watch.stop();

    expect((await it.store.history(it.run, { after: 0, limit: -1 })).length).toBe(before);
  });
});

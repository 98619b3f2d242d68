import { own } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { PROOF } from '../../runtime/fixtures/clientProof.ts';
import type { ClientProof } from '../../runtime/ports.ts';
import { LOCAL, openHookBed } from './fixtures/hookBed.ts';

const HUMAN = { kind: 'human', name: 'operator' } as const;
const START = 'mcp__phasegate__start_workflow';

async function open({ proven = true } = {}) {
  let now: ClientProof = PROOF;
  const bed = openHookBed({ ring: 'hooked', settings: { lookAgain: async () => now } });
  if (proven) await bed.project.proofs.keep(PROOF);
  const begin = () => bed.project.as(LOCAL).start({ workflow: 'work' });
  return {
    ...bed,
    begin,
    /** The client is another from now on. */
    replaced: () => {
      now = { ...PROOF, identity: 'd' };
    },
    put: () => {
      now = PROOF;
    },
    look: (run: string) => bed.project.look(run, HUMAN),
    /** What Claude Code does to start a run: its hook, the call, and then its work. */
    async started(): Promise<string> {
      const call = { tool_use_id: 'toolu_start', tool_input: { workflow_type: 'work' }, tool_name: START };
      await bed.event('SessionStart', { source: 'startup' });
      expect(await bed.call(START, call.tool_input, call)).toBe('allowed');
      const { view, verdict } = await begin();
      if (view === null) throw new Error(JSON.stringify(verdict));
      await bed.call('mcp__phasegate__get_current_phase', { session_id: view.run });
      return view.run;
    },
  };
}

describe('a run that asks for the ring `hooked`', () => {
  test('is started by a session of a proven client, once for each call, and shows the ring [S2.1]', async () => {
    const bed = await open();
    const run = await bed.started();
    expect(await bed.look(run)).toMatchObject({ ring: 'hooked', status: 'active' });
    expect(await bed.call('Write', bed.write('docs/a.md'))).toBe('allowed');
    expect(await bed.done(run)).toMatchObject({ verdict: { allowed: true }, view: { phase: 'BUILD' } });
    const bound = (await bed.history(run)).find(({ event }) => event === 'session_bound');
    expect(own(bound?.data, 'ring')).toBe('hooked');
    const second = await bed.begin();
    expect(second.verdict).toMatchObject({ blockers: [{ code: 'ring_too_low' }] });
  });

  test.each([
    ['nothing was proven', { proven: false }, START, 'work'],
    ['no hook told of the start', {}, 'mcp__phasegate__get_task', 'work'],
    ['another workflow was to be started', {}, START, 'other'],
  ])('is not made where %s, and says what to do', async (_, how, tool, workflow_type) => {
    const bed = await open(how);
    await bed.call(tool, { workflow_type });
    const { verdict, view } = await bed.begin();
    expect(view).toBe(null);
    expect(verdict).toMatchObject({
      blockers: [
        {
          code: 'ring_too_low',
          nextAction: { text: expect.stringContaining('phasegate doctor --prove') },
        },
      ],
    });
  });

  test('an announcement is worth nothing once the client is another, or after a while', async () => {
    const bed = await open();
    await bed.call(START, { workflow_type: 'work' });
    bed.replaced();
    expect((await bed.begin()).view).toBe(null);
    bed.put();
    bed.pass(6 * 60);
    expect((await bed.begin()).view).toBe(null);
  });

  test.each(['Stop', 'complete', 'submit'])(
    'is parked at %s where the proof is void, and goes on once it is proven again [adv.F6]',
    async (when) => {
      const bed = await open();
      const run = await bed.started();
      bed.replaced();
      if (when === 'Stop') await bed.event('Stop');
      else if (when === 'complete') await bed.call('mcp__phasegate__complete_phase', { session_id: run });
      expect(await bed.done(run)).toMatchObject({ verdict: { blockers: [{ code: 'run_escalated' }] } });
      const parked = await bed.look(run);
      expect(parked).toMatchObject({
        status: 'escalated',
        phase: 'PLAN',
        escalation: { reason: 'ring_too_low' },
      });
      expect(parked.escalation?.message).toContain('phasegate doctor --prove');
      const resume = () => bed.project.as(HUMAN).submit(run, { kind: 'resume', note: 'again' });
      await resume();
      expect(await bed.look(run)).toMatchObject({ status: 'escalated' });
      bed.put();
      await resume();
      await bed.event('SessionStart', { source: 'resume' });
      expect(await bed.done(run)).toMatchObject({ verdict: { allowed: true } });
    },
  );

  test('is parked where a session of a client that is not proven comes to it, or its own has ended', async () => {
    const one = await open();
    const run = await one.started();
    const place = { session_id: 'g1', cwd: one.root, timestamp: '2026-11-15T12:00:00Z' };
    const input = { session_id: run };
    await one.raw('gemini', {
      ...place,
      hook_event_name: 'BeforeTool',
      tool_name: 'mcp_phasegate_get_current_phase',
      tool_input: input,
    });
    await one.raw('gemini', { ...place, hook_event_name: 'SessionStart', source: 'startup' }, run);
    expect(await one.look(run)).toMatchObject({ escalation: { reason: 'ring_too_low' } });

    const two = await open();
    const left = await two.started();
    await two.event('SessionEnd', { reason: 'exit' });
    expect(await two.done(left)).toMatchObject({ verdict: { allowed: false } });
    expect(await two.look(left)).toMatchObject({ escalation: { reason: 'ring_too_low' } });
  });

  test('is for an agent in a sandbox too, which is held closer', async () => {
    const bed = await open({ proven: false });
    const { view } = await bed.project.as(HUMAN).start({ workflow: 'work' });
    const run = view?.run ?? '';
    const ada = { kind: 'agent', name: 'ada' } as const;
    await expect(bed.project.claims.claimRun(run, ada, [])).rejects.toThrow('whose hooks are proven');
    await bed.project.claims.within('sandboxed').claimRun(run, ada, []);
    const done = bed.project.as(ada).submit(run, { kind: 'complete', phase: 'PLAN', evidence: {} });
    expect(await done).toMatchObject({ verdict: { allowed: true } });
  });
});

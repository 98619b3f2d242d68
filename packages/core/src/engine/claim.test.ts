import { describe, expect, test } from 'vitest';
import type { Command } from './command.ts';
import type { Decision } from './decide.ts';
import type { ReleaseCause } from './events.ts';
import { answerFor } from './fixtures/answerFor.ts';
import {
  ADA,
  AGENT,
  BOB,
  complete,
  ENGINE,
  phases,
  result,
  started,
  submit,
  workflowOf,
} from './fixtures/walks.ts';
import { holds, holdsAnItem } from './holding.ts';
import { judgeTool } from './judgeTool.ts';
import type { Principal, Run } from './run.ts';
import { viewFor } from './viewFor.ts';

describe('a queued run', () => {
  const queued = () => started(workflowOf(phases(2)), {}, { queued: true });

  test('is claimed by one agent, in a new epoch, and by no other [C8]', () => {
    const claimed = claim(queued(), AGENT);
    const again = claim(claimed.run, BOB);

    expect(queued()).toMatchObject({ status: 'queued', holder: null });
    expect(claimed.run).toMatchObject({ status: 'active', holder: 'local', epoch: queued().epoch + 1 });
    expect(code(again)).toBe('run_not_queued');
    expect(again.events).toEqual([]);
  });

  test('says to claim it, and lets nobody work before', () => {
    const run = queued();

    expect(viewFor(run, AGENT).nextAction).toEqual({ act: 'claim', text: 'claim the run' });
    expect(code(submit(run, complete(run)))).toBe('run_not_active');
    expect(code(submit(run, { kind: 'fetch_task', phase: 1, task: 1 }))).toBe('not_your_run');
  });

  test.each([[ADA], [ENGINE]])('is claimed by agents only, not by $kind', (principal) => {
    expect(code(claim(queued(), principal))).toBe('not_an_agent');
  });

  test('cannot be claimed once it has ended, waits or is escalated', () => {
    const active = claim(queued(), AGENT).run;
    const escalated = submit(active, { kind: 'report_blocked', reason: 'x' }).run;
    const stopped = submit(active, { kind: 'stop', reason: 'x' }, { principal: ADA }).run;

    expect(code(claim(escalated, BOB))).toBe('run_not_queued');
    expect(code(claim(stopped, BOB))).toBe('run_not_queued');
  });
});

describe('a run whose agent is lost', () => {
  const limited = (maxReclaims?: number) =>
    started(
      workflowOf(
        phases(2, () => ({ tasks: [{ name: 'read' }], postconditions: [{ check: 'asked' }] })),
        maxReclaims === undefined ? {} : { enforcement: { maxReclaims } },
      ),
    );

  test('stands at its last checkpoint for another, who reads its tasks anew and knows of the failure [S2.92 C15]', () => {
    const read = submit(limited(), { kind: 'fetch_task', phase: 1, task: 1 }).run;
    const failed = submit(read, complete(read), { answer: () => result('failed', 'red') }).run;

    const released = release(failed, 'lease_expired');
    const taken = claim(released.run, BOB).run;

    expect(released.run).toMatchObject({ status: 'queued', holder: null, epoch: failed.epoch + 1, phase: 1 });
    expect(released.run.work).toMatchObject({ fetched: [], attempts: 1, crashes: 1 });
    expect(taken).toMatchObject({ status: 'active', holder: 'bob', epoch: failed.epoch + 2 });
    expect(viewFor(taken, BOB).feedback).toMatch(/^Previous attempt failed: .*red/);
    expect(code(submit(taken, complete(taken), { principal: BOB }))).toBe('tasks_not_fetched');
  });

  test('takes nothing from the agent that was lost, whatever it still sends', () => {
    const { run } = release(limited(), 'exited');
    const taken = claim(run, BOB).run;

    for (const after of [run, taken]) {
      expect(submit(after, complete(after)).events).toEqual([]);
      expect(submit(after, { kind: 'ask', questions: [] }).events).toEqual([]);
      expect(submit(after, { kind: 'fetch_task', phase: 1, task: 1 }).events).toEqual([]);
    }
    expect(code(submit(taken, complete(taken)))).toBe('not_your_run');
  });

  test('goes to a human when it was handed out again as often as allowed, whose word starts the count anew [C15]', () => {
    let run = limited();
    for (let crash = 1; crash <= 3; crash++) {
      run = release(run, 'lease_expired').run;
      expect(run).toMatchObject({ status: 'queued', work: { crashes: crash } });
      run = claim(run, AGENT).run;
    }
    const last = release(run, 'lease_expired');
    const resumed = submit(last.run, { kind: 'resume', note: 'smaller steps' }, { principal: ADA }).run;

    expect(last.verdict.allowed).toBe(true);
    expect(last.run).toMatchObject({ status: 'escalated', holder: null, escalation: { reason: 'crashes' } });
    expect(resumed).toMatchObject({ status: 'queued', holder: null, work: { note: 'smaller steps' } });
    expect(resumed.work).not.toHaveProperty('crashes');
    expect(claim(resumed, BOB).run).toMatchObject({ status: 'active', holder: 'bob' });
  });

  test('goes to a human at once where the workflow allows no second agent', () => {
    expect(release(limited(0), 'exited').run.status).toBe('escalated');
  });

  test('has no crash on its account when the agent gave it back', () => {
    const given = submit(limited(0), { kind: 'release', cause: 'given_back', holder: 'local' });

    expect(given.run).toMatchObject({ status: 'queued', holder: null });
    expect(given.run.work).not.toHaveProperty('crashes');
  });

  test('is not taken from its next holder by a release that comes late', () => {
    const taken = claim(release(limited(), 'lease_expired').run, BOB).run;
    const late = release(taken, 'lease_expired', 'local');

    expect(late.verdict.allowed).toBe(false);
    expect(late.events).toEqual([]);
  });

  test('is given back by its holder only, and called lost by the engine only', () => {
    const run = limited();
    const by = (principal: Principal, cause: ReleaseCause) =>
      code(submit(run, { kind: 'release', cause, holder: 'local' }, { principal }));

    expect(by(BOB, 'given_back')).toBe('not_your_run');
    expect(by(AGENT, 'lease_expired')).toBe('not_your_run');
    expect(by(ADA, 'given_back')).toBe('not_your_run');
    expect(by(ENGINE, 'agent_removed')).toBeNull();
  });

  test('waits on for its human without an agent, and is queued when the human has decided', () => {
    const gate = { human: { prompt: 'Go?', options: [{ label: 'Yes' }] } };
    const run = started(workflowOf(phases(2, (index) => (index === 0 ? { gates: [gate] } : {}))));
    const waiting = submit(run, complete(run)).run;

    const left = release(waiting, 'exited').run;
    const decided = submit(
      left,
      { kind: 'decide', gate: gateOf(left), option: 'Yes', shown: 's', signature: 's' },
      { principal: ADA, shown: 's' },
    ).run;

    expect(left).toMatchObject({ status: 'waiting', holder: null, epoch: waiting.epoch + 1 });
    expect(left.work).not.toHaveProperty('crashes');
    expect(decided).toMatchObject({ status: 'queued', phase: 2, holder: null });
  });
});

describe('the items of a parallel phase', () => {
  const parallel = (more: { readonly blocked?: boolean; readonly maxReclaims?: number } = {}) =>
    started(
      workflowOf(
        phases(2, (index) =>
          index === 0
            ? {
                parallel: { key: 'areas' },
                allowedTools: ['read_files'],
                next: { outcomes: { ok: 2, fail: 2 } },
                postconditions: [{ check: 'asked', label: 'item' }],
                ...(more.blocked ? { gates: [{ blockers: [{ check: 'asked', label: 'all' }] }] } : {}),
              }
            : {},
        ),
        {
          params: { areas: { type: 'list' } },
          ...(more.maxReclaims === undefined ? {} : { enforcement: { maxReclaims: more.maxReclaims } }),
        },
      ),
      { areas: ['a', 'b'] },
    );
  const itemed = (run: Run, principal: Principal, item: string, evidence = {}) =>
    submit(run, complete(run, evidence, { item }), { principal });

  test('are claimed one by one, in the same epoch, each by one agent', () => {
    const run = claim(parallel(), BOB, 'a').run;

    expect(run).toMatchObject({ holder: 'local', epoch: 1, work: { items: { a: { holder: 'bob' } } } });
    expect(code(claim(run, AGENT, 'a'))).toBe('item_held');
    expect(code(claim(run, AGENT, 'z'))).toBe('item_unknown');
    expect(code(claim(run, AGENT, 'constructor'))).toBe('item_unknown');
    expect(code(claim(itemed(run, BOB, 'a').run, AGENT, 'a'))).toBe('item_done');
    expect(code(claim(started(workflowOf(phases(1))), BOB, 'a'))).toBe('item_unknown');
    expect([
      holds(run, 'bob'),
      holds(run, 'bob', 'a'),
      holds(run, 'bob', 'b'),
      holds(run, 'local', 'a'),
    ]).toEqual([false, true, false, false]);
    expect([holdsAnItem(run, 'bob'), holdsAnItem(run, 'local')]).toEqual([true, false]);
  });

  test('are claimed together with a queued run', () => {
    const queued = submit(parallel(), { kind: 'release', cause: 'given_back', holder: 'local' }).run;
    const both = claim(queued, BOB, 'b');

    expect(both.events.map((event) => event.type)).toEqual(['run_claimed', 'item_claimed']);
    expect(both.run).toMatchObject({ holder: 'bob', work: { items: { b: { holder: 'bob' } } } });
  });

  test('are completed by who claimed them, or by the holder of the run where nobody did', () => {
    const run = claim(parallel(), BOB, 'a').run;

    expect(code(itemed(run, AGENT, 'a'))).toBe('item_held');
    expect(itemed(run, AGENT, 'a').events).toEqual([]);
    expect(code(itemed(run, BOB, 'b'))).toBe('not_your_run');
    expect(code(itemed(run, AGENT, 'b'))).toBeNull();
    const last = itemed(run, BOB, 'a');
    const done = last.run;
    expect(answerFor(run, complete(run, {}, { item: 'a' }), last)).toMatchObject({
      item_completed: 'a',
      next_action: 'claim item `b`',
    });
    expect(done.work.items?.a).toMatchObject({ status: 'completed' });
    expect(done.work.items?.a).not.toHaveProperty('holder');
    expect(code(submit(done, complete(done), { principal: BOB }))).toBe('not_your_run');
  });

  test('give their holder no word about the whole phase', () => {
    const run = claim(parallel(), BOB, 'a').run;
    const failing = complete(run, {}, { item: 'a', outcome: 'fail', reason: 'x' });
    const failed = submit(run, failing, { principal: BOB });

    // Its word is about its own item, and the phase goes on.
    expect(code(failed)).toBeNull();
    expect(failed.run).toMatchObject({
      phase: 1,
      work: { items: { a: { outcome: 'fail' }, b: { status: 'pending' } } },
    });
    expect(code(submit(run, complete(run, {}, { outcome: 'fail', reason: 'x' })))).toBe('item_required');
    expect(code(submit(run, { kind: 'report_blocked', reason: 'x' }, { principal: BOB }))).toBe(
      'not_your_run',
    );
    expect(code(submit(run, { kind: 'fetch_task', phase: 2, task: 1 }, { principal: BOB }))).toBe(
      'phase_sequence_violation',
    );
    expect(judgeTool(run, { tool: 'bash', input: { command: 'ls' } }).allowed).toBe(false);
  });

  test('hand the run to the one who completes the last one', () => {
    const run = claim(parallel(), BOB, 'b').run;
    const first = itemed(run, AGENT, 'a', { n: 1 }).run;
    const joined = itemed(first, BOB, 'b', { n: 2 });

    expect(joined.events.map((event) => event.type)).toEqual([
      'item_completed',
      'run_claimed',
      'phase_completed',
    ]);
    expect(joined.run).toMatchObject({ phase: 2, holder: 'bob', status: 'active' });
    expect(joined.run.completions[0]).toMatchObject({
      by: 'bob',
      evidence: { items: { a: { n: 1 }, b: { n: 2 } } },
    });
    expect(code(submit(joined.run, complete(joined.run)))).toBe('not_your_run');
  });

  test('are worked on again, by that agent too, when a blocker of the join said no', () => {
    const run = claim(parallel({ blocked: true }), BOB, 'b').run;
    const first = itemed(run, AGENT, 'a').run;
    const answer = (look: { readonly id: string }) =>
      result(look.id.startsWith('join:') ? 'failed' : 'passed');
    const refused = submit(first, complete(first, {}, { item: 'b' }), { principal: BOB, answer });
    const fixed = submit(refused.run, complete(refused.run, {}, { item: 'a' }), { principal: BOB }).run;
    const again = submit(fixed, complete(fixed, {}, { item: 'b' }), { principal: BOB });

    expect(code(refused)).toBe('check_failed');
    expect(refused.run).toMatchObject({ holder: 'bob', status: 'active', phase: 1, work: { attempts: 1 } });
    expect(refused.run.work.items).toMatchObject({ a: { status: 'pending' }, b: { status: 'pending' } });
    expect(again.run).toMatchObject({ holder: 'bob', phase: 2 });
  });

  test('go back to the others when their agent is lost, and fail when it happens too often', () => {
    const lost = release(claim(parallel({ maxReclaims: 1 }), BOB, 'a').run, 'lease_expired', 'bob', 'a').run;
    const twice = release(claim(lost, BOB, 'a').run, 'exited', 'bob', 'a').run;
    const over = itemed(twice, AGENT, 'b').run;
    const resumed = submit(over, { kind: 'resume' }, { principal: ADA }).run;

    expect(lost).toMatchObject({
      status: 'active',
      work: { items: { a: { status: 'pending', crashes: 1 } } },
    });
    expect(lost.work.items?.a).not.toHaveProperty('holder');
    expect(twice.work.items?.a).toMatchObject({ status: 'failed', error: 'its agent was lost 2 times' });
    expect(over.status).toBe('escalated');
    expect(resumed.work.items?.a).toMatchObject({ status: 'pending', attempts: 0 });
    expect(resumed.work.items?.a).not.toHaveProperty('crashes');
  });

  test('go on in the hands of those who claimed them when the holder of the run is lost', () => {
    const run = claim(parallel(), BOB, 'a').run;
    const left = release(run, 'exited', 'local').run;
    const done = itemed(left, BOB, 'a').run;

    expect(left).toMatchObject({ status: 'active', holder: null, epoch: run.epoch });
    expect(viewFor(left, BOB).nextAction).toMatchObject({ act: 'complete_phase', item: 'a' });
    expect(viewFor(left, AGENT).nextAction).toMatchObject({ act: 'claim', item: 'b' });
    expect(done).toMatchObject({
      status: 'queued',
      holder: null,
      work: { items: { a: { status: 'completed' } } },
    });
    expect(claim(done, AGENT, 'b').run).toMatchObject({ status: 'active', holder: 'local' });
  });

  test('are let go with the run when one agent held both', () => {
    const run = claim(parallel(), AGENT, 'a').run;

    const left = release(run, 'exited').run;

    expect(left).toMatchObject({ status: 'queued', holder: null });
    expect(left.work.items?.a).not.toHaveProperty('holder');
  });

  test('are never proposed to an agent that another one has claimed', () => {
    const one = claim(parallel(), BOB, 'a').run;
    const both = claim(one, BOB, 'b').run;

    expect(viewFor(one, AGENT).nextAction).toMatchObject({ act: 'complete_phase', item: 'b' });
    expect(viewFor(both, AGENT).nextAction).toEqual(OTHER_WORK);
    expect(viewFor(one, AGENT).current?.content).toContain('- `a`: pending, held by `bob`');
  });

  test('that others hold turn the holder of the run away to other work, and count for nothing', () => {
    let run = claim(claim(parallel(), BOB, 'a').run, BOB, 'b').run;

    // Whatever it hands in: that is not looked at.
    const odd = [complete(run, { nobody_asked: 1 }), complete(run, {}, { outcome: 'fail' })];
    for (const command of Array(6)
      .fill([complete(run), failed(run), ...odd])
      .flat()) {
      const { verdict, events, run: after } = submit(run, command);
      expect(verdict).toMatchObject({
        blockers: [
          {
            code: 'item_held',
            message: 'phase `1` is completed item by item, and other agents hold every open item',
            nextAction: OTHER_WORK,
          },
        ],
      });
      expect(events).toEqual([]);
      run = after;
    }

    expect(run.status).toBe('active');
    expect(code(itemed(run, BOB, 'a'))).toBeNull();
  });
});

const OTHER_WORK = {
  act: 'claim',
  text: 'claim other work, or look again later: other agents hold the open items',
};

function failed(run: Run): Command {
  return { kind: 'report_failure', phase: run.phase as number, reason: 'x' };
}

function claim(run: Run, principal: Principal, item?: string): Decision {
  return submit(run, { kind: 'claim', ...(item === undefined ? {} : { item }) }, { principal });
}

function release(run: Run, cause: ReleaseCause, holder = run.holder ?? '', item?: string): Decision {
  const about = item === undefined ? {} : { item };
  return submit(run, { kind: 'release', cause, holder, ...about }, { principal: ENGINE });
}

function gateOf(run: Run): string {
  return run.status === 'waiting' && run.wait.for === 'gate' ? run.wait.gate : '';
}

function code({ verdict }: Decision): string | null {
  return verdict.allowed ? null : verdict.blockers[0].code;
}

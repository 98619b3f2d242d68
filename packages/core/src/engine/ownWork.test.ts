import { expect, test } from 'vitest';
import type { Command } from './command.ts';
import { decide as decideWith } from './decide.ts';
import {
  ADA,
  AGENT,
  BOB,
  complete,
  ENGINE,
  NOW,
  phases,
  started,
  submit,
  workflowOf,
} from './fixtures/walks.ts';
import { gateCard } from './gateCard.ts';
import type { Principal, Run } from './run.ts';
import { decideStart } from './start.ts';
import { viewFor } from './viewFor.ts';

const GRACE: Principal = { kind: 'human', name: 'grace' };
const options = [{ label: 'Approve' }, { label: 'Back', next: 1 }, { label: 'Drop', next: null }] as const;

function workflow(more: Record<string, unknown> = {}) {
  const human = { prompt: 'Ship it?', options, ...more };
  return workflowOf(phases(2, (at) => (at === 0 ? { gates: [{ id: 'ship', human }] } : {})));
}

/** A run that this principal started, queued for agents to claim. */
function startedBy(principal: Principal, more: Record<string, unknown> = {}): Run {
  const { run } = decideStart(
    {
      id: 'run-1',
      workflow: workflow(more),
      workflowHash: 'h',
      target: null,
      params: {},
      ring: 'served',
      trusted: true,
      queued: true,
    },
    { principal, now: NOW, facts: {} },
  );
  if (run === null) throw new Error('not started');
  return run;
}

function handIn(run: Run, principal: Principal): Run {
  const held = submit(run, { kind: 'claim' }, { principal }).run;
  return submit(held, complete(held), { principal }).run;
}

function choose(run: Run, principal: Principal, option = 'Approve') {
  const command: Command = { kind: 'decide', gate: 'ship#1', option, shown: 'seen', signature: 's' };
  const { verdict, run: after } = submit(run, command, { principal, shown: 'seen' });
  return verdict.allowed ? after.status : verdict.blockers[0].code;
}

test('a human whose key the agent used does not approve its work, and may still say no [adv.J2]', () => {
  const waiting = handIn(startedBy(GRACE), { ...BOB, owner: 'ada' } as Principal);

  expect(choose(waiting, ADA)).toBe('self_approval');
  expect(choose(waiting, { kind: 'human', name: 'ADA' })).toBe('self_approval');
  expect(choose(waiting, ADA, 'Back')).toBe('active');
  expect(choose(waiting, ADA, 'Drop')).toBe('stopped');
  expect(choose(waiting, GRACE)).toBe('active');
  expect(viewFor(waiting, GRACE).gate?.excluded).toEqual(['ada']);
  expect(viewFor(waiting, AGENT).gate?.excluded).toBeUndefined();
  expect(gateCard(waiting)).toMatchObject({
    own_work: [{ name: 'ada', why: 'owns the key its agent used' }],
  });
});

test('whose key was used is not forgotten with the agent that used it', () => {
  const held = submit(
    startedBy(GRACE),
    { kind: 'claim' },
    { principal: { ...BOB, owner: 'ada' } as Principal },
  );
  const command: Command = { kind: 'release', cause: 'agent_removed', holder: 'bob' };
  const released = submit(held.run, command, { principal: ENGINE }).run;

  const waiting = handIn(released, AGENT);

  expect(choose(waiting, ADA)).toBe('self_approval');
  const next = submit(
    waiting,
    { kind: 'decide', gate: 'ship#1', option: 'Approve', shown: 'seen', signature: 's' },
    { principal: GRACE, shown: 'seen' },
  ).run;
  expect(next.work.owners).toBeUndefined();
});

test('a human who takes the name of the agent that did the work does not approve it', () => {
  const waiting = handIn(startedBy(GRACE), BOB);

  expect(choose(waiting, { kind: 'human', name: 'Bob' })).toBe('self_approval');
  expect(choose(waiting, ADA)).toBe('active');
});

test('with `separate` the one who started the run, or whose agent did, does not count either', () => {
  const separate = { separate: true };

  expect(choose(handIn(startedBy(GRACE, separate), AGENT), GRACE)).toBe('self_approval');
  expect(choose(handIn(startedBy(GRACE, separate), AGENT), ADA)).toBe('active');
  const byAgent = startedBy({ ...BOB, owner: 'ada' } as Principal, separate);
  expect(choose(handIn(byAgent, AGENT), ADA)).toBe('self_approval');
  expect(choose(handIn(startedBy(GRACE), AGENT), GRACE)).toBe('active');
  expect(started(workflow()).by).toEqual({ kind: 'agent', name: 'local' });
});

test('where those who may decide have left, the refusal says what the humans who are there can do', () => {
  const waiting = handIn(startedBy(GRACE, { approvers: ['maria', 'joe'], quorum: 2 }), AGENT);
  const command: Command = {
    kind: 'decide',
    gate: 'ship#1',
    option: 'Approve',
    shown: 'seen',
    signature: 's',
  };
  const refused = (humans: readonly string[]) => {
    const circumstance = { principal: ADA, now: NOW, facts: {}, shown: 'seen', humans };
    const { verdict } = decideWith(waiting, command, circumstance);
    if (verdict.allowed) throw new Error('allowed');
    return verdict.blockers[0];
  };

  expect(refused(['ada', 'maria', 'joe'])).toMatchObject({ code: 'not_an_approver' });
  expect(refused(['ada', 'maria', 'joe']).nextAction.text).not.toContain('override');
  const { code, nextAction } = refused(['ada', 'maria']);
  expect(code).toBe('not_an_approver');
  expect(nextAction.text).toContain('joe is not set up in this project');
  expect(nextAction.text).toContain('phasegate humans add NAME');
  expect(nextAction.text).toContain('phasegate override run-1 --reason TEXT');
});

test('a key that somebody made for another since the run began is theirs where two humans are asked for [adv.P3]', () => {
  const choice = {
    kind: 'decide',
    gate: 'ship#1',
    option: 'Approve',
    shown: 'seen',
    signature: 's',
  } as const;
  const ask = (run: Run, name: string, madeBy?: Record<string, string>) => {
    const command: Command = { ...choice, ...(madeBy === undefined ? {} : { madeBy }) };
    return submit(run, command, { principal: { kind: 'human', name }, shown: 'seen' });
  };
  const code = ({ verdict }: ReturnType<typeof ask>) => (verdict.allowed ? 'yes' : verdict.blockers[0].code);
  const owned = handIn(startedBy(GRACE), { ...BOB, owner: 'ada' } as Principal);
  const voted = ask(handIn(startedBy(GRACE, { quorum: 2 }), AGENT), 'ada').run;

  expect(code(ask(owned, 'grace', { grace: 'ada' }))).toBe('self_approval');
  expect(code(ask(owned, 'grace', { grace: 'mia', mia: 'ada' }))).toBe('self_approval');
  expect(code(ask(owned, 'grace', { mia: 'ada' }))).toBe('yes');
  expect(code(ask(voted, 'grace', { grace: 'ada' }))).toBe('already_voted');
  expect(code(ask(voted, 'grace', { ada: 'grace' }))).toBe('already_voted');
  expect(code(ask(voted, 'grace', { grace: 'mia', ada: 'mia' }))).toBe('already_voted');
  expect(code(ask(voted, 'grace', { grace: 'mia', mia: 'ada', ada: 'grace' }))).toBe('already_voted');
  expect(ask(voted, 'grace', { grace: 'mia', mia: 'grace' }).run.status).toBe('active');
  expect(ask(voted, 'grace').run.status).toBe('active');
});

test('a vote for a card that showed something else fills no quorum, and may be cast again [adv.P3]', () => {
  const choose = (shown: string): Command => ({
    kind: 'decide',
    gate: 'ship#1',
    option: 'Approve',
    shown,
    signature: 's',
  });
  const waiting = handIn(startedBy(GRACE, { quorum: 2 }), AGENT);
  const voted = submit(waiting, choose('seen'), { principal: ADA, shown: 'seen' }).run;

  const moved = submit(voted, choose('moved'), { principal: GRACE, shown: 'moved' }).run;
  expect(moved.status).toBe('waiting');
  expect(submit(moved, choose('moved'), { principal: ADA, shown: 'moved' }).run.status).toBe('active');
});

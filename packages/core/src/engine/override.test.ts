import { expect, test } from 'vitest';
import type { Command } from './command.ts';
import {
  ADA,
  AGENT,
  complete,
  ENGINE,
  NOW,
  openingOf,
  phases,
  result,
  started,
  submit,
  workflowOf,
} from './fixtures/walks.ts';
import { fold } from './fold.ts';
import { gateCard } from './gateCard.ts';
import { overrideTarget } from './override.ts';
import type { Run } from './run.ts';
import { checkpointOf, scopeFor } from './scope.ts';
import { viewFor } from './viewFor.ts';

const options = [{ label: 'Approve' }, { label: 'Back', next: 1, requiresInput: true }] as const;
const gate = { id: 'ship', human: { prompt: 'Ship it?', options, approvers: ['grace'], quorum: 1 } };
const asked = { postconditions: [{ check: 'asked', message: 'the tests fail' }] };

/** Three phases: checked, gated, last. */
function run(): Run {
  return started(workflowOf(phases(3, (at) => [asked, { gates: [gate] }, asked][at] ?? {})));
}

function override(of: Run, more: Partial<Extract<Command, { kind: 'override' }>> = {}): Command {
  const to = overrideTarget(of) as number;
  const place = { phase: of.phase as number, epoch: of.epoch, to };
  return { kind: 'override', ...place, reason: 'the registry is down', signature: 's', ...more };
}

const asAda = { principal: ADA };

test('leads past failing checks, and the phase is overridden, never passed [adv.H3]', () => {
  const first = run();
  const refused = submit(first, complete(first), { answer: () => result('failed') }).run;

  const { verdict, run: after, events } = submit(refused, override(refused), asAda);

  expect(verdict.allowed).toBe(true);
  expect(after).toMatchObject({ status: 'active', phase: 2, epoch: first.epoch + 1 });
  expect(events.map(({ type }) => type)).toEqual(['phase_overridden', 'phase_completed']);
  expect(after.completions.map(({ phase, outcome, by }) => [phase, outcome, by])).toEqual([
    [1, 'overridden', 'ada'],
  ]);
  const view = viewFor(after, AGENT);
  expect(view.completedPhases).toEqual([]);
  expect(view.progress).toMatchObject({ completed: 0 });
  expect(view.overrides).toEqual([{ phase: 1, to: 2, reason: 'the registry is down', by: 'ada', at: NOW }]);
  expect(after.work.note).toBe('ada overrode phase `1`: the registry is down');
  expect(JSON.stringify(checkpointOf(after))).toContain('"outcome":"overridden"');
});

test('leads past an open gate without approving what waits there [adv.H3]', () => {
  const first = run();
  const second = submit(first, complete(first, { plan: 'mine' })).run;
  const waiting = submit(second, complete(second, { report: 'fine' })).run;
  expect(waiting.status).toBe('waiting');

  const after = submit(waiting, override(waiting), asAda).run;

  expect(after).toMatchObject({ status: 'active', phase: 3 });
  expect(after.settled).toBeUndefined();
  expect(after.decisions).toEqual([]);
  expect(after.completions.at(-1)).toMatchObject({ outcome: 'overridden', evidence: {} });
  expect(scopeFor(after, { phase: after.workflow.phases[2] as never }).approved).toEqual({});
});

test('is on the card of every later gate, and told of in the way there', () => {
  const first = run();
  const second = submit(first, override(first), asAda).run;
  const waiting = submit(second, complete(second, { report: 'fine' })).run;

  expect(gateCard(waiting)).toMatchObject({
    overrides: [{ phase: 1, to: 2, reason: 'the registry is down', by: 'ada' }],
    path: [{ phase: 1, outcome: 'overridden', by: 'ada' }],
  });
});

test('is for a human, with a reason, at the place the human looked at, and along a way there is [adv.H1 adv.H3]', () => {
  const first = run();
  const code = (command: Command, principal: typeof ADA | typeof AGENT | typeof ENGINE = ADA) => {
    const { verdict, events } = submit(first, command, { principal });
    expect(events).toEqual([]);
    return verdict.allowed ? 'allowed' : verdict.blockers[0].code;
  };

  expect(code(override(first), AGENT)).toBe('not_a_human');
  expect(code(override(first), ENGINE)).toBe('not_a_human');
  expect(code(override(first, { reason: '  ' }))).toBe('reason_required');
  expect(code(override(first, { epoch: first.epoch + 1 }))).toBe('shown_changed');
  expect(code(override(first, { phase: 2 }))).toBe('shown_changed');
  expect(code(override(first, { to: 3 }))).toBe('not_the_next_phase');
  const ended = submit(first, { kind: 'stop', reason: 'no' }, asAda).run;
  expect(submit(ended, override(first), asAda).verdict).toMatchObject({
    blockers: [{ code: 'run_ended' }],
  });
});

test('what would keep the next phase closed is let through and told', () => {
  const closed = workflowOf(
    phases(2, (at) => (at === 1 ? { preconditions: [{ check: 'asked', message: 'no plan' }] } : {})),
  );
  const first = started(closed);

  const { verdict, run: after } = submit(first, override(first), {
    ...asAda,
    answer: () => result('failed'),
  });

  expect(verdict).toMatchObject({ allowed: true, wouldRefuse: [{ code: 'precondition_failed' }] });
  expect(after).toMatchObject({ status: 'active', phase: 2 });
});

test('what was changed outside the scope is settled first: an override is no way to hide it', () => {
  const first = run();
  const measured: Run = { ...first, work: { ...first.work, tree: 't' } };
  const outside = [{ path: 'secret.txt', how: 'changed' as const }];

  const { verdict, events } = submit(measured, override(measured), {
    ...asAda,
    answer: () => ({ ok: true, tree: 'u', outside }),
  });

  expect(verdict).toMatchObject({ allowed: false, blockers: [{ code: 'scope_violation' }] });
  expect(events).toEqual([]);
});

test('the run is what its events make it, and an override of the last phase ends the run', () => {
  const one = started(workflowOf(phases(1)));

  const { run: after, events } = submit(one, override(one), asAda);

  expect(after).toMatchObject({ status: 'completed', overrides: [{ to: null }] });
  expect(fold(one.workflow, [openingOf(one), ...events])).toEqual(after);
});

test('where a phase has several ways after `ok`, the human says which', () => {
  const forked = started(
    workflowOf(
      phases(3, (at) => (at === 0 ? { next: { condition: 'params.x === 1', onTrue: 2, onFalse: 3 } } : {})),
      { params: { x: { type: 'integer', default: 1 } } },
    ),
  );

  expect(overrideTarget(forked)).toEqual({ choices: [2, 3] });
  expect(overrideTarget(forked, 3)).toBe(3);
  expect(submit(forked, override(forked, { to: 3 }), asAda).run.phase).toBe(3);
});

test('what stops a run is no way to its end: only the last phases can be overridden into `completed`', () => {
  const human = { prompt: 'Go on?', options: [{ label: 'Yes' }, { label: 'Drop', next: null }] };
  const gated = started(workflowOf(phases(3, (at) => (at === 0 ? { gates: [{ id: 'ship', human }] } : {}))));

  const { verdict, run: after } = submit(gated, override(gated, { to: null }), asAda);

  expect(verdict).toMatchObject({ allowed: false, blockers: [{ code: 'not_the_next_phase' }] });
  expect(after).toEqual(gated);
});

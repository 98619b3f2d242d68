import { describe, expect, test } from 'vitest';
import type { PhaseDraft, WorkflowDraft } from '../model/draft.ts';
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
import type { Principal, Run } from './run.ts';

const EVE: Principal = { kind: 'agent', name: 'eve' };

const atItems = (
  areas: readonly string[],
  more: Partial<PhaseDraft> = {},
  workflow: Partial<WorkflowDraft> = {},
): Run =>
  started(
    workflowOf(
      phases(2, (index) => (index === 0 ? { parallel: { key: 'areas' }, ...more } : {})),
      { params: { areas: { type: 'list' } }, ...workflow },
    ),
    { areas },
  );

describe('the names of items', () => {
  test('an item called like part of an object is an item, and its work is not passed over', () => {
    const run = atItems(['__proto__', 'toString']);

    expect(Object.keys(run.work.items ?? {})).toEqual(['__proto__', 'toString']);
    const one = submit(run, complete(run, { done: 1 }, { item: '__proto__' }));
    expect(one.run).toMatchObject({ status: 'active', phase: 1 });
    const { run: after } = submit(one.run, complete(run, { done: 2 }, { item: 'toString' }));
    expect(after.phase).toBe(2);
    expect(Object.entries((after.completions[0]?.evidence.items ?? {}) as object)).toEqual([
      ['__proto__', { done: 1 }],
      ['toString', { done: 2 }],
    ]);
  });

  test('no two items share a name, whatever the others are called', () => {
    const { work } = atItems(['a#3', 'a', 'a', 'a#3']);

    expect(Object.keys(work.items ?? {})).toEqual(['a#3', 'a', 'a#3#3', 'a#3#4']);
  });

  test.each([
    [
      'nine thousand characters',
      'x'.repeat(9000),
      'a key of 9000 characters at item 2 (at most 200; give it an `id`)',
    ],
    [
      'one more than fits',
      'x'.repeat(201),
      'a key of 201 characters at item 2 (at most 200; give it an `id`)',
    ],
    ['a line end', 'a\nb', 'a line end or control character in the key of item 2'],
    ['a separator of lines', 'a\u2028b', 'a line end or control character in the key of item 2'],
    ['an escape', 'a\u001b[31m', 'a line end or control character in the key of item 2'],
  ])('a key with %s is refused before anybody works on it [adv.O2]', (_name, key, reason) => {
    const workflow = workflowOf(phases(2, (index) => (index === 1 ? { parallel: { key: 'areas' } } : {})));
    const run = started(workflow);

    const { verdict, run: after } = submit(run, complete(run, { areas: ['a', key] }));

    expect(verdict).toMatchObject({
      allowed: false,
      blockers: [
        { code: 'items_invalid', message: `phase \`2\` cannot be entered: \`areas\` has ${reason}` },
      ],
    });
    expect(after.phase).toBe(1);
  });

  test('a key of two hundred characters is one, and of many bad ones a few are named [adv.O2]', () => {
    const workflow = workflowOf(phases(2, (index) => (index === 1 ? { parallel: { key: 'areas' } } : {})));
    const run = started(workflow);
    const { verdict } = submit(run, complete(run, { areas: Array.from({ length: 50 }, () => 'a\n') }));

    expect(submit(run, complete(run, { areas: ['x'.repeat(200)] })).run.phase).toBe(2);
    expect(verdict.allowed ? '' : verdict.blockers[0].message).toMatch(/item 5 and 45 more$/);
  });
});

describe('an item', () => {
  test('keeps what its handler returned, not only the last one [S4.10]', () => {
    const ran = atItems(
      ['a', 'b'],
      { work: { kind: 'handler', ref: 'steps/1/handler' } },
      { code: 'c', module: 'm.ts' },
    );
    const state = (name: string) => ({
      answer: () => ({ ok: true as const, outcome: 'ok' as const, state: { [name]: true } }),
    });

    const one = submit(ran, complete(ran, {}, { item: 'a' }), state('first')).run;
    const { run } = submit(one, complete(ran, {}, { item: 'b' }), state('second'));

    expect(run.state).toEqual({ first: true, second: true });
  });

  test('that is refused too often is set aside, and stops nobody at the others [adv.N13]', () => {
    const field = { fields: [{ name: 'text', type: 'str' as const }] };
    const claimed = (run: Run, by: Principal, item: string) =>
      submit(run, { kind: 'claim', item }, { principal: by }).run;
    let run = claimed(claimed(atItems(['a', 'b', 'c'], field), EVE, 'a'), BOB, 'b');
    for (let time = 0; time < 5; time++)
      run = submit(run, complete(run, {}, { item: 'a' }), { principal: EVE }).run;

    expect(run).toMatchObject({
      status: 'active',
      work: { refusal: null, items: { a: { status: 'failed', attempts: 0 }, b: { holder: BOB.name } } },
    });
    const after = submit(run, complete(run, { text: 'x' }, { item: 'b' }), { principal: BOB });
    expect(after.verdict).toEqual({ allowed: true });
    const last = submit(after.run, complete(run, { text: 'x' }, { item: 'c' })).run;
    expect(last).toMatchObject({
      status: 'escalated',
      escalation: { message: '1 items of phase `1` failed twice or were refused too often' },
    });
    const again = submit(last, { kind: 'resume' }, { principal: ADA }).run;
    expect(again.work.items?.a).toEqual({
      status: 'pending',
      value: 'a',
      evidence: null,
      attempts: 0,
      error: expect.anything(),
    });
  });

  test('each may be refused once: slips at different items do not add up', () => {
    const areas = Array.from({ length: 40 }, (_, index) => `item ${index}`);
    let run = atItems(areas, { fields: [{ name: 'text', type: 'str' }] });
    for (const item of areas) {
      expect(submit(run, complete(run, {}, { item })).verdict.allowed).toBe(false);
      run = submit(run, complete(run, {}, { item })).run;
      run = submit(run, complete(run, { text: 'x' }, { item })).run;
    }

    expect(run).toMatchObject({ phase: 2, status: 'active' });
  });

  test('its holder keeps it, and its epoch, when the holder of the run lets go', () => {
    const run = submit(atItems(['a', 'b']), { kind: 'claim', item: 'a' }, { principal: EVE }).run;

    const left = submit(run, { kind: 'release', cause: 'given_back', holder: AGENT.name }).run;

    expect(left).toMatchObject({ status: 'active', holder: null, epoch: run.epoch });
    expect(submit(left, complete(left, {}, { item: 'a' }), { principal: EVE }).verdict.allowed).toBe(true);
    expect(submit(left, complete(left, {}, { item: 'b' })).verdict).toMatchObject({
      blockers: [{ code: 'not_your_run' }],
    });
    const alone = atItems(['a', 'b']);
    expect(submit(alone, { kind: 'release', cause: 'given_back', holder: AGENT.name }).run.epoch).toBe(
      alone.epoch + 1,
    );
  });

  test('says in permissive mode what would have been refused [C9]', () => {
    const run = atItems(
      ['a', 'b'],
      { postconditions: [{ check: 'asked', message: 'not good' }] },
      { enforcement: { mode: 'permissive' } },
    );

    const { verdict } = submit(run, complete(run, {}, { item: 'a' }), { answer: () => result('failed') });

    expect(verdict).toMatchObject({ allowed: true, wouldRefuse: [{ code: 'check_failed' }] });
  });

  test('lost while a human was asked leaves no run that waits for nobody', () => {
    const run = atItems(['a'], {}, { enforcement: { maxReclaims: 1 } });
    const lost = { kind: 'release', cause: 'exited', holder: AGENT.name, item: 'a' } as const;
    const claimed = (at: Run) => submit(at, { kind: 'claim', item: 'a' }).run;
    const once = submit(claimed(run), lost, { principal: ENGINE }).run;
    const again = claimed(once);
    const asking = submit(again, { kind: 'ask', questions: [{ text: 'Why?', options: ['x', 'y'] }] }).run;
    const released = submit(asking, lost, { principal: ENGINE }).run;
    expect(released).toMatchObject({ status: 'waiting', work: { items: { a: { status: 'failed' } } } });

    const { run: after } = submit(released, { kind: 'answer', question: 1, text: 'x' }, { principal: ADA });

    expect(after).toMatchObject({ status: 'escalated', escalation: { reason: 'attempts' } });
  });
});

import { describe, expect, test } from 'vitest';
import { ADA, AGENT, complete, NOW, phases, result, started, submit, workflowOf } from './fixtures/walks.ts';
import { type GateCardFacts, gateCard } from './gateCard.ts';
import type { Principal, Run } from './run.ts';
import { decideStart } from './start.ts';

const LATER = '2026-11-15T13:00:00.000Z';
const NO_WORK = {
  changed: [],
  files: [],
  unnamed: [],
  programs: [],
  programsUnnamed: [],
  calls: [],
  receipts: [],
  refused: [],
};
const human = {
  prompt: 'Ship it?',
  options: [
    { label: 'Approve' },
    { label: 'More', next: 1, requiresInput: true },
    { label: 'No', next: null },
  ],
};

describe('a gate card tells', () => {
  test('which params differ from their defaults, and who set them [adv.N14]', () => {
    const params = {
      threshold: { type: 'number', default: 0.9 },
      tone: { type: 'string', default: 'dry' },
      book: { type: 'string', required: true },
    };

    const card = gateCard(atGate({ params }, { threshold: 0.1, tone: 'dry', book: 'whale' }));

    expect(card).toMatchObject({
      started: { by: 'agent local', at: NOW },
      params: {
        threshold: { value: 0.1, default: 0.9, set_by: 'agent local' },
        book: { value: 'whale', set_by: 'agent local' },
      },
    });
    expect(card?.params).not.toHaveProperty('tone');
  });

  test('that nothing is blocked, and that nobody accepted the workflow [adv.N14]', () => {
    expect(gateCard(atGate({ enforcement: { mode: 'permissive' } }))).toMatchObject({
      mode: 'permissive',
      trusted: false,
      ring: 'served',
    });
  });

  test('the path so far: what came of each phase, by whom, and who decided [adv.N14]', () => {
    const first = atGate();
    const back = submit(first, choice(first, 'More', 'shorter'), { principal: ADA, shown: 'seen' }).run;

    const again = throughTo(back);

    expect(gateCard(again)).toMatchObject({
      path: [
        { phase: 1, outcome: 'ok', by: 'local', at: NOW },
        { phase: 2, by: 'local' },
        { phase: 1, outcome: 'ok', by: 'local' },
      ],
      decisions: [{ gate: 'ship#1', option: 'More', by: 'ada' }],
    });
    expect(gateCard(first)).not.toHaveProperty('decisions');
  });

  test('where each option leads [adv.N14]', () => {
    const ways = gateCard(atGate())?.options as readonly { readonly way: string }[];

    expect(ways.map(({ way }) => way)).toEqual([
      'phase `3` (Name3)',
      'phase `1` (Name1)',
      'the run is stopped',
    ]);
    const conditional = atGate(
      {},
      {},
      {
        condition: 'result.good === true',
        onTrue: 3,
        onFalse: null,
      },
    );
    expect(gateCard(conditional)?.options).toMatchObject([
      { way: "the phase's own way, which cannot be told" },
      {},
      {},
    ]);
  });

  test('what permissive mode let through in any phase, and stopped runs on the target [adv.N14]', () => {
    const facts: GateCardFacts = {
      letThrough: [{ phase: 1, item: 'a', code: 'check_failed', message: 'the tests fail' }],
      stoppedBefore: [{ run: 'run-0', workflow: 'tested', phase: 2, reason: 'no', at: NOW }],
    };

    expect(gateCard(atGate(), facts)).toMatchObject({
      would_refuse: [{ phase: 1, item: 'a', code: 'check_failed', message: 'the tests fail' }],
      stopped_before: [{ run: 'run-0', reason: 'no' }],
    });
    expect(gateCard(atGate())).not.toHaveProperty('stopped_before');
  });

  test('what was done with tools and what was refused, of many a few and how many more', () => {
    const crowd = Array.from({ length: 120 }, (_, at) => `src/many/${at}.ts`);
    const work = {
      ...NO_WORK,
      changed: [{ phase: 2, paths: [...crowd, 'src/zeal/one.ts', 'top.ts'] }],
      files: [{ phase: 1, changes: [{ path: 'a.ts', how: 'added' as const }] }],
      unnamed: [{ phase: 1, times: 1 }],
      programs: Array.from({ length: 25 }, (_, at) => ({
        phase: 2,
        tool: 'bash',
        command: `echo ${at}`,
        times: 1,
      })),
      programsUnnamed: [{ phase: 1, times: 3 }],
      calls: [{ phase: 1, tool: 'mcp:db/drop', times: 1 }],
      receipts: [{ phase: 2, tool: 'bash', times: 21, failed: 1 }],
      refused: [
        { phase: 2, what: 'completion', code: 'check_failed', message: `x${'y'.repeat(600)}z`, times: 2 },
      ],
    };

    const card = gateCard(atGate(), { letThrough: [], stoppedBefore: [], work });

    expect(card).toMatchObject({
      changed: [
        {
          phase: 2,
          more: 22,
          folders: [
            { folder: 'src/', count: 121 },
            { folder: './', count: 1 },
          ],
        },
      ],
      files: [{ phase: 1, files: [{ path: 'a.ts', how: 'added' }] }],
      changed_unnamed: [{ phase: 1, times: 1 }],
      programs_unnamed: [{ phase: 1, times: 3 }],
      calls: [{ phase: 1, tool: 'mcp:db/drop', times: 1 }],
      receipts: [{ phase: 2, tool: 'bash', times: 21, failed: 1 }],
      refused: [
        { what: 'completion', times: 2, message: expect.stringMatching(/^xy+ … \(602 characters\) … y+z$/) },
      ],
    });
    const [changed] = (card?.changed ?? []) as readonly { readonly paths: readonly string[] }[];
    expect(changed?.paths).toHaveLength(100);
    expect(changed?.paths).toContain('top.ts');
    const programs = card?.programs as readonly { readonly command?: string }[] | undefined;
    expect(programs?.map(({ command }) => command)).toEqual([
      ...Array.from({ length: 10 }, (_, at) => `echo ${at}`),
      undefined,
      ...Array.from({ length: 10 }, (_, at) => `echo ${at + 15}`),
    ]);
    expect(programs?.[10]).toEqual({ phase: 2, more: 5 });
  });

  test('when its checks were looked at [adv.N14]', () => {
    const blockers = [{ check: 'asked', label: 'the tests pass' }];

    expect(gateCard(atGate({}, {}, undefined, blockers))).toMatchObject({
      opened_at: NOW,
      checks: [{ check: 'the tests pass', needs: 'claimed', looked_at: NOW }],
    });
    const warning = [{ check: 'asked', label: 'the links work', severity: 'warning' as const }];
    expect(gateCard(atGate({}, {}, undefined, warning))).toMatchObject({
      checks: [{ check: 'the links work', warns: true }],
    });
  });

  test('warnings of this phase and of those before, where there are any [adv.N14]', () => {
    const run = atGate();
    const warnings = [{ code: 'check_failed', message: 'the docs are old' }];
    const warned = {
      ...run,
      completions: run.completions.map((completion) => ({ ...completion, warnings })),
    } as Run;

    expect(gateCard(warned)?.warnings).toEqual([{ phase: 1, ...warnings[0] }]);
    expect(gateCard(run)).not.toHaveProperty('warnings');
  });
});

describe('what an author keeps for humans', () => {
  const kept = workflowOf(phases(1), {
    params: { threshold: { type: 'number', default: 0.9, setBy: 'human' }, tone: { type: 'string' } },
  });

  test('a param an agent may not set is refused with the way on, and a human may set it [adv.N14]', () => {
    expect(startAs(AGENT, kept, { threshold: 0.1 })).toEqual([
      'param_invalid: param `threshold` is set by a human, so it must be left at `0.9`; else a human starts or queues it, with `phasegate start tested --as NAME`',
    ]);
    expect(startAs(AGENT, kept, { threshold: 0.9, tone: 'dry' })).toEqual([]);
    expect(startAs(AGENT, kept, {})).toEqual([]);
    expect(startAs(ADA, kept, { threshold: 0.1 })).toEqual([]);
  });

  test('a run that only humans start is started by no agent, queued or not [adv.N14]', () => {
    const humans = workflowOf(phases(1), { start: 'human' });

    for (const queued of [true, false])
      expect(startAs(AGENT, humans, {}, queued)).toEqual([
        'not_a_human: only a human may start a run of `tested`: a human starts or queues it, with `phasegate start tested --as NAME`',
      ]);
    expect(startAs(ADA, humans, {})).toEqual([]);
  });

  test('a workflow that keeps nothing is the same as before there was anything to keep', () => {
    expect(workflowOf(phases(1), { start: 'anyone' })).toEqual(workflowOf(phases(1)));
    expect(kept.params.tone).not.toHaveProperty('setBy');
  });
});

test('what permissive mode lets through at an item and at the start is in the events [adv.N14]', () => {
  const workflow = workflowOf(
    [
      { id: 'LIST', preconditions: [{ check: 'asked', message: 'not yet' }] },
      { id: 'EACH', parallel: { key: 'files' }, postconditions: [{ check: 'asked', message: 'not done' }] },
    ],
    { enforcement: { mode: 'permissive' } },
  );
  const fact = { kind: 'check' as const, result: result('failed') };
  const begun = decideStart(starting(workflow, {}), {
    principal: AGENT,
    now: NOW,
    facts: { 'enter:LIST/preconditions/0': fact },
  });
  if (begun.run === null) throw new Error('it was not started');
  const each = submit(begun.run, complete(begun.run, { files: ['a', 'b'] })).run;

  const item = submit(each, complete(each, {}, { item: 'a' }), { answer: () => result('failed') });

  expect(begun.events).toMatchObject([{ type: 'run_started', wouldRefuse: [{ message: 'not yet' }] }]);
  expect(item.events).toMatchObject([{ type: 'item_completed', wouldRefuse: [{ message: 'not done' }] }]);
});

type Draft = Parameters<typeof workflowOf>[1];
type Phases = ReturnType<typeof phases>;

function atGate(
  more: Draft = {},
  params: Parameters<typeof started>[1] = {},
  next?: Phases[number]['next'],
  blockers: NonNullable<Phases[number]['postconditions']> = [],
): Run {
  const gated = { gates: [{ id: 'ship', human, blockers }], ...(next === undefined ? {} : { next }) };
  return throughTo(
    started(
      workflowOf(
        phases(3, (index) => (index === 1 ? gated : {})),
        more,
      ),
      params,
    ),
  );
}

function throughTo(run: Run): Run {
  const second = submit(run, complete(run)).run;
  return submit(second, complete(second), { now: second.updatedAt > NOW ? LATER : NOW }).run;
}

function choice(run: Run, option: string, input: string) {
  const gate = run.status === 'waiting' && run.wait.for === 'gate' ? run.wait.gate : '';
  return { kind: 'decide' as const, gate, option, input, shown: 'seen', signature: 's' };
}

function starting(workflow: Run['workflow'], params: Run['params'], queued = false) {
  const fixed = { id: 'run-1', workflowHash: 'h', target: null, ring: 'served' as const, trusted: false };
  return { ...fixed, workflow, params, queued };
}

function startAs(principal: Principal, workflow: Run['workflow'], params: Run['params'], queued = false) {
  const { verdict } = decideStart(starting(workflow, params, queued), { principal, now: NOW, facts: {} });
  return verdict.allowed ? [] : verdict.blockers.map(({ code, message }) => `${code}: ${message}`);
}

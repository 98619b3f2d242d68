import { expect, test } from 'vitest';
import { checkHistory, type Evidence } from './checkHistory.ts';
import type { Act } from './history.ts';
import type { AuditRecord, KnownWorkflow } from './replayRun.ts';

const WORKFLOW: KnownWorkflow = {
  phases: ['PARTS', 'SHIP', 'LAST'],
  tools: {},
  leaseMs: 5_000,
  parallel: { phase: 'PARTS', items: ['door', 'roof'] },
  gated: 'SHIP',
};
const PLAN: KnownWorkflow = { ...WORKFLOW, phases: ['PLAN', ...WORKFLOW.phases] };

test('a history with items and a gate in which all is well holds', () => {
  const { contradictions, facts } = checkHistory(history(), PLAN);

  expect(contradictions).toEqual([]);
  expect(facts.get('every item is done once, by its holder')).toBe(2);
  expect(facts.get('each gate is decided once, by a human')).toBe(1);
  expect(facts.get('no gate is passed without a human')).toBe(1);
  expect(facts.get('only a human decides')).toBe(2);
});

test('an item that nobody has is done by who holds the run, and by nobody else', () => {
  const given = (principal: string) => {
    const all = history();
    const back = { item: 'door', holder: 'ada', cause: 'given_back' };
    insert(all.audit, 7, record('item_released', back));
    all.audit.splice(8, 1, { ...(all.audit[8] as AuditRecord), principal });
    return checkHistory(all, PLAN).contradictions;
  };

  expect(given('agent:ada')).toEqual([]);
  expect(given('agent:bob')).toContainEqual(expect.stringMatching(/^every item is done once, by its holder/));
});

test.each<readonly [string, (all: Writable) => unknown, RegExp]>([
  [
    'an item that two hold',
    ({ audit }) => insert(audit, 5, record('item_claimed', { item: 'door', holder: 'bob' }, 'agent:bob')),
    /^no doubled claim of an item/,
  ],
  [
    'an item that is done twice',
    ({ audit }) => insert(audit, 8, audit[7] as AuditRecord),
    /^every item is done once/,
  ],
  [
    'an item that somebody else did',
    ({ audit }) => audit.splice(7, 1, { ...(audit[7] as AuditRecord), principal: 'agent:eve' }),
    /^every item is done once, by its holder/,
  ],
  [
    'a phase that is left before its last item',
    ({ audit }) => drop(audit, 8),
    /^a parallel phase is left when/,
  ],
  [
    'an item that is taken too early',
    ({ audit }) => {
      const cause = 'lease_expired';
      insert(audit, 5, record('item_released', { item: 'door', holder: 'ada', cause }, 'engine:phasegate'));
    },
    /^a lease lasts as long as it should/,
  ],
  ['a gate that nobody decided', ({ audit }) => drop(audit, 12), /^no gate is passed without a human/],
  [
    'a gate that an agent decided',
    ({ audit }) => audit.splice(12, 1, { ...(audit[12] as AuditRecord), principal: 'agent:ada' }),
    /^each gate is decided once, by a human/,
  ],
  [
    'a gate that was decided twice',
    ({ audit }) => insert(audit, 13, audit[12] as AuditRecord),
    /^each gate is decided once, by a human/,
  ],
  [
    'a decision of an agent that was taken',
    ({ acts }) => acts.push({ ...(acts[0] as Act), agent: 'ada' }),
    /^only a human decides/,
  ],
  ['a decision that is lost', ({ audit }) => drop(audit, 12), /^no acknowledged act is missing/],
  [
    'a run that another took with the last item',
    ({ audit }) => audit.splice(9, 1, { ...(audit[9] as AuditRecord), data: { holder: 'eve' } }),
    /^the run goes to the one who did the last item/,
  ],
])('%s is found', (_, spoil, expected) => {
  const spoilt = history();
  spoil(spoilt);

  expect(checkHistory(spoilt, PLAN).contradictions).toContainEqual(expect.stringMatching(expected));
});

type Writable = Evidence & { acts: Act[]; audit: AuditRecord[] };

function history(): Writable {
  const decision = { gate: 'SHIP#1', by: 'maria', option: 'Ship' };
  const audit = placed([
    record('run_started', {}),
    record('run_claimed', { holder: 'ada' }),
    record('phase_completed', { phase: 'PLAN', by: 'ada', next: 'PARTS' }),
    record('item_claimed', { item: 'door', holder: 'ada' }),
    record('token_issued', { jti: 't1', phase: 'PARTS', epoch: 3, item: 'door' }),
    record('item_claimed', { item: 'roof', holder: 'bob' }, 'agent:bob'),
    record('token_issued', { jti: 't2', phase: 'PARTS', epoch: 3, item: 'roof' }, 'agent:bob'),
    record('item_completed', { phase: 'PARTS', item: 'door' }),
    record('item_completed', { phase: 'PARTS', item: 'roof' }, 'agent:bob'),
    record('run_claimed', { holder: 'bob' }, 'agent:bob'),
    record('phase_completed', { phase: 'PARTS', by: 'bob', next: 'SHIP' }, 'agent:bob'),
    record('gate_opened', { phase: 'SHIP', instance: 1 }, 'agent:bob'),
    record('gate_decided', { decision, final: true }, 'human:maria'),
    record('phase_completed', { phase: 'SHIP', by: 'bob', next: 'LAST' }, 'human:maria'),
    record('phase_completed', { phase: 'LAST', by: 'bob', next: null }, 'agent:bob'),
  ]);
  const asked = { kind: 'decide', run: 'r1', gate: 'SHIP#1', option: 'Ship', shown: 'x' } as const;
  const times = { node: 0, from: BEGIN + 1300, to: BEGIN + 1310 };
  return {
    audit,
    acts: [
      { agent: 'maria', asked, answered: { kind: 'decided' }, ...times },
      { agent: 'ada', asked, answered: { kind: 'refused', code: 'not_permitted' }, ...times },
    ],
    watched: [],
    verified: { ok: true, findings: [] },
  };
}

const BEGIN = Date.parse('2026-01-01T00:00:00.000Z');

function record(event: string, data: AuditRecord['data'], principal = 'agent:ada'): AuditRecord {
  return { id: 0, run: 'r1', seq: 0, time: '', principal, event, data };
}

function insert(audit: AuditRecord[], index: number, added: AuditRecord): void {
  audit.splice(index, 0, added);
  audit.splice(0, audit.length, ...placed(audit));
}

function drop(audit: AuditRecord[], index: number): void {
  audit.splice(index, 1);
  audit.splice(0, audit.length, ...placed(audit));
}

function placed(records: readonly AuditRecord[]): AuditRecord[] {
  return records.map((one, index) => ({
    ...one,
    id: index + 1,
    seq: index + 1,
    time: new Date(BEGIN + (index + 1) * 100).toISOString(),
  }));
}

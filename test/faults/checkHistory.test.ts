import { expect, test } from 'vitest';
import { checkHistory, type Evidence } from './checkHistory.ts';
import type { Act, Answered, Asked, HeldToken } from './history.ts';
import type { AuditRecord, KnownWorkflow } from './replayRun.ts';

const WORKFLOW: KnownWorkflow = { phases: ['ONE', 'TWO'], tools: { ONE: ['read_files'] }, leaseMs: 5_000 };
const BEGIN = Date.parse('2026-01-01T00:00:00.000Z');
const FIRST: HeldToken = { text: '', run: 'r1', phase: 'ONE', epoch: 2, jti: 't1' };
const SECOND: HeldToken = { text: '', run: 'r1', phase: 'TWO', epoch: 3, jti: 't2' };

test('a history in which all is well holds', () => {
  const { contradictions, facts } = checkHistory(history(), WORKFLOW);

  expect(contradictions).toEqual([]);
  expect(facts.get('a run is completed once')).toBe(1);
  expect(facts.get('no acknowledged act is missing in the audit')).toBe(5);
});

test.each<readonly [string, (all: Writable) => unknown, RegExp]>([
  ['a run that two hold', ({ audit }) => insert(audit, 3, claimed('bob')), /^no doubled claim/],
  [
    'a verdict by a token that is dead by then',
    ({ audit }) => audit.splice(3, 2, ...swapped(audit, 3, 4)),
    /^no verdict by a dead token/,
  ],
  [
    'a transition by a token that newer ones have replaced',
    ({ audit }) => {
      for (const jti of ['t1b', 't1c'])
        insert(audit, 4, record('token_issued', { jti, phase: 'ONE', epoch: 2 }));
    },
    /^no transition by a dead token/,
  ],
  [
    'a transition that is decided twice',
    ({ audit }) => insert(audit, 5, record('phase_completed', { phase: 'ONE', by: 'ada', next: 'TWO' })),
    /^a transition is decided on the state before it/,
  ],
  [
    'a lease that ends early',
    ({ audit }) => insert(audit, 3, record('run_released', { holder: 'ada', cause: 'lease_expired' })),
    /^a lease lasts as long as it should/,
  ],
  ['a verdict that is lost', ({ audit }) => audit.splice(3, 1), /^no acknowledged act is missing/],
  ['a record of a chain that is lost', ({ audit }) => audit.splice(3, 1), /^no record is missing in a chain/],
  ['a run that does not end', ({ audit }) => audit.splice(6, 1), /^a run is completed once/],
  [
    'an act that is done twice',
    ({ audit }) => insert(audit, 4, { ...(audit[3] as AuditRecord) }),
    /^what is done is done once/,
  ],
  [
    'what was asked later and is earlier',
    ({ acts }) => acts.splice(2, 1, act({ ...CHECK, at: 900 }, { kind: 'judged', allowed: true })),
    /^what comes later is later/,
  ],
  [
    'the time of a node whose clock is wrong',
    ({ audit }) => audit.splice(3, 1, { ...(audit[3] as AuditRecord), time: at(3_600_000) }),
    /^time is that of the database/,
  ],
  [
    'a watcher that missed the last word',
    ({ watched }) => watched[0]?.pop(),
    /^a watcher is told everything/,
  ],
  ['a watcher that was told twice', ({ watched }) => watched[0]?.push(3), /^a watcher is told everything/],
  [
    'a chain that does not verify',
    (all) => Object.assign(all, { verified: { ok: false, findings: ['x'] } }),
    /^every chain verifies/,
  ],
  [
    'a node that fails',
    ({ acts }) => acts.push(act(CHECK, { kind: 'refused', code: 'internal' })),
    /^no node fails/,
  ],
])('%s is found', (_, spoil, expected) => {
  const spoilt = history();
  spoil(spoilt);

  expect(checkHistory(spoilt, WORKFLOW).contradictions).toContainEqual(expect.stringMatching(expected));
});

type Writable = Evidence & { acts: Act[]; audit: AuditRecord[]; watched: number[][] };
type Timed = Asked & { readonly at: number };

const CHECK = { kind: 'check', token: FIRST, tool: 'read_files', mark: 'm1', at: 300 } as const;

function history(): Writable {
  const audit = [
    record('run_started', {}),
    claimed('ada'),
    record('token_issued', { jti: 't1', phase: 'ONE', epoch: 2 }),
    record('tool_judged', {
      token: 't1',
      phase: 'ONE',
      tool: 'read_files',
      allowed: true,
      input: { path: 'm1' },
    }),
    record('phase_completed', { phase: 'ONE', by: 'ada', next: 'TWO' }),
    record('token_issued', { jti: 't2', phase: 'TWO', epoch: 3 }),
    record('phase_completed', { phase: 'TWO', by: 'ada', next: null }),
  ].map((one, index) => ({ ...one, id: index + 1, seq: index + 1, time: at((index + 1) * 100) }));
  return {
    audit,
    acts: [
      act({ kind: 'start', at: 100 }, { kind: 'started', run: 'r1' }),
      act({ kind: 'claim', at: 200 }, { kind: 'given', token: FIRST }),
      act(CHECK, { kind: 'judged', allowed: true }),
      act({ kind: 'complete', token: FIRST, at: 500 }, { kind: 'given', token: SECOND }),
      act({ kind: 'complete', token: SECOND, at: 700 }, { kind: 'ended' }),
      act({ ...CHECK, mark: 'm2', at: 800 }, { kind: 'refused', code: 'token_dead' }),
    ],
    watched: [audit.map(({ id }) => id)],
    verified: { ok: true, findings: [] },
  };
}

function act({ at: from, ...asked }: Timed, answered: Answered): Act {
  return {
    agent: 'ada',
    node: 0,
    asked: asked as Asked,
    answered,
    from: BEGIN + from,
    to: BEGIN + from + 10,
  };
}

function record(event: string, data: AuditRecord['data']): AuditRecord {
  return { id: 0, run: 'r1', seq: 0, time: at(0), principal: 'agent:ada', event, data };
}

function claimed(holder: string): AuditRecord {
  return record('run_claimed', { holder });
}

/** Puts a record in, and all behind it one further. */
function insert(audit: AuditRecord[], index: number, added: AuditRecord): void {
  const { time } = audit[index - 1] as AuditRecord;
  audit.splice(index, 0, { ...added, time });
  for (const [place, one] of audit.entries()) audit[place] = { ...one, id: place + 1, seq: place + 1 };
}

/** Two records in each other's place. */
function swapped(audit: readonly AuditRecord[], one: number, other: number): readonly AuditRecord[] {
  const [first, second] = [audit[one], audit[other]] as [AuditRecord, AuditRecord];
  return [
    { ...second, id: first.id, seq: first.seq },
    { ...first, id: second.id, seq: second.seq },
  ];
}

function at(milliseconds: number): string {
  return new Date(BEGIN + milliseconds).toISOString();
}

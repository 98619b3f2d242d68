import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import type { Json, PhaseDraft } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import type { FunctionCall, Functions } from '../runtime/ports.ts';
import { type BedOptions, commanded, driveBed, play, playing } from './fixtures/driveBed.ts';

const OPTIONS = [
  { label: 'Approve' },
  { label: 'Back', next: 'write', requiresInput: true },
  { label: 'On to the record', next: 'record', approves: false },
  { label: 'Reject', next: null },
];
const CODE = { code: 'c0de', module: 'work.ts' };
const HASH = /^[0-9a-f]{64}$/;

/** A step that writes a row, a gate, and two that write nothing. */
const gated = (human: object = {}, command = play('insert', 'draft')): readonly PhaseDraft[] => [
  commanded('write', command, {
    gates: [{ id: 'ship', human: { prompt: 'Ship it?', options: OPTIONS, ...human } }],
  }),
  commanded('end', play('ok'), { next: { to: null } }),
  commanded('record', play('ok'), { next: { to: null } }),
];

/** A run that waits at the gate behind the step, and what is in its database. */
async function atGate(human: object = {}) {
  const bed = await bookBed(gated(human));
  expect(await bed.drive()).toMatchObject({ outcome: 'waiting' });
  expect(bed.notes()).toEqual([]);
  return bed;
}

async function bookBed(phases: readonly PhaseDraft[], options: BedOptions = {}) {
  const bed = await driveBed(phases, { book: true, ...options }, CODE);
  return {
    ...bed,
    notes: () => notesIn(join(bed.root, 'book.db')),
    write: (text: string) => sql(join(bed.root, 'book.db'), `INSERT INTO notes VALUES ('${text}')`),
    /** Copies that are kept somewhere. */
    copies: () =>
      readdirSync(bed.stateDir, { recursive: true }).filter((name) =>
        /^(?:attempts|copies).*\.(?:db|ready|json)$/.test(String(name)),
      ),
    card: async () => (await bed.open.gateCard(bed.run))?.card,
  };
}

describe('the database of a step behind which a human decides', () => {
  test('does not have its row when the human rejects it [C35 adv.N7]', async () => {
    const bed = await atGate();

    expect(await bed.decide('Reject')).toMatchObject({ verdict: { allowed: true } });

    expect((await bed.load()).status).toBe('stopped');
    expect(bed.notes()).toEqual([]);
    expect(bed.copies()).toEqual([]);
  });

  test.each([
    ['back', 'Back', 'write'],
    ['forward', 'On to the record', 'record'],
  ])('does not have its row when the no leads %s [C35 adv.N7]', async (_, option, phase) => {
    const bed = await atGate();

    expect(await bed.decide(option, 'shorter')).toMatchObject({ verdict: { allowed: true } });

    expect(await bed.load()).toMatchObject({ status: 'active', phase });
    expect(bed.notes()).toEqual([]);
    expect(bed.copies()).toEqual([]);
  });

  test('has it with the yes, as its hash on the card said [C35 adv.N7]', async () => {
    const bed = await atGate();
    const { database } = (await bed.card()) ?? {};
    expect(database).toMatch(HASH);
    expect(bed.copies()).toHaveLength(2);

    expect(await bed.decide('Approve')).toMatchObject({ verdict: { allowed: true } });

    expect(bed.notes()).toEqual(['draft']);
    expect(bed.copies()).toEqual([]);
    expect((await bed.load()).completions).toMatchObject([{ phase: 'write', database }]);
    expect(await bed.drive()).toMatchObject({ outcome: 'completed' });
    expect(bed.notes()).toEqual(['draft']);
  });

  test('has it when enough have said yes, and not before', async () => {
    const bed = await atGate({ quorum: 2 });

    await bed.decide('Approve');
    expect(bed.notes()).toEqual([]);
    expect(bed.copies()).toHaveLength(2);
    await bed.decide('Approve', undefined, 'ada');

    expect(bed.notes()).toEqual(['draft']);
  });

  test('that moved while the gate was open refuses the yes, and the step is done anew [adv.N7]', async () => {
    const bed = await atGate();
    const before = await bed.card();
    bed.write('somebody else');

    expect(await bed.decide('Approve')).toMatchObject({
      verdict: {
        allowed: false,
        blockers: [{ code: 'database_moved', nextAction: { act: 'complete_phase', phase: 'write' } }],
      },
    });

    expect(bed.notes()).toEqual(['somebody else']);
    expect(bed.copies()).toEqual([]);
    expect(await bed.load()).toMatchObject({ status: 'active', phase: 'write', decisions: [] });
    expect((await bed.load()).work.failure).toMatch(/changed while/);
    expect(await bed.drive()).toMatchObject({ outcome: 'waiting' });
    const card = await bed.card();
    expect([card?.gate, card?.database]).not.toContain(before?.gate);
    expect(card?.database).not.toBe(before?.database);
    await bed.decide('Approve');
    expect(bed.notes()).toEqual(['somebody else', 'draft']);
    expect((await bed.open.verifyAudit()).findings).toEqual([]);
  });

  test.each([
    ['Approve', ['draft']],
    ['On to the record', []],
  ])('is looked at after `%s` as it will be', async (option, expected) => {
    const looked: string[][] = [];
    const functions = functionsOf(async ({ database }) => {
      looked.push(notesIn(database?.file ?? ''));
      return true;
    });
    const preconditions = [{ check: 'function', with: { ref: 'pre' } }];
    const [write, end, record] = gated();
    const bed = await bookBed(
      [
        write as PhaseDraft,
        { ...end, preconditions } as PhaseDraft,
        { ...record, preconditions } as PhaseDraft,
      ],
      { parts: { functions } },
    );
    await bed.drive();

    await bed.decide(option);

    expect(looked).toEqual([expected]);
    expect(bed.notes()).toEqual(expected);
  });

  test('that moved is no reason to refuse a no', async () => {
    const bed = await atGate();
    bed.write('somebody else');

    expect(await bed.decide('Reject')).toMatchObject({ verdict: { allowed: true } });
    expect(bed.notes()).toEqual(['somebody else']);
    expect(bed.copies()).toEqual([]);
  });

  test('that is in use leaves the decision to be taken again, and nothing half done', async () => {
    const bed = await atGate();
    const other = new DatabaseSync(join(bed.root, 'book.db'));
    other.exec('BEGIN IMMEDIATE');

    await expect(bed.decide('Approve')).rejects.toMatchObject({ code: 'database_busy' });

    expect((await bed.load()).status).toBe('waiting');
    other.exec('ROLLBACK');
    other.close();
    await bed.decide('Approve');
    expect(bed.notes()).toEqual(['draft']);
  });

  test.each(['stop', 'park'])(
    'drops the copy when nobody decides in time and it is to %s [adv.N7]',
    async (then) => {
      const bed = await atGate({ timeout: { after: '1h', then } });
      bed.pass(3601);

      await bed.human.view(bed.run);

      expect((await bed.load()).status).toBe(then === 'stop' ? 'stopped' : 'escalated');
      expect(bed.notes()).toEqual([]);
      expect(bed.copies()).toEqual([]);
      if (then === 'stop') return;
      await bed.human.submit(bed.run, { kind: 'resume' });
      await bed.drive();
      await bed.decide('Approve');
      expect(bed.notes()).toEqual(['draft']);
    },
  );

  test('drops the copy when the run is stopped [adv.N7]', async () => {
    const bed = await atGate();

    await bed.human.submit(bed.run, { kind: 'stop', reason: 'enough' });

    expect(bed.notes()).toEqual([]);
    expect(bed.copies()).toEqual([]);
  });

  test('is not asked about where the step wrote nothing: nothing waits, and the yes goes on', async () => {
    const bed = await bookBed(gated({}, play('ok')));
    await bed.drive();

    expect(await bed.card()).not.toHaveProperty('database');
    bed.write('somebody else');
    expect(await bed.decide('Approve')).toMatchObject({ verdict: { allowed: true } });
    expect(bed.notes()).toEqual(['somebody else']);
  });
});

describe('the database of a step that says it failed', () => {
  const ways = { next: { outcomes: { ok: 'end', fail: 'end', skip: 'end' } } };

  test.each(['fail', 'skip'])('has nothing of a handler that ends in `%s` [C35 adv.N7]', async (outcome) => {
    const looked: string[][] = [];
    const functions = functionsOf(async ({ ref, database }) => {
      if (ref !== 'steps/write/handler') {
        looked.push(notesIn(database?.file ?? ''));
        return true;
      }
      sql(database?.file ?? '', "INSERT INTO notes VALUES ('half')");
      return { outcome, state: {} };
    });
    const bed = await bookBed(
      [
        { id: 'write', work: { kind: 'handler', ref: 'steps/write/handler' }, ...ways },
        commanded('end', play('ok'), {
          preconditions: [{ check: 'function', with: { ref: 'steps/end/pre' } }],
          next: { to: null },
        }),
      ],
      { parts: { functions } },
    );

    expect(await bed.drive()).toMatchObject({ outcome: 'completed' });

    expect((await bed.load()).completions[0]).toMatchObject({ phase: 'write', outcome });
    expect(bed.notes()).toEqual([]);
    // What comes next is judged with the database as it is.
    expect(looked).toEqual([[]]);
    expect(bed.copies()).toEqual([]);
  });

  test('has nothing of a sub-agent that answers FAIL [C35 adv.N7]', async () => {
    const bed = await bookBed([
      {
        id: 'review',
        instructions: 'Judge it.',
        work: { kind: 'dispatch', agent: 'reviewer', script: 's' },
        ...ways,
      },
      commanded('end', play('ok'), { next: { to: null } }),
    ]);

    await bed.drive({ agentCommand: playing('insertsAndFails') });

    expect((await bed.load()).completions[0]).toMatchObject({ phase: 'review', outcome: 'fail' });
    expect(bed.notes()).toEqual([]);
    expect(bed.copies()).toEqual([]);
  });

  test('has all of a handler that ends in `ok`, as its postconditions saw it', async () => {
    const looked: string[][] = [];
    const functions = functionsOf(async ({ ref, database }) => {
      if (ref === 'steps/write/handler') {
        sql(database?.file ?? '', "INSERT INTO notes VALUES ('whole')");
        return { outcome: 'ok', state: {} };
      }
      looked.push(notesIn(database?.file ?? ''));
      return database?.writable === false;
    });
    const bed = await bookBed(
      [
        {
          id: 'write',
          work: { kind: 'handler', ref: 'steps/write/handler' },
          postconditions: [{ check: 'function', with: { ref: 'steps/write/post' } }],
          next: { to: null },
        },
      ],
      { parts: { functions } },
    );

    expect(await bed.drive()).toMatchObject({ outcome: 'completed' });

    expect([bed.notes(), looked]).toEqual([['whole'], [['whole']]]);
  });
});

test('a process left behind that empties the copy changes nothing of what is installed [adv.N7]', async () => {
  let root = '';
  const looked: string[][] = [];
  const functions = functionsOf(async ({ database }) => {
    looked.push(notesIn(database?.file ?? ''));
    writeFileSync(join(root, 'look'), '');
    while (!existsSync(join(root, 'emptied'))) await setTimeout(5);
    return true;
  });
  const bed = await bookBed(
    [
      commanded('write', play('leavesBehind'), {
        postconditions: [{ check: 'function', with: { ref: 'steps/write/post' } }],
        next: { to: null },
      }),
    ],
    { parts: { functions } },
  );
  root = bed.root;

  expect(await bed.drive()).toMatchObject({ outcome: 'completed' });

  expect(looked).toEqual([['a', 'b', 'c']]);
  expect(bed.notes()).toEqual(['a', 'b', 'c']);
});

/** Functions of a workflow that are answered here, with the database they were given. */
function functionsOf(answer: (call: FunctionCall) => Promise<Json>): Functions {
  return {
    call: async (call) => ({ ok: true, value: await answer(call) }),
    close: async () => undefined,
  };
}

function notesIn(file: string): string[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database
      .prepare('SELECT text FROM notes ORDER BY rowid')
      .all()
      .map(({ text }) => String(text));
  } finally {
    database.close();
  }
}

function sql(file: string, text: string): void {
  const database = new DatabaseSync(file);
  database.exec(text);
  database.close();
}

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Ajv } from 'ajv';
import { createMachine, initialTransition, transition } from 'xstate';
import { atATime, type Contender, EVIDENCE_SCHEMA, newEvidence, STEPS } from './contender.ts';

/** XState's pure step, its snapshot and one audit row stored in SQLite after each, as its own documentation has it. */
export async function openXState(folder: string): Promise<Contender> {
  const database = new DatabaseSync(join(folder, 'xstate.db'));
  database.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA busy_timeout=5000');
  database.exec('CREATE TABLE runs (id TEXT PRIMARY KEY, snapshot TEXT) STRICT');
  database.exec('CREATE TABLE audit (run TEXT, seq INTEGER, event TEXT, PRIMARY KEY (run, seq)) STRICT');
  const insert = database.prepare('INSERT INTO runs VALUES (?, ?)');
  const update = database.prepare('UPDATE runs SET snapshot = ? WHERE id = ?');
  const append = database.prepare('INSERT INTO audit VALUES (?, ?, ?)');
  const [begin, commit] = [database.prepare('BEGIN IMMEDIATE'), database.prepare('COMMIT')];
  const valid = new Ajv({ strict: false }).compile(EVIDENCE_SCHEMA);
  const machine = createMachine({
    initial: STEPS[0],
    states: {
      ...Object.fromEntries(
        STEPS.map((step, index) => [
          step,
          {
            on: {
              complete: {
                target: STEPS[index + 1] ?? 'done',
                guard: ({ event }: { event: { work?: unknown } }) => valid(event.work),
              },
            },
          },
        ]),
      ),
      done: { type: 'final' },
    },
  });
  const write = (act: () => void) => {
    begin.run();
    act();
    commit.run();
  };
  let runs = 0;
  return {
    walk: (count, parallel) =>
      atATime(count, parallel, async () => {
        const id = `run-${runs++}`;
        let [snapshot] = initialTransition(machine);
        write(() => {
          insert.run(id, stored(machine, snapshot));
          append.run(id, 0, JSON.stringify({ type: 'started' }));
        });
        for (const [index, step] of STEPS.entries()) {
          if (snapshot.value !== step) throw new Error(`the run is not in ${step}`);
          const event = { type: 'complete', work: newEvidence() };
          [snapshot] = transition(machine, snapshot, event);
          write(() => {
            update.run(stored(machine, snapshot), id);
            append.run(id, index + 1, JSON.stringify(event));
          });
          await Promise.resolve();
        }
        if (snapshot.status !== 'done') throw new Error('the run is not done');
      }),
    async close() {
      database.close();
    },
  };
}

function stored(
  machine: ReturnType<typeof createMachine>,
  snapshot: Parameters<typeof machine.getPersistedSnapshot>[0],
) {
  return JSON.stringify(machine.getPersistedSnapshot(snapshot));
}

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { Ajv } from 'ajv';
import { installPeers } from '../peers/install.ts';
import { atATime, type Contender, EVIDENCE_SCHEMA, newEvidence, STEPS } from './contender.ts';

/**
 * LangGraph.js with its own SQLite checkpointer, WAL and FULL: a node for each step that waits for its artifact
 * (`interrupt`) and validates it. `exit` stores when a call of the graph ends, `sync` before each step of it.
 */
export async function openLangGraph(folder: string, durability: 'exit' | 'sync'): Promise<Contender> {
  const peers = installPeers('@langchain/langgraph');
  const load = (name: string) =>
    import(pathToFileURL(createRequire(join(peers, 'package.json')).resolve(name)).href);
  const { StateGraph, Annotation, Command, interrupt, START, END } = await load('@langchain/langgraph');
  const { SqliteSaver } = await load('@langchain/langgraph-checkpoint-sqlite');
  const database = new DatabaseSync(join(folder, 'langgraph.db'));
  database.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA busy_timeout=5000');
  const valid = new Ajv({ strict: false }).compile(EVIDENCE_SCHEMA);
  const State = Annotation.Root({ work: Annotation() });
  let graph = new StateGraph(State);
  for (const step of STEPS) {
    graph = graph.addNode(step, () => {
      const work: unknown = interrupt(step);
      if (!valid(work)) throw new Error('the artifact is not valid');
      return { work };
    });
  }
  graph = graph.addEdge(START, STEPS[0]);
  STEPS.forEach((step, index) => {
    graph = graph.addEdge(step, STEPS[index + 1] ?? END);
  });
  const app = graph.compile({ checkpointer: new SqliteSaver(likeBetterSqlite(database)) });
  let runs = 0;
  return {
    walk: (count, parallel) =>
      atATime(count, parallel, async () => {
        const config = { configurable: { thread_id: `run-${runs++}` }, durability };
        await app.invoke({}, config);
        for (const _ of STEPS) await app.invoke(new Command({ resume: newEvidence() }), config);
        const { next } = await app.getState(config);
        if (next.length > 0) throw new Error(`the run is still in ${next}`);
      }),
    async close() {
      database.close();
    },
  };
}

/** The part of better-sqlite3 that the checkpointer calls, on the SQLite that the others here use too. */
function likeBetterSqlite(database: DatabaseSync): object {
  const prepared = new Map<string, ReturnType<DatabaseSync['prepare']>>();
  return {
    pragma: (text: string) => database.exec(`PRAGMA ${text}`),
    exec: (text: string) => database.exec(text),
    prepare(text: string) {
      const statement = prepared.get(text) ?? database.prepare(text);
      prepared.set(text, statement);
      const nulls = (values: unknown[]) => values.map((value) => value ?? null) as (string | null)[];
      return {
        run: (...values: unknown[]) => statement.run(...nulls(values)),
        get: (...values: unknown[]) => statement.get(...nulls(values)),
        all: (...values: unknown[]) => statement.all(...nulls(values)),
      };
    },
    transaction:
      (work: (...args: unknown[]) => unknown) =>
      (...args: unknown[]) => {
        database.exec('BEGIN');
        const result = work(...args);
        database.exec('COMMIT');
        return result;
      },
  };
}

import { hash, randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { canonicalJson, defineWorkflow, fold, type Json, type Principal } from '@phasegate/core';
import {
  createOpenProject,
  createSeal,
  createTokens,
  openKeys,
  openSqliteStore,
  type Seal,
  type Store,
} from 'phasegate';
import type { Payload } from './bareCommits.ts';
import { folder } from './measure.ts';

/** The phases of every benchmark's runs. */
export const PHASES = ['PLAN', 'TDD', 'IMPL', 'REVIEW', 'COMPLETE'];
/** One agent may have a thousand runs that are not finished, and four starts under way. */
const RUNS_EACH = 500;

const SUMMARY = 'what was done in this phase, '.repeat(12);
let serial = 0;

/**
 * A 1 KB artifact that nobody submitted before, as every phase makes its own: a store that recognises what it already
 * has must not look cheap by it. All of them are of the same size.
 */
export function newArtifact() {
  serial += 1;
  const mark = String(serial).padStart(SERIAL_LENGTH, '0');
  return {
    summary: `${mark} ${SUMMARY}`,
    steps: Array.from({ length: 8 }, (_, index) => ({
      title: `${mark}.${index}`,
      files: [`src/a${index}.ts`, `test/a${index}.ts`],
      done: true,
    })),
    scope: ['src/**', 'test/**'],
  };
}

const SERIAL_LENGTH = 8;

/** What the artifact is held against. */
export const SCHEMA = {
  type: 'object',
  required: ['summary', 'steps', 'scope'],
  additionalProperties: false,
  properties: {
    summary: { type: 'string', minLength: 20 },
    steps: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['title', 'files', 'done'],
        properties: {
          title: { type: 'string' },
          files: { type: 'array', items: { type: 'string' } },
          done: { type: 'boolean' },
        },
      },
    },
    scope: { type: 'array', items: { type: 'string' } },
  },
};

/** Runs of the five phases on a store of their own. */
export interface Workload {
  readonly file: string;
  start(count: number): Promise<readonly string[]>;
  complete(run: string, phase: string): Promise<void>;
  /** Takes every run to its end, so many at a time. */
  walk(runs: readonly string[], parallel: number): Promise<void>;
  close(): Promise<void>;
}

/** What a workload may be opened with. */
export interface Elsewhere {
  /** Opens another store than a file. */
  readonly open?: (seal: Seal) => Promise<Store>;
  /** In the names of its agents, which no other workload on the same store may have. */
  readonly team?: string;
}

/** Opens the store and the runtime as the command line does, without the command line. */
export async function openWorkload(
  at = folder(),
  { open, team = 'bench' }: Elsewhere = {},
): Promise<Workload> {
  const defined = defineWorkflow(
    { id: 'bench', phases: PHASES.map((id) => ({ id, artifacts: [{ type: 'work', schema: SCHEMA }] })) },
    { checks: {} },
  );
  if (!defined.ok) throw new Error(JSON.stringify(defined.problems));
  const workflow = defined.workflow;
  const sha = (text: string) => hash('sha256', text, 'hex');
  const found = {
    workflow,
    path: 'bench.workflow.yaml',
    format: 'yaml' as const,
    hash: sha(canonicalJson(workflow as unknown as Json)),
    closure: 'c',
    files: {},
    notes: [],
    placeOf: () => null,
  };
  const file = join(at, 'state.db');
  const keys = openKeys(at);
  const seal = createSeal(keys);
  const store = (await open?.(seal)) ?? openSqliteStore({ file, seal, now: Date.now, fold });
  const project = createOpenProject({
    store,
    catalog: {
      load: async () => found,
      list: async () => [],
      describe: async () => [],
      validate: async () => ({ checked: [], problems: [], unaccepted: [] }),
    },
    checks: async () => [],
    functions: {
      call: async () => ({ ok: false, kind: 'unknown_function', reason: 'none' }),
      close: async () => undefined,
    },
    workspace: at,
    now: Date.now,
    newId: () => `run-${randomBytes(10).toString('hex')}`,
    hash: sha,
    backupFile: () => join(at, 'backup.db'),
    tokens: createTokens({ secrets: keys.tokens, now: Date.now }),
    seal,
    tools: async () => [],
  });
  const holders = new Map<string, ReturnType<typeof project.as>>();
  let started = 0;
  const startOne = async () => {
    const agent = project.as(agentOf(team, Math.floor(started++ / RUNS_EACH)));
    const { view } = await agent.start({ workflow: 'bench' });
    if (view === null) throw new Error('the start was refused');
    holders.set(view.run, agent);
    return view.run;
  };
  const complete = async (run: string, phase: string) => {
    const agent = holders.get(run);
    if (agent === undefined) throw new Error('nobody holds this run');
    const { verdict } = await agent.submit(run, {
      kind: 'complete',
      phase,
      evidence: { work: newArtifact() },
    });
    if (!verdict.allowed) throw new Error(JSON.stringify(verdict));
  };
  return {
    file,
    async start(count) {
      const runs: string[] = [];
      for (let left = count; left > 0; left -= 32) {
        runs.push(...(await Promise.all(Array.from({ length: Math.min(32, left) }, startOne))));
      }
      return runs;
    },
    complete,
    async walk(runs, parallel) {
      const open = [...runs];
      const worker = async () => {
        for (let run = open.pop(); run !== undefined; run = open.pop()) {
          for (const phase of PHASES) await complete(run, phase);
        }
      };
      await Promise.all(Array.from({ length: parallel }, worker));
    },
    async close() {
      await project.close();
      rmSync(at, { recursive: true, force: true });
    },
  };
}

function agentOf(team: string, number: number): Principal {
  return { kind: 'agent', name: `${team}-${number}` };
}

/** What each of the five transitions of one run writes, as it is in the database. */
export async function samplePayloads(): Promise<readonly Payload[]> {
  const workload = await openWorkload();
  const [run] = (await workload.start(1)) as [string];
  const reader = new DatabaseSync(workload.file, { readOnly: true });
  const state = reader.prepare('SELECT * FROM runs JOIN run_heads ON run = key WHERE id = ?');
  const record = reader.prepare('SELECT * FROM audit WHERE run = 1 ORDER BY seq DESC LIMIT 1');
  const texts = reader.prepare('SELECT id, text FROM texts WHERE id > ? ORDER BY id');
  const payloads: Payload[] = [];
  let newest = 0;
  for (const phase of PHASES) {
    await workload.complete(run, phase);
    const added = texts.all(newest);
    newest = Number(added.at(-1)?.id ?? newest);
    payloads.push({
      state: textOf(state.get(run)),
      record: [record.get(), ...added].map(textOf).join(''),
    });
  }
  reader.close();
  await workload.close();
  return payloads;
}

/** All values of a row, as one text. */
export function textOf(row: Record<string, unknown> | undefined): string {
  return Object.values(row ?? {})
    .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value))
    .join('');
}

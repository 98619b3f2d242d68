import { setTimeout as pause } from 'node:timers/promises';
import { PhasegateError } from '@phasegate/core';
import type { Seal, Store } from '@phasegate/core/ports';
import { agent, EVE } from '../../packages/phasegate/src/runtime/fixtures/agentsAtWork.ts';
import {
  type MemoryProject,
  openMemoryProject,
} from '../../packages/phasegate/src/runtime/fixtures/openMemoryProject.ts';
import { tokenSecretsOf } from '../../packages/phasegate/src/runtime/keys.ts';
import { createTokens } from '../../packages/phasegate/src/runtime/tokens/tokens.ts';
import type { Intercept } from '../../packages/postgres/src/database.ts';
import { openPostgresStore } from '../../packages/postgres/src/openPostgresStore.ts';
import { type Answered, type Asked, type FaultNode, heldToken } from './history.ts';
import type { KnownWorkflow } from './replayRun.ts';

/** A mistake that is put between a node and its store. */
export type Plant = (store: Store, node: { readonly url: string }) => Store;

/** Nodes in this process, each with a store of its own on the same database. */
export interface HereNodes {
  readonly nodes: readonly FaultNode[];
  /** How often one of them died. */
  deaths(): number;
  close(): Promise<void>;
}

/** What the nodes are opened with. */
export interface HereNodesRequest {
  readonly url: string;
  readonly workflow: KnownWorkflow;
  readonly keys: { readonly folder: string; readonly seal: Seal };
  /** By how many milliseconds the clock of each is wrong. */
  readonly shifts: readonly number[];
  readonly plant?: Plant;
  /** After how many commits a node dies that is opened now. */
  lifetime(): number;
}

/**
 * Opens them. A node dies right after a commit, before anybody is told of it: nothing of it is heard any more, and another
 * one is opened in its place.
 */
export async function openHereNodes(request: HereNodesRequest): Promise<HereNodes> {
  const ended: Promise<unknown>[] = [];
  let deaths = 0;
  let isClosing = false;

  async function place(shift: number): Promise<FaultNode & { close(): Promise<void> }> {
    let living: Promise<LivingNode> = bear();
    await living;
    /** As the one who watches over nodes does: one that does not start, as on a database that is full, is started again. */
    async function bear(): Promise<LivingNode> {
      for (let tried = 1; ; tried += 1) {
        try {
          return await openLiving(request, shift, (dead) => {
            deaths += 1;
            ended.push(dead.end());
            if (!isClosing) living = bear();
          });
        } catch (error) {
          if (isClosing || tried >= MOST_STARTS) throw error;
          await pause(RESTART_MS);
        }
      }
    }
    return {
      async ask(name, asked) {
        const node = await living;
        // Who asked a process that is killed hears so at once, and not when the process would have given up.
        const died = node.died.then((): Answered => ({ kind: 'unknown', why: 'the node died' }));
        const answered = answerOf(node, name, asked).then((answer) => (node.isDead() ? died : answer));
        return Promise.race([answered, died]);
      },
      async follow(after, tell, signal) {
        const node = await living;
        await new Promise<void>((resolve) => {
          const stop = node.project.feed.subscribe(({ id }) => (node.isDead() ? undefined : tell(id)), {
            after,
          });
          node.died.then(resolve);
          signal.addEventListener('abort', () => resolve(), { once: true });
          if (signal.aborted) resolve();
          void Promise.race([node.died, aborted(signal)]).then(stop);
        });
      },
      async close() {
        await (await living).end();
      },
    };
  }

  const nodes = await Promise.all(request.shifts.map(place));
  return {
    nodes,
    deaths: () => deaths,
    async close() {
      isClosing = true;
      await Promise.all(nodes.map((node) => node.close()));
      await Promise.all(ended);
    },
  };
}

const MOST_STARTS = 100;
const RESTART_MS = 100;

interface LivingNode extends Pick<MemoryProject, 'project'> {
  isDead(): boolean;
  readonly died: Promise<void>;
  end(): Promise<void>;
}

async function openLiving(
  request: HereNodesRequest,
  shift: number,
  onDeath: (dead: LivingNode) => void,
): Promise<LivingNode> {
  const { url, workflow, keys, plant = (store: Store) => store } = request;
  const death = Promise.withResolvers<void>();
  let isDead = false;
  let node: LivingNode | undefined;
  let left = request.lifetime();
  const killed = () => Object.assign(new Error('the node was killed'), { code: 'KILLED' });
  const intercept: Intercept = (query, kind) => async (text, values) => {
    // What became of its last commit the dead may know, and tells nobody: else it keeps its connections while it tries.
    if (isDead && text.includes('pg_xact_status')) return query(text, values);
    if (isDead) throw killed();
    const answered = await query(text, values);
    if (kind === 'writing' && text === 'COMMIT') {
      left -= 1;
      if (left === 0) {
        isDead = true;
        death.resolve();
        if (node !== undefined) onDeath(node);
      }
    }
    if (isDead) throw killed();
    return answered;
  };
  const real = await openPostgresStore({ url, seal: keys.seal, intercept });
  const store = plant(real, { url });
  const now = store.now ?? (() => Date.now() + shift);
  const { project } = openMemoryProject(
    {
      id: 'errand',
      phases: workflow.phases.map((id) => ({ id, allowedTools: [...(workflow.tools[id] ?? [])] })),
      enforcement: { leaseSeconds: workflow.leaseMs / 1000, maxReclaims: 100, workspace: 'shared' },
    },
    {
      parts: {
        store,
        now,
        seal: keys.seal,
        tokens: createTokens({ secrets: tokenSecretsOf(keys.folder), now }),
        tools: async () => ['read_files', 'write_files'].map(tool),
        watching: { everyMs: 100 },
      },
    },
  );
  const watch = project.server.watch();
  node = {
    project,
    isDead: () => isDead,
    died: death.promise,
    async end() {
      await watch.stop().catch(() => undefined);
      await project.close().catch(() => undefined);
      await real.close().catch(() => undefined);
    },
  };
  if (!isDead) return node;
  await node.end();
  throw killed();
}

function tool(name: string) {
  const run = async () => ({ ok: true, output: '' });
  return { name, description: name, input: { type: 'object' }, run };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

async function answerOf(node: LivingNode, name: string, asked: Asked): Promise<Answered> {
  try {
    return await answered(node, name, asked);
  } catch (error) {
    if (node.isDead()) return { kind: 'unknown', why: 'the node died' };
    const code = error instanceof PhasegateError ? error.code : 'internal';
    return code === 'store_unavailable' ? { kind: 'unknown', why: String(error) } : { kind: 'refused', code };
  }
}

async function answered({ project }: LivingNode, name: string, asked: Asked): Promise<Answered> {
  const { claims, toolbox } = project;
  switch (asked.kind) {
    case 'start': {
      const { view } = await project.as(EVE).start({ workflow: 'errand', queue: true });
      return view === null ? { kind: 'refused', code: 'not_started' } : { kind: 'started', run: view.run };
    }
    case 'claim': {
      const claimed = await claims.claim(agent(name), []);
      return claimed === null ? { kind: 'nothing' } : { kind: 'given', token: heldToken(claimed.token) };
    }
    case 'token': {
      const { token } = await claims.token(asked.run, agent(name));
      return { kind: 'given', token: heldToken(token) };
    }
    case 'check': {
      const call = { tool: asked.tool, input: { path: asked.mark } };
      const { allowed } = await toolbox.check(await claims.admit(asked.token.text), call);
      return { kind: 'judged', allowed };
    }
    case 'decide':
      return { kind: 'refused', code: 'no_human' };
    case 'complete': {
      const { next, verdict, view } = await claims.transition(await claims.admit(asked.token.text), {
        artifacts: {},
      });
      if (!verdict.allowed) return { kind: 'refused', code: verdict.blockers[0].code };
      if (next !== null) return { kind: 'given', token: heldToken(next.token) };
      return view.status === 'completed' ? { kind: 'ended' } : { kind: 'unknown', why: view.status };
    }
  }
}

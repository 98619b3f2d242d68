import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { JsonObject } from '@phasegate/core';
import { connect, PhasegateClientError } from '@phasegate/sdk';
import { makeProject, PROGRAM, phasegate, startRun, type TestProject } from './cli.ts';
import { type Served, serve } from './server.ts';

/** A real server with two agents, and a workflow whose first phase may run programs. */
export interface Bed {
  readonly project: TestProject;
  readonly server: Served;
  readonly ada: string;
  readonly bob: string;
}

/** What an agent comes to a door with. */
export interface Hand {
  readonly run: string;
  readonly key: string;
  readonly token: string;
}

/** What came of it: allowed, or the code of the refusal. */
export type Came = 'allowed' | (string & {});

/** One way to complete a phase. */
export interface WayIn {
  readonly name: string;
  /** Whether the phase token is what it is let in by. */
  readonly byToken: boolean;
  complete(bed: Bed, hand: Hand, asking: Asking): Promise<Came>;
}

/** What is asked for. */
export interface Asking {
  readonly phase: string;
  /** Called when all is ready, just before it is asked for. */
  readonly asked?: (() => void) | undefined;
}

const WORK =
  'workflow: work\nenforcement: { workspace: shared }\nphases: { GO: { allowed_tools: [bash], writes: ["**"] }, RETURN: {}, END: {} }\n';

/** Starts the server. */
export async function makeBed(): Promise<Bed> {
  const project = makeProject({ 'agent_workflow.yaml': WORK });
  const server = await serve(project);
  const keyOf = async (name: string) =>
    String((await phasegate(project, ['agents', 'add', name, '--json'])).json.key);
  return { project, server, ada: await keyOf('ada'), bob: await keyOf('bob') };
}

/** A run that `ada` has claimed, with its token. */
export async function claimed({ project, server, ada }: Bed): Promise<Hand> {
  const run = await startRun(project, 'work', ['--queue']);
  const body = { agent_id: 'ada', task_id: run };
  const answer = await server.send('POST', '/api/v1/tasks/claim', { bearer: ada, body });
  return { run, key: ada, token: String(answer.body.phase_token) };
}

/** A `bash` that the server carries out; it goes on until it is let end. */
export async function begin({ project, server }: Bed, { token, run }: Hand) {
  const [begun, go] = [`begun-${run}`, `go-${run}`];
  const command = `touch ${begun}; until [ -e ${go} ]; do sleep 0.05; done; echo late > late-${run}`;
  const body = { tool: 'bash', input: { command } };
  const executed = server.send('POST', '/api/v1/tools/execute', { bearer: token, body });
  await until(() => existsSync(join(project.root, begun)));
  return { executed, end: () => project.write(go, '') };
}

/** Where a run is, as a process of its own sees it. */
export async function phaseOf({ project, ada }: Bed, run: string): Promise<unknown> {
  const { json } = await phasegate(project, ['status', run, '--json'], { env: { PHASEGATE_KEY: ada } });
  return json.phase;
}

/** Every way in which an agent completes a phase. */
export const WAYS_IN: readonly WayIn[] = [
  {
    name: 'REST',
    byToken: true,
    async complete({ server }, { token }, { phase, asked }) {
      asked?.();
      const body = { artifacts: {}, phase };
      const answer = await server.send('POST', '/api/v1/tasks/transition', { bearer: token, body });
      return cameOf(answer.body);
    },
  },
  {
    name: 'MCP over HTTP with a token',
    byToken: true,
    complete: ({ server }, { token }, { phase, asked }) =>
      overHttp(server, token, { args: { phase, evidence: {} }, asked }),
  },
  {
    name: 'MCP over HTTP with a key',
    byToken: false,
    complete: ({ server }, { key, run }, { phase, asked }) =>
      overHttp(server, key, { args: { session_id: run, phase, evidence: {} }, asked }),
  },
  {
    name: 'MCP over stdio',
    byToken: false,
    async complete({ project }, { key, run }, { phase, asked }) {
      const client = new Client({ name: 'e2e', version: '1' });
      const env = { ...project.env, PHASEGATE_KEY: key };
      const args = [PROGRAM, 'mcp'];
      const { root: cwd } = project;
      await client.connect(
        new StdioClientTransport({ command: process.execPath, args, cwd, env, stderr: 'pipe' }),
      );
      return completing(client, { args: { session_id: run, phase, evidence: {} }, asked });
    },
  },
  {
    name: '`phasegate done`',
    byToken: false,
    async complete({ project }, { key, run }, { phase, asked }) {
      asked?.();
      const words = ['done', run, '--phase', phase, '--json'];
      return cameOf((await phasegate(project, words, { env: { PHASEGATE_KEY: key } })).json);
    },
  },
  {
    name: 'the SDK',
    byToken: false,
    async complete({ server }, { key, run }, { phase, asked }) {
      const client = connect({ url: server.url, key });
      try {
        await client.claimTask('ada', { task: run });
        asked?.();
        const moved = await client.requestTransition(undefined, {}, { phase });
        return cameOf({ ...moved });
      } catch (error) {
        if (error instanceof PhasegateClientError) return error.code;
        throw error;
      }
    },
  },
];

interface Completing extends Pick<Asking, 'asked'> {
  readonly args: JsonObject;
}

async function overHttp({ url, send }: Served, bearer: string, call: Completing): Promise<Came> {
  const pinned = { versionNegotiation: { mode: { pin: '2026-07-28' } } } as const;
  const client = new Client({ name: 'e2e', version: '1' }, pinned);
  const requestInit = { headers: { authorization: `Bearer ${bearer}` } };
  try {
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  } catch {
    // The client keeps to itself what the server said to the one who is not let in.
    return cameOf((await send('POST', '/mcp', { bearer, body: {} })).body);
  }
  return completing(client, call);
}

async function completing(client: Client, { args, asked }: Completing): Promise<Came> {
  try {
    asked?.();
    const options = { timeout: 60_000 };
    const { structuredContent } = await client.callTool({ name: 'complete_phase', arguments: args }, options);
    return cameOf(structuredContent as JsonObject);
  } finally {
    await client.close();
  }
}

function cameOf(answer: Record<string, unknown>): Came {
  if (answer.checkpoint_passed === true || answer.allowed === true) return 'allowed';
  return String(answer.error ?? answer.code ?? JSON.stringify(answer));
}

/** Waits until something holds, as long as the test may take. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
}

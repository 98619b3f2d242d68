import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { JsonObject } from '@phasegate/core';
import { openLocalServer } from '../../packages/phasegate/src/localServer.ts';
import { openTestProject } from '../../packages/phasegate/src/runtime/fixtures/openTestProject.ts';
import type { Made, Place } from './fixture.ts';
import { type RestQuestion, restActs, restQuestions } from './restQuestions.ts';

/** What one surface was asked, and what it said. */
export type Kept = (file: string, answer: object) => void;

/** Serves a place, asks every route and every MCP tool, and goes on from the old state. */
export async function askServer(place: Place, made: Made, keep: Kept): Promise<void> {
  const project = await openTestProject({ projectDir: place.root, env: place.env });
  const server = await openLocalServer({ project, port: 0, log: () => undefined });
  try {
    const bearers = await bearersOf(server.url, made);
    const ask = async (question: RestQuestion) =>
      keep(`rest/${question.name}`, await send(server.url, bearers, question));
    for (const question of restQuestions(made)) await ask(question);
    await askMcp(server.url, made, keep);
    keep('rest/events', await firstEvents(server.url, bearers.maria ?? ''));
    const gate = `/api/v1/runs/${made.runs.halfVoted}`;
    const { body } = await send(server.url, bearers, {
      name: '',
      method: 'GET',
      path: `${gate}/gate`,
      as: 'joe',
    });
    const { gate: id, shown } = body as { gate: string; shown: string };
    const decision = { gate: id, option: 'Approve', shown };
    const path = `${gate}/decisions`;
    await ask({ name: 'decide', method: 'POST', path, as: 'joe', body: decision });
    await ask({ name: 'decide-again', method: 'POST', path, as: 'maria', body: decision });
    for (const act of restActs(made)) await ask(act);
  } finally {
    await server.close();
  }
}

/** Serves a place at the time that is now, and asks what an agent would: with its old token, and then with its key. */
export async function askLate(place: Place, made: Made): Promise<readonly Answer[]> {
  const project = await openTestProject({ projectDir: place.root, env: place.env });
  const server = await openLocalServer({ project, port: 0, log: () => undefined });
  try {
    const bearers = { ...made.tokens, ...made.agents };
    const look = { name: '', method: 'GET', path: '/api/v1/state/snapshot', as: 'planning' };
    const claim = {
      name: '',
      method: 'POST',
      path: '/api/v1/tasks/claim',
      as: 'ada',
      body: { agent_id: 'ada' },
    };
    return [await send(server.url, bearers, look), await send(server.url, bearers, claim)];
  } finally {
    await server.close();
  }
}

/** What came back of a request. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

async function bearersOf(url: string, made: Made): Promise<Readonly<Record<string, string>>> {
  const bearers: Record<string, string> = { ...made.agents, ...made.tokens };
  // One after another: the order is on record.
  for (const [name, passphrase] of Object.entries(made.humans)) {
    const body = { name, passphrase, bearer: true };
    const answer = await send(url, {}, { name: '', method: 'POST', path: '/api/v1/session', as: null, body });
    bearers[name] = String((answer.body as JsonObject).session);
  }
  return bearers;
}

async function send(url: string, bearers: Readonly<Record<string, string>>, question: RestQuestion) {
  const { method, path, as, body } = question;
  const bearer = as === null ? undefined : bearers[as];
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const sent = { request: `${method} ${path}`, as, ...(body === undefined ? {} : { sent: body }) };
  return { ...sent, status: response.status, body: text === '' ? null : (JSON.parse(text) as unknown) };
}

/** The first records of the stream of events; it has no end of its own. */
async function firstEvents(url: string, bearer: string): Promise<object> {
  const stop = new AbortController();
  const headers = { authorization: `Bearer ${bearer}`, 'last-event-id': '0' };
  const response = await fetch(`${url}/api/v1/events`, { headers, signal: stop.signal });
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.split('\n\n').length > 5) break;
  }
  stop.abort();
  const events = text.split('\n\n').filter((event) => event.startsWith('id:'));
  return { request: 'GET /api/v1/events', as: 'maria', status: response.status, events: events.slice(0, 4) };
}

async function askMcp(url: string, made: Made, keep: Kept): Promise<void> {
  const { runs } = made;
  const client = new Client({ name: 'compatibility', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${made.agents.ada}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  const ask = async (name: string, tool: string, args: JsonObject) => {
    const { structuredContent, isError = false } = await client.callTool({
      name: tool,
      arguments: { ...args },
    });
    keep(`mcp/${name}`, { tool, arguments: args, isError, answer: structuredContent ?? null });
    return (structuredContent ?? {}) as JsonObject;
  };
  try {
    keep('mcp/tools', await client.listTools());
    keep('mcp/prompts', await client.listPrompts());
    keep('mcp/resources', await client.listResources());
    await ask('list_workflows', 'list_workflows', {});
    for (const name of [
      'planning',
      'halfVoted',
      'approved',
      'sentBack',
      'questions',
      'escalated',
      'completed',
      'stopped',
    ]) {
      await ask(`get_workflow_state-${name}`, 'get_workflow_state', { session_id: runs[name] ?? '' });
    }
    await ask('get_workflow_state-of-another', 'get_workflow_state', { session_id: runs.items ?? '' });
    await ask('get_current_phase', 'get_current_phase', { session_id: runs.sentBack ?? '' });
    await ask('get_phase', 'get_phase', { session_id: runs.approved ?? '', phase: 'PLAN' });
    await ask('get_phase-later', 'get_phase', { session_id: runs.planning ?? '', phase: 'BUILD' });
    await ask('get_task', 'get_task', { session_id: runs.sentBack ?? '', phase: 'PLAN', task_number: 1 });
    await ask('search_standards', 'search_standards', { query: 'how do we roll back a release' });
    const started = await ask('start_workflow', 'start_workflow', {
      workflow_type: 'review_v1',
      target_file: 'a.ts',
    });
    const session_id = String(started.session_id);
    const evidence = { files_read: 1, names: ['a.ts'], understood: true };
    await ask('complete_phase-refused', 'complete_phase', { session_id, phase: 1, evidence });
    await ask('get_task-markdown', 'get_task', { session_id, phase: 1, task_number: 1 });
    await ask('complete_phase', 'complete_phase', { session_id, phase: 1, evidence });
    const questions = [{ text: 'All of it?', options: ['Yes', 'No'] }];
    await ask('ask_human', 'ask_human', { session_id, questions });
    const other = await ask('start_workflow-yaml', 'start_workflow', { workflow_type: 'loose' });
    await ask('report_blocked', 'report_blocked', {
      session_id: String(other.session_id),
      reason: 'no access',
    });
  } finally {
    await client.close();
  }
}

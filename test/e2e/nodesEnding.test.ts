import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createParser } from 'eventsource-parser';
import { describe, expect, test } from 'vitest';
import { tamper } from '../../packages/postgres/src/fixtures/nodes.ts';
import { atEndOfFile } from '../atEndOfFile.ts';
import { freshSchema } from '../postgres/sharedServer.ts';
import { startServer } from '../postgres/startServer.ts';
import { FULL } from '../tier.ts';
import { phasegate } from './cli.ts';
import { type Served, signIn } from './server.ts';
import { startIn, tokenOf, twoNodes } from './twoNodes.ts';

const ERRAND = 'workflow: errand\nphases: { GO: { allowed_tools: [read_files, bash] }, RETURN: {} }\n';
const CLAIM: [string, object] = ['/api/v1/tasks/claim', { agent_id: 'ada' }];

describe.runIf(FULL)('a node that ends', () => {
  test('says so, finishes what is under way, and leaves no call behind that another node would wait for', async () => {
    const database = await freshSchema();
    const { project, env, one, two, key } = await twoNodes(ERRAND, database);
    await startIn(project, env);
    const token = await tokenOf(one, key, CLAIM);
    const began = join(project.base, 'began');
    const body = { calls: [{ tool: 'bash', input: { command: `touch ${began}; sleep 600` } }] };
    const call = one.send('POST', '/api/v1/tools/execute', { bearer: token, body }).catch(() => null);
    await expect.poll(() => existsSync(began)).toBe(true);

    one.kill('SIGTERM');
    expect(await one.ended).toMatchObject({ code: 0 });
    await call;
    // On another machine nobody could see that its process is gone.
    expect(await tamper(database, 'SELECT id FROM calls')).toEqual([]);

    // The call would have been good for minutes. The agent goes on at the other node with the token it has.
    const left = await two.send('POST', '/api/v1/tasks/transition', {
      bearer: token,
      body: { artifacts: {} },
    });
    expect(left).toMatchObject({ status: 200, body: { phase: 'RETURN' } });
    const verified = await phasegate(project, ['audit', 'verify', '--json'], { env });
    expect(verified.json).toMatchObject({ ok: true });
  });

  test('loses no event for those who watch: they go on at another node where they were', async () => {
    const { project, env, one, two, key } = await twoNodes(ERRAND, await freshSchema());
    await startIn(project, env);
    const token = await tokenOf(two, key, CLAIM);
    const [atOne, atTwo] = [await signIn(one.signIn), await signIn(two.signIn)];

    const first = watch(one, atOne, '0');
    for (let index = 0; index < 5; index++) await check(two, token);
    await expect.poll(() => judgedIn(first.ids)).toBe(5);
    one.kill('SIGTERM');
    await one.ended;
    await first.over;
    for (let index = 0; index < 5; index++) await check(two, token);
    const second = watch(two, atTwo, first.ids.at(-1)?.id ?? '');
    for (let index = 0; index < 5; index++) await check(two, token);
    await expect.poll(() => judgedIn(second.ids)).toBe(10);

    const all = watch(two, atTwo, '0');
    const seen = [...first.ids, ...second.ids].map(({ id }) => id);
    await expect.poll(() => all.ids.length).toBeGreaterThanOrEqual(seen.length);
    expect(seen).toEqual(all.ids.slice(0, seen.length).map(({ id }) => id));
    two.kill('SIGTERM');
    await Promise.all([second.over, all.over]);
  });
});

describe.runIf(FULL)('a node whose database is away', () => {
  test('is not ready and refuses with a time to come back, and goes on by itself when it is there again', async () => {
    const server = await startServer();
    atEndOfFile(() => server.remove());
    const { project, env, one, two, key } = await twoNodes(ERRAND, server.url());
    await startIn(project, env);
    const token = await tokenOf(one, key, CLAIM);
    const ready = async (node: Served) => (await node.send('GET', '/readyz')).status;
    expect(await Promise.all([ready(one), ready(two)])).toEqual([200, 200]);

    await server.stop();
    await expect.poll(() => Promise.all([ready(one), ready(two)])).toEqual([503, 503]);
    for (const node of [one, two]) {
      const refused = await fetch(`${node.url}/api/v1/tools/check`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(READ),
      });
      expect(refused.status).toBe(503);
      expect(refused.headers.get('retry-after')).toBe('1');
      expect(await refused.json()).toMatchObject({ error: 'store_unavailable' });
    }
    await server.start();
    await expect.poll(() => Promise.all([ready(one), ready(two)])).toEqual([200, 200]);

    expect([await check(one, token), await check(two, token)]).toEqual([200, 200]);
    const verified = await phasegate(project, ['audit', 'verify', '--json'], { env });
    expect(verified.json).toMatchObject({ ok: true });
  });
});

const READ = { tool: 'read_files', input: { path: 'agent_workflow.yaml' } };

async function check(node: Served, token: string): Promise<number> {
  return (await node.send('POST', '/api/v1/tools/check', { bearer: token, body: READ })).status;
}

interface Watched {
  readonly ids: { readonly id: string; readonly event: string }[];
  /** Settles when the stream has ended. */
  readonly over: Promise<void>;
}

function judgedIn(ids: Watched['ids']): number {
  return ids.filter(({ event }) => event === 'tool_judged').length;
}

/** Reads a node's events from the one after `last` on, as a browser does that comes back. */
function watch(node: Served, session: string, last: string): Watched {
  const ids: { id: string; event: string }[] = [];
  const parser = createParser({
    onEvent: ({ id = '', event = '' }) => void ids.push({ id, event }),
  });
  const read = async () => {
    const response = await fetch(`${node.url}/api/v1/events`, {
      headers: { authorization: `Bearer ${session}`, 'last-event-id': last },
    });
    expect(response.status).toBe(200);
    const text = new TextDecoder();
    for await (const chunk of response.body ?? []) parser.feed(text.decode(chunk, { stream: true }));
  };
  return { ids, over: read().catch(() => undefined) };
}

import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import type { JsonObject } from '@phasegate/core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { someOf } from '../../../../test/tier.ts';
import { type AttachedServersParts, attachServers } from './attachedServers.ts';
import { use, type Workspace, workspaceWith } from './fixtures/workspace.ts';

const SERVER = [
  process.execPath,
  new URL('./fixtures/downstreamServer.ts', import.meta.url).pathname,
] as const;

describe('a server that is started', () => {
  test('offers its tools under its name, and carries them out [adv.A5]', async () => {
    const { tools, call } = attach();

    expect((await tools()).map(({ name }) => name)).toEqual([
      'mcp:down/echo',
      'mcp:down/turn',
      'mcp:down/fail',
      'mcp:down/environment',
      'mcp:down/hang',
      'mcp:down/crash',
      'mcp:down/flood',
    ]);
    expect((await tools())[0]).toMatchObject({
      description: 'Says what it is told',
      input: { type: 'object', properties: { text: { type: 'string' } } },
    });
    expect(await call('echo', { text: 'hello' })).toMatchObject({
      ok: true,
      output: { content: [{ type: 'text', text: 'hello' }] },
    });
    expect(await call('fail', {})).toMatchObject({
      ok: false,
      output: { content: [{ type: 'text', text: 'it did not work' }] },
    });
  });

  test.each(someOf(['change-words', 'change-schema', 'change-hints', 'vanish'], { quick: 1, full: 4 }))(
    'is not called when its tool turns into another (%s) [adv.D7]',
    async (change) => {
      const { workspace, call } = attach();
      expect(await call('echo', { text: 'hello' })).toMatchObject({ ok: true });

      // The server reads it when it makes its tools, which a restart has it do.
      writeFileSync(join(workspace.root, change), '');
      await call('crash', {});

      expect(await call('echo', { text: 'hello' })).toMatchObject({
        ok: false,
        output: { error: 'tool_changed' },
      });
      expect(await call('fail', {})).toMatchObject({ output: { content: [{ text: 'it did not work' }] } });
    },
  );

  test('is not called when its tool turns into another while it runs [adv.D7]', async () => {
    const { call } = attach();
    expect(await call('echo', { text: 'hello' })).toMatchObject({ ok: true });

    await call('turn', {});

    expect(await call('echo', { text: 'hello' })).toMatchObject({
      ok: false,
      output: { error: 'tool_changed' },
    });
  });

  test('that crashes fails the call, and is started anew for the next', async () => {
    const { call } = attach();

    expect(await call('crash', {})).toMatchObject({ ok: false, output: { error: 'server_failed' } });
    expect(await call('echo', { text: 'back' })).toMatchObject({ ok: true });
  });

  test('that crashes is not started anew when it is no longer the one that was accepted [adv.Q2]', async () => {
    let same = true;
    const demandSame = () => {
      if (!same) throw new Error('it changed since it was accepted');
    };
    const { call } = attach({ demandSame });
    expect(await call('echo', { text: 'hello' })).toMatchObject({ ok: true });

    same = false;
    await call('crash', {});

    expect(await call('echo', { text: 'back' })).toMatchObject({
      ok: false,
      output: { error: 'server_failed', message: expect.stringContaining('changed since it was accepted') },
    });
  });

  test('that does not answer fails the call when the time is up, or the call is ended', async () => {
    const { call } = attach({ timeoutMs: 3000 });
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 50);

    expect(await call('hang', {}, controller.signal)).toMatchObject({
      ok: false,
      output: { error: 'server_failed' },
    });
    expect(await call('hang', {})).toMatchObject({ ok: false, output: { error: 'server_failed' } });
    expect(await call('echo', { text: 'still there' })).toMatchObject({ ok: true });
  });

  test('that answers too much is cut off', async () => {
    const { call } = attach();

    expect(await call('flood', {})).toMatchObject({ ok: false, output: { error: 'too_large' } });
  });

  test('sees nothing of our environment but what the config gives it', async () => {
    const env = { ...process.env, PHASEGATE_KEY: 'a-secret-of-ours', GITHUB_TOKEN: 'a-secret-of-ours' };
    const { call } = attach({ env, servers: { down: { command: [...SERVER], env: { GIVEN: 'yes' } } } });

    const text = JSON.stringify(await call('environment', {}));

    expect(text).not.toContain('a-secret-of-ours');
    expect(text).toContain('GIVEN');
  });

  test('that cannot be started offers nothing, says why, and hides no other', async () => {
    const { attached, tools } = attach({
      servers: { gone: { command: ['/no/such/program'] }, down: { command: [...SERVER] } },
    });

    expect((await tools()).every(({ name }) => name.startsWith('mcp:down/'))).toBe(true);
    expect(attached.trouble('mcp:gone/x')).toContain('`gone` did not answer');
    expect(attached.trouble('mcp:other/x')).toBe('no server `other` is attached');
    expect(attached.trouble('mcp:down/x')).toBeNull();
  });
});

describe('a server that hangs', () => {
  test('keeps nobody from the tools of the others, and is ended with them [adv.O6]', async () => {
    const workspace = workspaceWith();
    const pids = join(workspace.root, 'pids');
    const hanging = ['/bin/sh', '-c', `echo $$ >> ${pids}; exec sleep 600`] as const;
    const attached = attachServers({
      servers: { hangs: { command: [...hanging] }, down: { command: [...SERVER] } },
      workspace: workspace.root,
      env: process.env,
      patienceMs: 50,
    });
    attached.start();

    const names = async () => (await attached.attachedTools()).map(({ name }) => name);
    await expect.poll(names, { timeout: 30_000 }).toContain('mcp:down/echo');

    expect(attached.trouble('mcp:hangs/x')).toContain('`hangs` has not answered yet');
    // Started once, however often it was asked for.
    expect(readFileSync(pids, 'utf8').trim().split('\n')).toHaveLength(1);
    await attached.close();
    const pid = Number(readFileSync(pids, 'utf8'));
    await expect.poll(() => isAlive(pid), { timeout: 20_000 }).toBe(false);
  });
});

describe('a server at a URL', () => {
  test('gets its headers from the environment, and is not asked without them', async () => {
    const seen: (string | undefined)[] = [];
    const url = await served(seen);
    const server = { url, headers_from_env: { Authorization: 'DOWN_TOKEN' } };

    const { tools, call } = attach({ servers: { down: server }, env: { DOWN_TOKEN: 'Bearer abc' } });
    expect((await tools()).map(({ name }) => name)).toEqual(['mcp:down/add']);
    expect(await call('add', { a: 1, b: 2 })).toMatchObject({
      ok: true,
      output: { content: [{ text: '3' }] },
    });
    expect(new Set(seen)).toEqual(new Set(['Bearer abc']));

    const without = attach({ servers: { down: server }, env: {} });
    expect(await without.tools()).toEqual([]);
    expect(without.attached.trouble('mcp:down/add')).toContain('`DOWN_TOKEN`');
  });
});

function attach(parts: Partial<AttachedServersParts> = {}) {
  const workspace: Workspace = workspaceWith();
  const attached = attachServers({
    servers: { down: { command: [...SERVER] } },
    workspace: workspace.root,
    env: process.env,
    ...parts,
  });
  onTestFinished(() => attached.close());
  return {
    workspace,
    attached,
    tools: () => attached.attachedTools(),
    async call(name: string, input: JsonObject, signal?: AbortSignal) {
      const tool = (await attached.attachedTools()).find((one) => one.name === `mcp:down/${name}`);
      if (tool === undefined) throw new Error(`there is no ${name}`);
      return use(tool, workspace, input, signal === undefined ? {} : { signal });
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function served(seen: (string | undefined)[]): Promise<string> {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'remote', version: '1' });
    const inputSchema = z.object({ a: z.number(), b: z.number() });
    server.registerTool('add', { description: 'Adds', inputSchema }, async ({ a, b }) => ({
      content: [{ type: 'text', text: String(a + b) }],
    }));
    return server;
  });
  const http = createServer(async (incoming, outgoing) => {
    seen.push(incoming.headers.authorization);
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const headers = new Headers();
    for (const [name, value] of Object.entries(incoming.headers))
      if (typeof value === 'string') headers.set(name, value);
    const { method = 'GET' } = incoming;
    const request = new Request(`http://127.0.0.1${incoming.url}`, {
      method,
      headers,
      ...(method === 'POST' ? { body: Buffer.concat(chunks) } : {}),
    });
    const response = await handler.fetch(request);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.end(Buffer.from(await response.arrayBuffer()));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
}

import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from '@hono/node-server';
import { createRequestStateCodec, McpServer } from '@modelcontextprotocol/server';
import { Hono } from 'hono';
import { openLocalProject } from '../../packages/phasegate/src/localProject.ts';
import { CAPABILITIES, serveAgent } from '../../packages/phasegate/src/surfaces/mcp/buildMcpServer.ts';
import { createMcpFetchHandler } from '../../packages/phasegate/src/surfaces/mcp/createMcpFetchHandler.ts';
import type { McpParts } from '../../packages/phasegate/src/surfaces/mcp/tool.ts';
import { registerContentTools } from './fixtures/contentTools.ts';
import { registerPrompts, registerResources } from './fixtures/documents.ts';
import { registerRoundTripTools } from './fixtures/roundTripTools.ts';
import { registerTalkingTools } from './fixtures/talkingTools.ts';

/** A server under way. */
export interface FixtureServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Our HTTP stack on loopback, on a real project, with the suite's fixtures beside our own tools. */
export async function startFixtureServer(): Promise<FixtureServer> {
  const base = mkdtempSync(join(tmpdir(), 'phasegate-conformance-'));
  const root = mkdtempSync(join(base, 'project-'));
  writeFileSync(
    join(root, 'one.workflow.yaml'),
    'workflow: one\nphases: { A: { writes: [], next: null } }\n',
  );
  const project = await openLocalProject({ projectDir: root, env: { XDG_STATE_HOME: join(base, 'state') } });
  const open = await project.open();
  const phasegate = open.as({ kind: 'agent', name: 'conformance' });
  const { catalog, standards } = project;
  const states = createRequestStateCodec({ key: randomBytes(32), ttlSeconds: 600 });
  const handler = createMcpFetchHandler({
    serverFor: () => withFixtures({ phasegate, catalog, standards, version: '0.0.0' }, states),
    newSessionId: randomUUID,
  });
  const app = new Hono().all('/mcp', (context) => handler.fetch(context.req.raw));
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async close() {
      await handler.close();
      server.close();
      await standards.close();
      await open.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}

/** Everything an agent has, and the fixtures: the suite's checks run through both the same way. */
function withFixtures(parts: McpParts, states: ReturnType<typeof createRequestStateCodec>): McpServer {
  const server = new McpServer(
    { name: 'phasegate', version: parts.version },
    { capabilities: CAPABILITIES, requestState: { verify: states.verify } },
  );
  serveAgent(server, parts);
  registerContentTools(server);
  registerTalkingTools(server);
  registerRoundTripTools(server, states);
  registerResources(server);
  registerPrompts(server);
  return server;
}

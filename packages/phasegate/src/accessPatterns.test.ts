import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { JsonObject } from '@phasegate/core';
import { expect, onTestFinished, test } from 'vitest';
import { openLocalServer } from './localServer.ts';
import { openTestProject } from './runtime/fixtures/openTestProject.ts';
import type { AgentPrincipal } from './runtime/ports.ts';

const REVIEW = `
workflow: review
title: Review
phases:
  READ: { instructions: Read the plan, allowed_tools: [read_files, write_files], writes: ["notes/**"] }
  JUDGE: { instructions: Judge it }
`;
const ADA: AgentPrincipal = { kind: 'agent', name: 'ada' };

test('conventions, files, resources, workflows and step data: each has one way to it, and an agent has all five [S4.31]', async () => {
  const { project, server } = await served();
  const { view } = await server.open.as(ADA).start({ workflow: 'review', queue: true });
  const run = String(view?.run);
  const { token } = await server.open.claims.claimRun(run, ADA, []);
  const { client, call } = await clientOf(server.url, token);
  const admitted = await server.open.claims.admit(token);

  const conventions = await call('search_standards', { query: 'naming of branches' });
  const files = await server.open.toolbox.execute(admitted, [
    { tool: 'read_files', input: { path: 'plan.md' } },
    { tool: 'write_files', input: { path: 'notes/a.md', content: 'seen' } },
    { tool: 'write_files', input: { path: 'plan.md', content: 'mine' } },
  ]);
  const { contents } = await client.readResource({ uri: `phasegate://runs/${run}/phase` });
  const workflows = await project.catalog.list();
  const step = await call('get_current_phase');

  expect(JSON.stringify(conventions)).toContain('Branches are named after the issue');
  expect(JSON.stringify(files[0]?.result)).toContain('The plan itself');
  expect(files.map(({ verdict }) => verdict.allowed)).toEqual([true, true, false]);
  expect(JSON.stringify(contents)).toContain('Read the plan');
  expect(workflows.map(({ id }) => id)).toEqual(['review']);
  expect(step).toMatchObject({ phase: 'READ', phase_content: expect.stringContaining('Read the plan') });
});

async function served() {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'phasegate-access-'));
  const root = join(base, 'project');
  mkdirSync(join(root, 'standards'), { recursive: true });
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const files = {
    'agent_workflow.yaml': REVIEW,
    'phasegate.config.json': JSON.stringify({ docs: ['standards/**/*.md'] }),
    'standards/branches.md': '# Naming of branches\n\nBranches are named after the issue they are for.\n',
    'plan.md': 'The plan itself\n',
  };
  for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text);
  const project = await openTestProject({
    projectDir: root,
    env: { HOME: base, XDG_STATE_HOME: join(base, 'state') },
  });
  const server = await openLocalServer({ project, port: 0, log: () => undefined });
  onTestFinished(() => server.close());
  return { project, server };
}

async function clientOf(url: string, token: string) {
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  onTestFinished(() => client.close());
  return {
    client,
    call: async (name: string, args: JsonObject = {}) =>
      (await client.callTool({ name, arguments: { ...args } })).structuredContent as JsonObject,
  };
}

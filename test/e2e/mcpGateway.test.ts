import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { makeProject, phasegate, startRun } from './cli.ts';
import { withServer } from './mcpClient.ts';

const SERVER = fileURLToPath(
  new URL('../../packages/phasegate/src/tools/fixtures/downstreamServer.ts', import.meta.url),
);
const LAB = `workflow: lab
phases:
  A: { allowed_tools: [read_files] }
  B: { allowed_tools: ["mcp:notes/echo"] }
`;

test('tools of attached servers are listed whole by `phasegate mcp`, and judged at each call by the phase', async () => {
  const project = makeProject({
    'lab.workflow.yaml': LAB,
    'phasegate.config.json': JSON.stringify({ servers: { notes: { command: [process.execPath, SERVER] } } }),
  });
  await withServer(project, async ({ client }) => {
    const names = async () => (await client.listTools()).tools.map(({ name }) => name);
    const echo = async () => {
      const answer = await client.callTool({ name: 'notes__echo', arguments: { text: 'hello' } });
      return JSON.stringify(answer.content);
    };
    const listed = await names();
    expect(listed).toEqual(expect.arrayContaining(['start_workflow', 'notes__echo']));
    expect(await echo()).toContain('no_run');

    const run = await startRun(project, 'lab');
    expect(await echo()).toContain('tool_not_allowed');
    await phasegate(project, ['done', run, '--evidence', '-'], { stdin: '{}' });
    const allowed = await echo();
    expect(allowed).toContain('hello');
    expect(allowed).toContain('receipt');
    // The list does not vary with the phase: the protocol forbids it.
    expect(await names()).toEqual(listed);

    await phasegate(project, ['done', run, '--evidence', '-'], { stdin: '{}' });
    expect(await echo()).toContain('no_run');
  });
});

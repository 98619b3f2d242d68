import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createBubblewrap } from '../../packages/phasegate/src/sandbox/bubblewrap.ts';
import { folderWith, SANDBOXES, scopeOf } from '../../packages/phasegate/src/sandbox/fixtures/enclosing.ts';
import { attachServers } from '../../packages/phasegate/src/tools/attachedServers.ts';

/** The least that is an MCP server; its tool writes into the workspace it was started in. */
const SERVER = `
const { writeFileSync } = require('node:fs');
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }),
  'tools/list': () => ({ tools: [{ name: 'write', description: 'writes', inputSchema: { type: 'object' } }] }),
  'tools/call': () => {
    let text = 'written';
    try { writeFileSync('planted', 'x'); } catch (error) { text = error.code; }
    return { content: [{ type: 'text', text }] };
  },
};
let rest = '';
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\\n');
  rest = lines.pop();
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) continue;
    const result = answers[method]?.(params);
    const reply = result === undefined ? { error: { code: -32601, message: 'unknown' } } : { result };
    process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...reply }) + '\\n');
  }
});
`;

test.runIf(SANDBOXES).each([
  [true, 'EROFS'],
  [false, 'written'],
])(
  'an attached server in a sandbox (bubblewrap: %s) writes nothing of the workspace; a held run has no other',
  async (held, said) => {
    const workspace = folderWith({ 'server.cjs': SERVER });
    const sandbox = createBubblewrap(async () => ({
      hidden: [],
      read: [],
      write: [],
      hosts: [],
      home: '/root',
    }));
    const servers = attachServers({
      servers: { own: { command: [process.execPath, 'server.cjs'] } },
      workspace,
      env: { PATH: '/usr/bin:/bin' },
      enclose: async () => (held ? (program) => sandbox.enclose(program, scopeOf(workspace, [])) : null),
    });
    onTestFinished(() => servers.close());

    const [tool] = await servers.attachedTools();
    const context = {
      workspace,
      mayWrite: () => true,
      mayRead: () => true,
      signal: new AbortController().signal,
      environment: {},
    };
    const inHeldRun = await tool?.run({}, { ...context, enclose: () => expect.fail('nothing is started') });
    const called = await tool?.run({}, context);

    const refused = { ok: false, output: { error: 'sandbox_unavailable' } };
    expect(inHeldRun).toMatchObject(held ? { ok: true } : refused);

    expect(called).toMatchObject({ ok: true, output: { content: [{ text: said }] } });
    expect(existsSync(join(workspace, 'planted'))).toBe(!held);
  },
);

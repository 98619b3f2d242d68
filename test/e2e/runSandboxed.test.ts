import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findBubblewrap } from '../../packages/phasegate/src/sandbox/bubblewrapState.ts';
import { asProcess, makeProject, phasegate } from './cli.ts';
import { SPEAK_MCP } from './speakMcp.ts';

const { works } = (await findBubblewrap()).state;

const WORKFLOW = `workflow: held
enforcement: { ring: sandboxed }
phases:
  WRITE:
    instructions: Write src/.
    writes: ["src/**"]
    gate:
      blockers:
        - { check: files, with: { non_empty: ["src/b.ts"] }, message: src/b.ts is not written }
`;

/** An agent as a client would be: it speaks MCP with the program that it is named, and tries what it may not. */
const AGENT = `
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync, existsSync } from 'node:fs';
const said = {};
for (const path of ['src/b.ts', 'plan.md', 'agent.mjs']) {
  try { writeFileSync(path, 'by the agent'); said[path] = 'written'; } catch (error) { said[path] = error.code; }
}
said.state = ['keys.json', 'state.db'].some((name) => existsSync(process.argv[2] + '/' + name));
said.law = readFileSync('held.workflow.yaml', 'utf8');
said.prompt = readFileSync(process.env.PHASEGATE_PROMPT, 'utf8').includes('Write src/');
for (const [name, url] of [['named', process.argv[3]], ['other', process.argv[4]], ['machine', 'http://127.0.0.1:' + process.argv[5]]]) {
  said[name] = await fetch(url).then((r) => r.text(), (e) => e.cause?.code ?? e.cause?.message ?? e.message);
}
${SPEAK_MCP}const tools = (await ask('tools/list', {})).result.tools.map((tool) => tool.name);
writeFileSync('src/said.json', JSON.stringify({ ...said, tools }));
const done = await ask('tools/call', { name: 'complete_phase', arguments: { session_id: process.env.PHASEGATE_RUN, phase: 'WRITE', evidence: {} } });
writeFileSync('src/said.json', JSON.stringify({ ...said, tools, done }));
process.exit(0);
`;

const files = { 'held.workflow.yaml': WORKFLOW, 'agent.mjs': AGENT, 'plan.md': 'the plan' };

describe.runIf(works)('a whole client in a sandbox (bubblewrap)', () => {
  test('writes its scope, reaches the engine by MCP and named hosts, and nothing else [adv.A1 adv.A9 adv.H8]', async () => {
    const { certificate, key } = await selfSigned();
    const server = createServer({ cert: certificate, key }, (_, response) => response.end('hello'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const project = makeProject({
      ...files,
      'phasegate.config.yaml': `sandbox: { hosts: ["localhost:${port}"] }\n`,
    });
    const words = [project.stateDir, `https://localhost:${port}/`, `https://example.org/`, String(port)];
    const agent = [process.execPath, 'agent.mjs', ...words].join(' ');

    const driven = await asProcess(project, ['run', 'held', '--sandbox', '--json', '--agent', agent], {
      env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
    });

    const said = JSON.parse(readFileSync(join(project.root, 'src/said.json'), 'utf8'));
    expect(said).toMatchObject({
      'src/b.ts': 'written',
      'plan.md': 'EROFS',
      'agent.mjs': 'EROFS',
      state: false,
      law: '',
      prompt: true,
      named: 'hello',
      machine: 'ECONNREFUSED',
    });
    expect(said.other).not.toBe('hello');
    expect(said.tools).toContain('complete_phase');
    expect([driven.code, driven.json.outcome]).toEqual([0, 'completed']);
    const shown = await phasegate(project, ['status', String(driven.json.run), '--json']);
    expect(shown.json.ring).toBe('sandboxed');
  });
});

test('a workflow that needs the ring `sandboxed` does not start below it, and it is said what to do', async () => {
  const project = makeProject(files);

  const started = await phasegate(project, ['start', 'held', '--json']);
  const driven = await phasegate(project, ['run', 'held', '--json']);

  for (const { code, stdout } of [started, driven]) {
    expect(code).toBe(1);
    expect(stdout).toContain('ring_too_low');
    expect(stdout).toContain('phasegate run held --sandbox');
  }
  expect(existsSync(join(project.root, 'src'))).toBe(false);
});

/** A certificate for this test alone. */
async function selfSigned(): Promise<{ readonly certificate: string; readonly key: string }> {
  const { execFileSync } = await import('node:child_process');
  const { base } = makeProject();
  const [key, certificate] = [join(base, 'key.pem'), join(base, 'cert.pem')];
  const words = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  execFileSync(
    'openssl',
    [...words, '-keyout', key, '-out', certificate, '-subj', '/CN=localhost', '-days', '1'],
    { stdio: 'ignore' },
  );
  return { certificate: readFileSync(certificate, 'utf8'), key: readFileSync(key, 'utf8') };
}

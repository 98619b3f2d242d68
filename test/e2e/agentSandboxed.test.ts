import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { findBubblewrap } from '../../packages/phasegate/src/sandbox/bubblewrapState.ts';
import { FULL } from '../tier.ts';
import { makeProject, phasegate, startRun, type TestProject } from './cli.ts';
import { serve } from './server.ts';
import { SPEAK_MCP } from './speakMcp.ts';

const { works } = (await findBubblewrap()).state;
const tmuxInstalled = spawnSync('tmux', ['-V']).status === 0;
const tmuxFolders: string[] = [];

afterAll(() => {
  for (const TMUX_TMPDIR of tmuxFolders)
    spawnSync('tmux', ['kill-server'], { env: { PATH: process.env.PATH, TMUX_TMPDIR } });
});

const WORKFLOW = `workflow: held
enforcement: { ring: sandboxed }
phases:
  ONE:
    instructions: Write one/.
    writes: ["one/**"]
  TWO:
    instructions: Write two/.
    writes: ["two/**"]
`;

/** Tries both scopes in each phase, completes its own, then stays and tries to complete the next as well. */
const AGENT = `
import { spawn } from 'node:child_process';
import { writeFileSync, readFileSync } from 'node:fs';
const said = { key: process.env.PHASEGATE_KEY ?? null, credentials: null };
try { said.credentials = readFileSync(3, 'utf8'); } catch { said.credentials = 'none'; }
for (const folder of ['one', 'two', '.']) {
  try { writeFileSync(folder + '/x', 'x'); said[folder] = 'written'; } catch (error) { said[folder] = error.code; }
}
const here = said.one === 'written' ? 'one' : 'two';
${SPEAK_MCP}writeFileSync(here + '/said.json', JSON.stringify(said));
const complete = (phase) => ask('tools/call', { name: 'complete_phase', arguments: { session_id: process.env.PHASEGATE_RUN, phase, evidence: {} } });
await complete(here.toUpperCase());
await ask('tools/call', { name: 'get_current_phase', arguments: { session_id: process.env.PHASEGATE_RUN } });
await complete('TWO');
setInterval(() => undefined, 1000);
`;

const files = { 'held.workflow.yaml': WORKFLOW, 'agent.mjs': AGENT };
const words = ['agent', 'start', '--json'];
const agent = ['--', process.execPath, 'agent.mjs'];

describe.runIf(works)('an agent that works through several phases (bubblewrap)', () => {
  test('is in the sandbox of each phase, without a key, and ends with it [adv.A1 adv.H8]', async () => {
    const project = makeProject(files);
    await serve(project);
    const run = await startRun(project, 'held', ['--queue']);

    const shown = await phasegate(project, ['status', run, '--json']);
    const claimed = await phasegate(project, ['claim', '--json']);
    const outside = await phasegate(project, [...words, run, ...agent]);
    const ended = await phasegate(project, [...words, '--sandbox', ...agent]);

    expect(shown.json.ring).toBe('sandboxed');
    expect([claimed.code, claimed.json.run]).toEqual([1, null]);
    expect([outside.code, outside.json.error]).toEqual([1, 'not_permitted']);
    expect(outside.json.message).toContain(`phasegate agent start ${run} --sandbox`);
    expectHeld(project, { run, ended });
  });

  test.runIf(FULL && tmuxInstalled)('is held in a terminal of tmux too', async () => {
    const project = makeProject(files);
    tmuxFolders.push(project.base);
    await serve(project);
    const run = await startRun(project, 'held', ['--queue']);

    const ended = await phasegate(project, [...words, '--adapter', 'tmux', '--sandbox', ...agent], {
      env: { TMUX_TMPDIR: project.base, SHELL: '/bin/sh', TERM: 'xterm' },
    });

    expectHeld(project, { run, ended });
  });
});

function expectHeld(
  project: TestProject,
  { run, ended }: { readonly run: string; readonly ended: Awaited<ReturnType<typeof phasegate>> },
): void {
  expect(ended.json).toMatchObject({ run, outcome: 'completed', starts: 2 });
  const said = (folder: string) =>
    JSON.parse(readFileSync(join(project.root, folder, 'said.json'), 'utf8')) as unknown;
  expect(said('one')).toEqual({
    key: null,
    credentials: 'none',
    one: 'written',
    two: 'ENOENT',
    '.': 'EROFS',
  });
  expect(said('two')).toEqual({ key: null, credentials: 'none', one: 'EROFS', two: 'written', '.': 'EROFS' });
  expect(existsSync(join(project.root, 'x'))).toBe(false);
  expect(readdirSync(join(project.root, 'one')).sort()).toEqual(['said.json', 'x']);
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@phasegate/core';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeProject, phasegate, startRun, type TestProject, withListed, withShown } from './cli.ts';
import { withServer } from './mcpClient.ts';
import { type Answer, type Served, serve, sessionFrom } from './server.ts';

/** In parts, so that no tool that looks for keys finds one here. */
const KEY = `sk-ant-api03-${'a1B'.repeat(20)}`;
const SECRET = { passphrase: 'correct horse battery' };
const MASK = /masked-[0-9a-f]{16}/;
const WORKFLOW = `workflow: deploy
params: { at: { type: string, default: here } }
phases:
  WRITE:
    instructions: Write to {{params.at}}.
    writes: ["out/**"]
    gate:
      human:
        prompt: Publish?
        options: [{ label: Publish }, { label: Rework, next: WRITE, requires_input: true }, { label: Drop, next: null }]
`;

let project: TestProject;
let server: Served;
let run: string;
let maria: string;
/** What each surface says while the run waits at its gate, and when it was stopped. */
const said = new Map<string, string>();

beforeAll(async () => {
  project = makeProject({ 'deploy.workflow.yaml': WORKFLOW });
  await phasegate(project, ['humans', 'add', 'maria'], { newPassphrase: SECRET.passphrase });
  await phasegate(project, ['trust', 'deploy', '--yes'], SECRET);
  server = await serve(project);
  maria = await sessionFrom(server.url, { name: 'maria', passphrase: SECRET.passphrase });

  run = await startRun(project, 'deploy', [`the goal ${KEY}`]);
  const questions = [{ text: 'Which?', options: ['a', 'b'] }];
  await did(['ask', run, '-'], { stdin: JSON.stringify(questions) });
  await did(['answer', run, '--question', '1', '--text', `the answer ${KEY}`], SECRET);
  await did(['blocked', run, '--reason', 'no key']);
  await did(['resume', run, '--note', `the note ${KEY}`], SECRET);
  await look('while it is worked on');
  const state = await withServer(project, ({ call }) => call('get_current_phase', { session_id: run }));
  said.set('MCP get_current_phase', JSON.stringify(state));
  project.write('stray.md', 'x');
  const accept = ['fence', run, 'accept', 'stray.md', '--reason', `the change ${KEY}`];
  await did(await withListed(project, accept), SECRET);
  await did(['done', run]);
  const rework = ['decide', run, '--option', 'Rework', '--input', `the input ${KEY}`];
  await did(await withShown(project, rework), SECRET);
  await did(['done', run]);
  await did(['pause', '--reason', `the pause ${KEY}`], SECRET);
  await look('at the gate');
  const stopped = await rest('POST', `/runs/${run}/stop`, { reason: `the stop ${KEY}` });
  expect(stopped.status).toBe(200);
  await look('when it was stopped');
}, 120_000);

async function did(words: readonly string[], given: object = {}): Promise<void> {
  const { code, stdout, stderr } = await phasegate(project, words, given);
  if (code !== 0) throw new Error(`${words[0]}: ${stdout}${stderr}`);
}

function rest(method: string, path: string, body?: JsonObject): Promise<Answer> {
  return server.send(method, `/api/v1${path}`, { bearer: maria, ...(body === undefined ? {} : { body }) });
}

async function look(when: string): Promise<void> {
  for (const words of [['status', run], ['status', run, '--json'], ['next', run], ['runs'], ['status']]) {
    const { stdout, stderr } = await phasegate(project, words);
    said.set(`${words.join(' ').replace(run, 'RUN')} ${when}`, stdout + stderr);
  }
  for (const path of [
    '/runs',
    `/runs/${run}`,
    `/runs/${run}/gate`,
    `/runs/${run}/events`,
    '/state/snapshot',
  ]) {
    said.set(`GET ${path.replace(run, 'RUN')} ${when}`, JSON.stringify((await rest('GET', path)).body));
  }
}

test('nothing that anyone is shown, told or that is kept has the secret in it', async () => {
  const kept = ['state.db', 'state.db-wal'].map((name) => contentOf(join(project.stateDir, name))).join('');

  for (const [surface, text] of said) expect(text.includes(KEY), surface).toBe(false);
  expect(await exported()).not.toContain(KEY);
  expect(kept).not.toContain(KEY);
  expect((await phasegate(project, ['audit', 'verify'])).code).toBe(0);
});

test.each(['goal', 'answer', 'note', 'change', 'input', 'pause', 'stop'])(
  'the %s is in the audit with a mask in it',
  async (place) => {
    expect(await exported()).toMatch(new RegExp(`the ${place} ${MASK.source}`));
  },
);

test.each([
  ['goal', 'status RUN while it is worked on'],
  ['goal', 'status RUN --json at the gate'],
  ['goal', 'next RUN at the gate'],
  ['goal', 'GET /runs/RUN at the gate'],
  ['goal', 'GET /runs/RUN/gate at the gate'],
  ['goal', 'MCP get_current_phase'],
  ['answer', 'MCP get_current_phase'],
  ['answer', 'next RUN while it is worked on'],
  ['note', 'next RUN while it is worked on'],
  ['input', 'GET /runs/RUN/events at the gate'],
  ['change', 'GET /runs/RUN/events at the gate'],
  ['stop', 'status RUN when it was stopped'],
  ['stop', 'GET /runs/RUN when it was stopped'],
])('the %s is shown with a mask in it: %s', (place, surface) => {
  expect(said.get(surface)).toMatch(new RegExp(`the ${place} ${MASK.source}`));
});

describe('a secret that the engine would decide on', () => {
  test.each([
    {
      where: 'param `at`',
      words: ['--param', `at=${KEY}`],
      body: { params: { at: KEY } },
      args: { options: { at: KEY } },
    },
    { where: 'the target', words: ['--target', KEY], body: { target: KEY }, args: { target_file: KEY } },
  ])(
    'is refused in $where, by its name, on every surface, and is kept nowhere',
    async ({ where, words, body, args }) => {
      const before = (await rest('GET', '/runs')).body;

      const cli = await phasegate(project, ['start', 'deploy', ...words, '--json']);
      const http = await rest('POST', '/runs', { workflow: 'deploy', ...body });
      const mcp = await withServer(project, ({ call }) =>
        call('start_workflow', { workflow_type: 'deploy', ...args }),
      );

      for (const answer of [cli.json, http.body, mcp]) {
        expect(answer).toMatchObject({ error: 'param_invalid' });
        expect(JSON.stringify(answer)).toContain(`${where} looks like a secret`);
        expect(JSON.stringify(answer)).not.toContain(KEY);
      }
      expect([cli.code, http.status]).toEqual([1, 409]);
      expect((await rest('GET', '/runs')).body).toEqual(before);
      expect(await exported()).not.toContain(KEY);
    },
  );
});

async function exported(): Promise<string> {
  return (await phasegate(project, ['audit', 'export', '--as', 'maria'], SECRET)).stdout;
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

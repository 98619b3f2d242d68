import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { FULL } from '../tier.ts';
import { makeProject, PROGRAM, phasegate, TESTED, type TestProject, withShown } from './cli.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SECRET = { passphrase: 'open sesame' };
/** What an agent does that does what it is told, with the project's own tests. */
const WORK = `import { writeFileSync } from 'node:fs';

const run = { command: 'npm test', total: 1, passed: 0, failed: 1, skipped: 0 };
const green = { ...run, passed: 1, failed: 0 };
const plan = { summary: 'a greeting for everyone', scope: ['src/greet.js', 'test/greet.test.js'],
  acceptance_criteria: [{ id: 'AC-1', text: 'it greets everyone' }] };
const review = { decision: 'approved', summary: 'it greets everyone as planned', files_read: ['src/greet.js'], findings: [] };
const EVIDENCE = {
  PLAN: () => ({ plan }),
  TDD: () => write('test/greet.test.js', 'import "../src/greet.js";') && {
    tests: [{ name: 'greets', file: 'test/greet.test.js', criterion: 'AC-1' }], test_run_result: run },
  IMPL: () => write('src/greet.js', 'console.log("hello");') && {
    changes: ['src/greet.js'], test_run_result: green, commands_executed: ['npm test'] },
  REVIEW: () => ({ review }),
  COMPLETE: () => ({ report: { summary: 'a greeting was made for all', follow_ups: [] } }),
};
const TASKS = { PLAN: [1, 2], REVIEW: [1] };
const write = (path, text) => [writeFileSync(path, text)];
`;
/** All that is written by the one who tries it: that work, handed in with the SDK. */
const AGENT = `${WORK}import { connectFromEnvironment } from '@phasegate/sdk';

const agent = connectFromEnvironment();
let { phase, status } = await agent.getPhase();
while (phase !== null && status === 'active') {
  for (const task of TASKS[phase] ?? []) await agent.getTask(phase, task);
  ({ phase, status } = await agent.requestTransition(undefined, EVIDENCE[phase]()));
}
`;
/** That work for one phase, handed in by commands, as a client does that Phasegate starts. */
const STARTED = `${WORK}import { execFileSync } from 'node:child_process';

const { PHASEGATE_STEP: phase } = process.env;
const phasegate = (words, input) => execFileSync('phasegate', words, { input });
for (const task of TASKS[phase] ?? []) phasegate(['task', phase, String(task)]);
phasegate(['done', '--evidence', '-'], JSON.stringify(EVIDENCE[phase]()));
`;
const servers: ReturnType<typeof shell>[] = [];

afterAll(async () => {
  for (const { child, ended } of servers) {
    child.kill('SIGTERM');
    await ended;
  }
});

test('the few lines of the README are all it takes: no YAML to write, no server to configure [fail.44]', async () => {
  const [lines = []] = blocksUnder('## Run many');
  const [serve = '', add = '', start = '', agent = ''] = lines;
  expect(lines).toHaveLength(4);
  expect(AGENT.split('\n').length).toBeLessThan(30);
  const project = makeProject({ ...TESTED, 'src/.keep': '', 'test/.keep': '' });
  const env = tools(project, AGENT);
  const port = await freePort();

  await phasegate(project, ['init', '--name', 'maria', '--port', String(port)], SECRET);
  const server = shell(project, serve, env);
  servers.push(server);
  await server.says('serving at');
  // Where a human is set up, keys are made by that human.
  expect(await shell(project, `${add} --passphrase-fd 3 3<secret`, env).ended).toBe(0);
  const queued = shell(project, start, env);
  expect(await queued.ended).toBe(0);
  const run = /run-\w+/.exec(queued.text())?.[0] ?? '';

  expect(await shell(project, agent, env).ended).toBe(0);
  expect(await statusOf(project, run)).toMatchObject({ status: 'waiting', phase: 'PLAN' });
  await phasegate(project, await withShown(project, ['decide', run, '--option', 'Approve']), SECRET);
  const second = shell(project, agent, env);
  const code = await second.ended;
  expect(code, second.text()).toBe(0);

  expect(await statusOf(project, run)).toMatchObject({ status: 'completed', progress: { completed: 5 } });
  expect((await phasegate(project, ['audit', 'verify'])).code).toBe(0);
});

test('the README holds an agent in an empty project, from `init` to the audit, and proves the workflow', async () => {
  const [[init = '', start = '', ...looks] = []] = blocksUnder('## Hold your agent');
  const [[list = '', another = ''] = [], proofs = []] = blocksUnder('## Write a workflow');
  const project = makeProject({ ...TESTED, 'src/.keep': '', 'test/.keep': '' });
  const env = tools(project, STARTED);
  const ends = async (line: string) => {
    const called = shell(project, line, env);
    expect(await called.ended, `${line}\n${called.text()}`).toBe(0);
    return called.text();
  };

  await ends(`${init} --name maria --passphrase-fd 3 3<secret`);
  const paused = await ends(start);
  const run = /run-\w+/.exec(paused)?.[0] ?? '';
  expect(paused).toContain(`phasegate decide ${run}`);
  await phasegate(project, await withShown(project, ['decide', run, '--option', 'Approve']), SECRET);
  await ends(`phasegate run ${run} --agent claude`);

  expect(await statusOf(project, run)).toMatchObject({
    status: 'completed',
    goal: 'add a subtract function',
  });
  expect(looks).toEqual(['phasegate runs', 'phasegate audit verify']);
  for (const line of [...looks, list]) await ends(line);
  await ends(`${another} --passphrase-fd 3 3<secret`);
  expect(proofs).toHaveLength(7);
  // Contract tests of `tdd` run the project's tests again and again.
  const slow = FULL ? /^$/ : /^phasegate (?:test|coverage) /;
  for (const line of proofs.filter((proof) => !slow.test(proof))) await ends(line);
});

/** The commands of every block under a heading, without what they say about themselves. */
function blocksUnder(heading: string): readonly (readonly string[])[] {
  const [, after = ''] = readFileSync(join(ROOT, 'README.md'), 'utf8').split(`\n${heading}\n`);
  const [section = ''] = after.split(/^## /m);
  return [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) =>
    block
      .trim()
      .split('\n')
      .map((line) => line.replace(/ +#.*$/, '')),
  );
}

/** What is installed: the command, the SDK, and an agent that stands in for the client the README names. */
function tools({ base, root, env }: TestProject, agent: string): Readonly<Record<string, string>> {
  const bin = join(base, 'bin');
  mkdirSync(bin);
  for (const [name, program] of [
    ['phasegate', PROGRAM],
    ['claude', join(root, 'agent.mjs')],
  ] as const) {
    writeFileSync(join(bin, name), `#!/bin/sh\nexec ${process.execPath} ${program} "$@"\n`);
    chmodSync(join(bin, name), 0o755);
  }
  writeFileSync(join(root, 'agent.mjs'), agent);
  writeFileSync(join(root, 'secret'), SECRET.passphrase);
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  return { ...env, PATH: `${bin}:${env.PATH}` };
}

function shell({ root }: TestProject, line: string, env: Readonly<Record<string, string>>) {
  const child = spawn('/bin/sh', ['-c', `exec ${line}`], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const heard = new EventTarget();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      heard.dispatchEvent(new Event('text'));
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  return {
    child,
    ended,
    text: () => text,
    async says(words: string) {
      while (!text.includes(words)) {
        const over = await Promise.race([once(heard, 'text').then(() => false), ended.then(() => true)]);
        if (over) throw new Error(`it ended: ${text}`);
      }
    },
  };
}

async function statusOf(project: TestProject, run: string) {
  return (await phasegate(project, ['status', run, '--json', '--as', 'maria'], SECRET)).json;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { freePort } from '../freePort.ts';
import { FULL } from '../tier.ts';
import { makeProject, PROGRAM, phasegate, TESTED, type TestProject, withShown } from './cli.ts';
import { AGENT, blocksUnder, STARTED, shell } from './readmeWalk.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SECRET = { passphrase: 'open sesame' };
const servers: ReturnType<typeof shell>[] = [];

afterAll(async () => {
  for (const { child, ended } of servers) {
    child.kill('SIGTERM');
    await ended;
  }
});

test.runIf(FULL)(
  'the few lines of the README are all it takes: no YAML to write, no server to configure [fail.44]',
  async () => {
    const [lines = []] = blocksUnder('## Run many');
    const [serve = '', add = '', start = '', agent = ''] = lines;
    expect(lines).toHaveLength(4);
    expect(AGENT.split('\n').length).toBeLessThan(30);
    const project = makeProject({ ...TESTED, 'src/.keep': '', 'test/.keep': '' });
    const env = tools(project, AGENT);
    const port = await freePort();

    await phasegate(project, ['init', '--name', 'maria', '--port', String(port)], SECRET);
    const server = shell(project.root, serve, env);
    servers.push(server);
    await server.says('serving at');
    // Where a human is set up, keys are made by that human.
    expect(await shell(project.root, `${add} --passphrase-fd 3 3<secret`, env).ended).toBe(0);
    const queued = shell(project.root, start, env);
    expect(await queued.ended).toBe(0);
    const run = /run-\w+/.exec(queued.text())?.[0] ?? '';

    expect(await shell(project.root, agent, env).ended).toBe(0);
    expect(await statusOf(project, run)).toMatchObject({ status: 'waiting', phase: 'PLAN' });
    await phasegate(project, await withShown(project, ['decide', run, '--option', 'Approve']), SECRET);
    const second = shell(project.root, agent, env);
    const code = await second.ended;
    expect(code, second.text()).toBe(0);

    expect(await statusOf(project, run)).toMatchObject({ status: 'completed', progress: { completed: 5 } });
    expect((await phasegate(project, ['audit', 'verify'])).code).toBe(0);
  },
);

test.runIf(FULL)(
  'the README holds an agent in an empty project, from `init` to the audit, and proves the workflow',
  async () => {
    const [[init = '', start = '', ...looks] = []] = blocksUnder('## Hold your agent');
    const [[list = '', another = ''] = [], proofs = []] = blocksUnder('## Write a workflow');
    const project = makeProject({ ...TESTED, 'src/.keep': '', 'test/.keep': '' });
    const env = tools(project, STARTED);
    const ends = async (line: string) => {
      const called = shell(project.root, line, env);
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
  },
);

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

async function statusOf(project: TestProject, run: string) {
  return (await phasegate(project, ['status', run, '--json', '--as', 'maria'], SECRET)).json;
}

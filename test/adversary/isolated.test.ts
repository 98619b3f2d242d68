import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PROGRAM } from '../e2e/cli.ts';
import { PROGRAMS } from '../programs.ts';
import { FULL } from '../tier.ts';
import { ISOLATED_ROWS } from './isolatedRows.ts';

const HERE = await (async () => {
  const needed = PROGRAMS.filter(({ name }) => name === 'uidmap' || name === 'bubblewrap');
  for (const { trouble } of needed) if ((await trouble()) !== null) return false;
  return true;
})();

const WORKFLOW = `
workflow: errand
enforcement: { ring: isolated }
gates:
  ok: { human: { prompt: "Fine?", options: [{ label: "Approve", next: END }] } }
phases:
  GO:
    instructions: Write src/done.txt
    allowed_tools: [read_files, write_files, bash, git]
    writes: ["src/**"]
    postconditions:
      - { check: command, with: { argv: [test, -f, src/done.txt] } }
    gates: [ok]
  END: { instructions: Stop, allowed_tools: [read_files] }
`;
const PROOF = `
workflow: proof
enforcement: { ring: isolated }
phases:
  SEEN:
    instructions: Nothing to do
    writes: []
    postconditions:
      - { name: seen, check: command, with: { argv: [/bin/sh, -c, "test $(id -un) = CHECKS"] }, verify: true, needs: observed }
  PROVEN:
    instructions: Nothing to do
    writes: []
    postconditions:
      - { name: proven, check: command, with: { argv: [/bin/true] }, needs: verified }
`;
const PASSPHRASE = 'correct horse battery staple';
// Names that no other test run has, short enough for any system.
const MARK = `pg${process.pid.toString(36)}`;
const [ADA, BOB, ENGINE, CHECK, GROUP] = ['a', 'b', 'e', 'c', 'g'].map((role) => `${MARK}${role}`) as [
  string,
  string,
  string,
  string,
  string,
];

describe.runIf(FULL && HERE)('in the ring `isolated` (uidmap)', () => {
  const base = join(realpathSync(tmpdir()), MARK);
  const workspace = join(base, 'work', 'errand');
  const folder = join(base, 'isolated', 'errand');
  const place = ['--workspace', workspace, '--base', join(base, 'isolated')];
  const roles = ['--engine-user', ENGINE, '--check-user', CHECK, '--group', GROUP];
  const socketOf = (user: string) => join(folder, 'sockets', user, 'socket');
  let server: { readonly url: string; readonly pid: number; readonly child: ChildProcess };
  let state = '';
  let run = '';

  /** The command, as root or, with `by`, as somebody else. */
  const call = (
    words: readonly string[],
    { by = [], cwd = base }: { by?: readonly string[]; cwd?: string } = {},
  ) => {
    const secret = join(base, 'passphrase');
    const argv = [...by, process.execPath, PROGRAM, ...words, '--json'];
    const line = `exec "$@" 3<${secret}`;
    const done = spawnSync('/bin/sh', ['-c', line, 'sh', ...argv], {
      encoding: 'utf8',
      cwd,
      env: ENV,
      input: '{}',
    });
    return {
      code: done.status,
      stderr: done.stderr,
      json: done.stdout === '' ? {} : JSON.parse(done.stdout),
    };
  };
  const operator = (...words: readonly string[]) =>
    spawnSync(
      '/bin/sh',
      ['-c', `exec "$@" 3<${base}/passphrase`, 'sh', join(folder, 'phasegate'), ...words, '--json'],
      { encoding: 'utf8', env: ENV },
    );
  const human = (...words: readonly string[]) =>
    call([...words, '--url', server.url, '--as', 'maria', '--passphrase-fd', '3']);
  const agent = (user: string, ...words: readonly string[]) =>
    call([...words, '--url', `unix:${socketOf(user)}`], { by: as(user), cwd: '/' });
  /** A program of the SDK, as a user; what it prints is JSON. */
  const script = (user: string, body: string) => {
    const sdk = new URL('../../packages/sdk/dist/index.js', import.meta.url).href;
    const source = `import { connect } from ${JSON.stringify(sdk)};
      const told = (error) => ({ code: error.code, message: error.message });
      ${body}`;
    const done = spawnSync(
      'setpriv',
      [...as(user).slice(1), process.execPath, '--input-type=module', '-e', source],
      { encoding: 'utf8', cwd: '/', env: ENV },
    );
    return done.stdout === '' ? done.stderr : JSON.parse(done.stdout);
  };

  beforeAll(async () => {
    chmodSync(realpathSync(tmpdir()), 0o711);
    mkdirSync(join(workspace, 'src'), { recursive: true });
    for (const user of [ADA, BOB]) execFileSync('useradd', ['--no-create-home', '--user-group', user]);
    writeFileSync(join(base, 'passphrase'), PASSPHRASE, { mode: 0o600 });
    writeFileSync(join(workspace, 'agent_workflow.yaml'), WORKFLOW);
    writeFileSync(join(workspace, 'proof.workflow.yaml'), PROOF.replace('CHECKS', CHECK));
    execFileSync('git', ['init', '-q', workspace]);
    execFileSync('chown', ['-R', `${ADA}:`, workspace]);
    const made = call([
      'isolate',
      'setup',
      ...place,
      ...roles,
      '--agent-user',
      ADA,
      '--agent-user',
      BOB,
      '--yes',
    ]);
    expect(made, made.stderr).toMatchObject({ code: 0, json: { plan: join(folder, 'plan.json') } });
    expect(operator('humans', 'add', 'maria', '--new-passphrase-fd', '3').status).toBe(0);
    expect(operator('trust', '--yes', '--as', 'maria', '--passphrase-fd', '3').status).toBe(0);
    server = await begin();
    state = execFileSync('find', [join(folder, 'state'), '-name', 'state.db'], { encoding: 'utf8' })
      .trim()
      .replace(/\/state\.db$/, '');
    run = String(human('start', 'errand', '--queue').json.run);
    expect(agent(ADA, 'claim', run)).toMatchObject({ code: 0, json: { ring: 'isolated', status: 'active' } });
  }, 120_000);

  async function begin() {
    const child = spawn(join(folder, 'phasegate'), ['serve', '--port', '0', '--json'], {
      env: ENV,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    for await (const line of createInterface({ input: child.stdout })) {
      const { url, pid } = JSON.parse(line) as { url: string; pid: number };
      return { url, pid, child };
    }
    throw new Error('the server did not start');
  }

  const end = async () => {
    const { child } = server;
    if (child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
  };

  afterAll(async () => {
    if (server !== undefined) await end();
    call(['isolate', 'remove', ...place, '--state', '--yes']);
    for (const user of [ADA, BOB]) spawnSync('userdel', [user]);
    rmSync(base, { recursive: true, force: true });
  }, 60_000);

  test('setup can be repeated, and check finds that every property holds, looked up and tried', () => {
    const words = ['isolate', 'setup', ...place, ...roles, '--agent-user', ADA, '--agent-user', BOB];
    expect(call([...words, '--yes']).code).toBe(0);
    const unasked = call(words);
    expect(unasked).toMatchObject({ code: 2, json: { hint: expect.stringContaining('--yes') } });

    const { code, json } = call(['isolate', 'check', ...place]);
    expect(json.properties.filter(({ holds }: { holds: boolean }) => !holds)).toEqual([]);
    expect({ code, ok: json.ok, tried: json.tried }).toEqual({ code: 0, ok: true, tried: true });
  });

  test.each(ISOLATED_ROWS)('$trick: refused [adv.M3 adv.H2 adv.H8]', ({ line }) => {
    const filled = line
      .replaceAll('STATE', state)
      .replaceAll('FOLDER', folder)
      .replaceAll('PROGRAM', PROGRAM)
      .replaceAll('OTHER', socketOf(BOB))
      .replaceAll('OWN', socketOf(ADA))
      .replaceAll('CHECK', String(idOf(CHECK)))
      .replaceAll('PID', String(server.pid));
    const tried = spawnSync('setpriv', [...as(ADA).slice(1), '/bin/sh', '-c', filled], {
      encoding: 'utf8',
      cwd: '/',
      env: ENV,
    });

    expect(tried.status).not.toBe(0);
    expect(tried.stdout).toBe('');
    expect(agent(ADA, 'status', run)).toMatchObject({ code: 0, json: { ring: 'isolated' } });
  });

  test('the same reading works for the user of the engine, so it is the user that makes the difference', () => {
    const lines = [
      `cat ${state}/keys.json`,
      `cat /proc/${server.pid}/environ`,
      `ls ${folder}/sockets/${BOB}`,
    ];
    const works = (user: string) =>
      lines.map(
        (line) =>
          spawnSync('setpriv', [...as(user).slice(1), '/bin/sh', '-c', line], { cwd: '/' }).status === 0,
      );

    expect(works(ENGINE)).toEqual([true, true, true]);
    expect(works(CHECK)).toEqual([false, false, false]);
  });

  test('nobody else is the agent, and the agent is nobody else: keys, tokens, doors [adv.H7 adv.J1]', () => {
    const { key } = JSON.parse(
      operator('agents', 'add', 'robot', '--as', 'maria', '--passphrase-fd', '3').stdout,
    ) as { key: string };
    const seen = script(
      ADA,
      `const url = ${JSON.stringify(server.url)}, own = ${JSON.stringify(`unix:${socketOf(ADA)}`)};
       const { phase_token: token } = await (await import(${JSON.stringify(new URL('../../packages/sdk/dist/index.js', import.meta.url).href)})).socketFetch(own.slice(5))(
         'http://localhost/api/v1/tasks/token', { method: 'POST', headers: { authorization: 'Bearer pgk_socket', 'content-type': 'application/json' }, body: JSON.stringify({ task_id: ${JSON.stringify(run)} }) }).then((answer) => answer.json());
       console.log(JSON.stringify({
         token,
         me: await connect({ url: own }).whoAmI(),
         keyAtPort: await connect({ url, key: ${JSON.stringify(key)} }).whoAmI().catch(told),
         keyAtSocket: await connect({ url: own, key: ${JSON.stringify(key)} }).whoAmI().catch(told),
         socketAtPort: await connect({ url, key: 'pgk_socket' }).whoAmI().catch(told),
         tokenAtPort: await connect({ url, token }).getPhase().catch(told),
         human: await connect({ url: own }).signIn({ name: 'maria', passphrase: ${JSON.stringify(PASSPHRASE)} }).catch(told),
       }));`,
    );
    expect(seen).toMatchObject({
      me: { name: ADA },
      keyAtPort: { code: 'not_permitted', message: expect.stringContaining('own sockets') },
      keyAtSocket: { code: 'not_permitted', message: expect.stringContaining('known by its user') },
      socketAtPort: { code: 'credential_invalid' },
      tokenAtPort: { code: 'not_permitted' },
      human: { code: 'not_permitted', message: expect.stringContaining('humans sign in elsewhere') },
    });
    const stolen = script(
      BOB,
      `console.log(JSON.stringify(await connect({ url: ${JSON.stringify(`unix:${socketOf(BOB)}`)}, token: ${JSON.stringify(seen.token)} }).getPhase().catch(told)));`,
    );
    expect(stolen).toMatchObject({ code: 'not_permitted' });
    expect(agent(ADA, 'decide', run, '--option', 'Approve').code).not.toBe(0);
  });

  test('programs run as a third user, who writes what the phase may write and reaches neither state nor server', () => {
    const line = [
      'id -un',
      'echo x > src/made.txt && echo written',
      'echo x > agent_workflow.yaml || echo kept',
      `cat ${state}/keys.json || echo closed`,
      `kill -0 ${server.pid} || echo out of reach`,
      `ls ${socketOf(ADA)} || echo no socket`,
      'git status --short',
    ].join('; ');
    const seen = script(
      ADA,
      `const { result } = await connect({ url: ${JSON.stringify(`unix:${socketOf(ADA)}`)}, task: ${JSON.stringify(run)} }).useTool('bash', { command: ${JSON.stringify(line)} });
       console.log(JSON.stringify(result));`,
    );
    expect(seen.output.stdout.split('\n')).toEqual(
      expect.arrayContaining([CHECK, 'written', 'kept', 'closed', 'out of reach', 'no socket', '?? src/']),
    );
    expect(readFileSync(join(workspace, 'agent_workflow.yaml'), 'utf8')).toBe(WORKFLOW);
    const owner = execFileSync('stat', ['-c', '%U %G %a', join(workspace, 'src/made.txt')], {
      encoding: 'utf8',
    });
    expect(owner.trim()).toBe(`${CHECK} ${GROUP} 660`);
  });

  test('there are no rooms: a check is observed, as the user of checks, and what must be verified is refused [adv.I12]', () => {
    const proof = String(human('start', 'proof', '--queue').json.run);
    expect(agent(ADA, 'claim', proof)).toMatchObject({ code: 0, json: { ring: 'isolated' } });

    const seen = agent(ADA, 'done', proof, '--phase', 'SEEN', '--evidence', '-');
    const refused = agent(ADA, 'done', proof, '--phase', 'PROVEN', '--evidence', '-');

    expect(seen).toMatchObject({ code: 0, json: { checkpoint_passed: true, current_phase: 'PROVEN' } });
    expect(refused).toMatchObject({ code: 1, json: { blockers: [{ code: 'evidence_class_too_low' }] } });
    expect(JSON.stringify(refused.json)).toMatch(/an isolated engine has no rooms.*`no_sandbox`/);
    expect(agent(ADA, 'status', proof).json.proven).toMatchObject([
      { phase: 'SEEN', check: 'seen', class: 'observed', lack: expect.stringContaining('no_sandbox') },
    ]);
    expect(agent(ADA, 'blocked', proof, '--reason', 'there is no room here').json).toMatchObject({
      status: 'escalated',
    });
  });

  test('what the agent writes past the engine is its user’s to write, and only detected [adv.A1]', () => {
    const put = (text: string) =>
      spawnSync('setpriv', [...as(ADA).slice(1), '/bin/sh', '-c', text], { cwd: workspace, env: ENV }).status;
    expect(
      put('umask 002; echo done > src/done.txt; echo "# mine" >> agent_workflow.yaml; echo x > beside.txt'),
    ).toBe(0);

    const refused = agent(ADA, 'done', run, '--phase', 'GO', '--evidence', '-');
    expect(refused).toMatchObject({ code: 1, json: { error: 'scope_violation', checkpoint_passed: false } });
    expect(JSON.stringify(refused.json)).toContain('beside.txt');
    expect(put('rm beside.txt')).toBe(0);
    // The guard's own files are put back by the engine.
    expect(readFileSync(join(workspace, 'agent_workflow.yaml'), 'utf8')).toBe(WORKFLOW);
    expect(agent(ADA, 'done', run, '--phase', 'GO', '--evidence', '-')).toMatchObject({
      code: 0,
      json: { status: 'waiting' },
    });
  });

  test('the ring is void while a property does not hold, and a workflow that demands it does not start', () => {
    chmodSync(join(folder, 'state'), 0o755);
    try {
      expect(call(['isolate', 'check', ...place])).toMatchObject({ code: 1, json: { ok: false } });
      expect(agent(ADA, 'status', run)).toMatchObject({
        code: 1,
        json: { error: 'not_permitted', message: expect.stringContaining('others can enter') },
      });
      expect(human('start', 'errand', '--queue')).toMatchObject({
        code: 1,
        json: { blockers: [{ code: 'ring_too_low', message: expect.stringContaining('isolated') }] },
      });
    } finally {
      chmodSync(join(folder, 'state'), 0o700);
    }
    expect(agent(ADA, 'status', run)).toMatchObject({ code: 0 });
  });

  test('a server does not start where a property does not hold, and says which', async () => {
    await end();
    const socket = join(folder, 'sockets', BOB);
    chmodSync(socket, 0o2711);
    const refused = operator('serve', '--port', '0');
    chmodSync(socket, 0o2710);

    expect(refused.status).toBe(2);
    expect(JSON.parse(refused.stdout)).toMatchObject({
      error: 'usage',
      message: expect.stringContaining(`others than \`${BOB}\``),
    });
    server = await begin();
    expect(agent(ADA, 'status', run)).toMatchObject({ code: 0, json: { ring: 'isolated' } });
    const verified = JSON.parse(operator('audit', 'verify').stdout);
    expect(verified).toMatchObject({ ok: true });
  });
});

const ENV = { PATH: process.env.PATH ?? '', LC_ALL: 'C' };

function as(user: string): readonly string[] {
  return ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--init-groups', '--'];
}

function idOf(user: string): number {
  return Number(execFileSync('id', ['-u', user], { encoding: 'utf8' }));
}

import { existsSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findBubblewrap } from '../../packages/phasegate/src/sandbox/bubblewrapState.ts';
import { asProcess, makeProject, phasegate, startRun } from './cli.ts';

const { works } = (await findBubblewrap()).state;

const WORKFLOW = `workflow: build
phases:
  WRITE:
    instructions: Write src/.
    writes: ["src/**"]
    gate:
      blockers:
        - check: command
          with: { shell: "echo seen > src/seen; echo seen > outside; ls $HOME/state; true" }
          message: it does not run
`;

const files = { 'build.workflow.yaml': WORKFLOW, 'src/a.ts': 'a', 'plan.md': 'the plan' };

describe.runIf(works)('phasegate exec (bubblewrap)', () => {
  test('runs a program in the sandbox of the phase, on its own streams, and ends as it did', async () => {
    const project = makeProject(files);
    const run = await startRun(project, 'build');
    const line = `cat > src/b.ts; echo x > plan.md; ls ${project.stateDir}; exit 7`;

    const done = await asProcess(project, ['exec', run.slice(0, 14), '--', 'bash', '-c', line], {
      stdin: 'typed',
    });

    expect(done.code).toBe(7);
    expect(done.stderr).toContain('plan.md: Read-only file system');
    expect(done.stderr).toContain('No such file or directory');
    expect(readFileSync(join(project.root, 'src/b.ts'), 'utf8')).toBe('typed');
    expect(readFileSync(join(project.root, 'plan.md'), 'utf8')).toBe('the plan');
  });

  test('leaves a signed receipt of what ran: run, phase, words, file, exit code and the files around it', async () => {
    const project = makeProject(files);
    const run = await startRun(project, 'build');
    const words = ['sh', '-c', 'echo b > src/b.ts; exit 3'];

    await asProcess(project, ['exec', run, '--', ...words]);

    const exported = await phasegate(project, ['audit', 'export', '--run', run]);
    const records = exported.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const [executed, ...others] = records.filter(({ event }) => event === 'tool_executed');
    expect(others).toEqual([]);
    expect(executed.data).toMatchObject({ tool: 'exec', ok: false, class: 'observed' });
    const { receipt } = executed.data;
    expect(receipt).toMatchObject({ run, phase: 'WRITE', epoch: 1, argv: words, exit_code: 3 });
    expect(receipt.program).toBe(realpathSync('/bin/sh'));
    expect(receipt.tree).not.toBe(receipt.tree_before);
    expect((await phasegate(project, ['audit', 'verify', '--json'])).json).toMatchObject({ ok: true });
  });

  test('is observed in the status of the session whose client reports it; what it merely says is claimed', async () => {
    const workflow = WORKFLOW.replace('    writes:', '    allowed_tools: [bash]\n    writes:');
    const project = makeProject({ ...files, 'build.workflow.yaml': workflow });
    const run = await startRun(project, 'build');
    const tell = (hook_event_name: string, command: string, more: object = {}) =>
      asProcess(project, ['hook', 'claude'], {
        stdin: JSON.stringify({
          session_id: 's1',
          cwd: project.root,
          hook_event_name,
          tool_name: 'Bash',
          tool_input: { command },
          tool_use_id: `toolu_${command.length}`,
          ...more,
        }),
      });
    for (const command of ['exit 3', 'echo all tests passed'])
      expect((await tell('PreToolUse', command)).stdout).toBe('{}\n');

    await asProcess(project, ['exec', run, '--', 'bash', '-c', 'exit 3']);
    for (const command of ['exit 3', 'echo all tests passed'])
      await tell('PostToolUse', command, { tool_response: { stdout: 'all passed' } });

    const { json, stdout } = await phasegate(project, ['status', run, '--json']);
    expect(json.sessions, stdout).toMatchObject([{ session: 's1', calls: { observed: 1, claimed: 1 } }]);
    expect((await phasegate(project, ['status', run])).stdout).toContain(
      'of its calls 1 observed (run by `phasegate exec`, with a receipt), 1 claimed',
    );
  });

  test('reaches the hosts of the phase through a proxy, and no other [adv.A9]', async () => {
    const server = createServer((socket) => socket.end('hello\n'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const workflow = `${WORKFLOW}    network: { hosts: ["localhost:${port}"] }\n`;
    const config = 'sandbox: { hosts: ["model.example"], memory: 2048 }\n';
    const project = makeProject({
      ...files,
      'build.workflow.yaml': workflow,
      'phasegate.config.yaml': config,
    });
    const run = await startRun(project, 'build');
    const shown = await phasegate(project, ['next', run]);
    const ask = (host: string) =>
      `exec 3<>/dev/tcp/127.0.0.1/4101; printf 'CONNECT ${host} HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3; exec 3>&-`;
    const line = [`localhost:${port}`, 'model.example:443', `127.0.0.1:${port}`].map(ask).join('; ');

    const done = await asProcess(project, ['exec', run, '--', 'bash', '-c', `${line}; env; ulimit -d`]);

    expect(shown.stdout).toContain(`May reach from a sandbox: localhost:${port}`);
    expect(done.stdout.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 403', 'HTTP/1.1 403']);
    expect(done.stdout).toContain('hello');
    expect(done.stdout).toContain('HTTPS_PROXY=http://127.0.0.1:4101');
    expect(done.stdout).toMatch(/^2097152$/m);
  });

  test('runs nothing where the scope is a link, or no program is named', async () => {
    const project = makeProject(files);
    const run = await startRun(project, 'build');
    rmSync(join(project.root, 'src'), { recursive: true });
    symlinkSync('/tmp', join(project.root, 'src'));

    const linked = await phasegate(project, ['exec', run, '--json', '--', 'touch', 'src/planted']);
    const unnamed = await phasegate(project, ['exec', run]);

    expect([linked.code, unnamed.code]).toEqual([1, 2]);
    expect(linked.json).toMatchObject({ error: 'sandbox_unavailable' });
    expect(existsSync('/tmp/planted')).toBe(false);
  });
});

describe.runIf(works)('a project whose config says `sandbox: on` (bubblewrap)', () => {
  test('has its checks in the sandbox of the phase', async () => {
    const project = makeProject({ ...files, 'phasegate.config.yaml': 'sandbox: on\n' });
    const free = makeProject(files);

    const done = async (one: typeof project) =>
      phasegate(one, ['done', await startRun(one, 'build'), '--json']);

    expect(await done(project)).toMatchObject({ code: 0 });
    // What is not held is noticed: the fence looks after the checks, too.
    expect(await done(free)).toMatchObject({ code: 1, json: { error: 'scope_violation' } });
    for (const { root } of [project, free]) expect(existsSync(join(root, 'src/seen'))).toBe(true);
    expect(existsSync(join(project.root, 'outside'))).toBe(false);
    expect(existsSync(join(free.root, 'outside'))).toBe(true);
  });
});

describe.runIf(works)('functions of a workflow in TypeScript (bubblewrap)', () => {
  const CODE = `
import { existsSync, writeFileSync } from 'node:fs';
import { defineWorkflow } from '@phasegate/sdk';
const tried = (act) => { try { act(); return true; } catch { return false; } };
export default defineWorkflow({
  type: 'coded',
  name: 'Coded',
  initialStep: 'a',
  steps: [{ name: 'a', instructions: 'Work.', postconditions: [{
    name: 'held',
    check: (ctx) => ctx.result.n === 1 && !tried(() => writeFileSync('planted', 'x')) && !existsSync(ctx.result.state),
    error: 'it is not held',
  }] }],
});`;

  test('write nothing and see no state where the project has its programs in a sandbox', async () => {
    for (const [config, expected] of [
      ['sandbox: on\n', 0],
      ['sandbox: off\n', 1],
    ] as const) {
      const project = makeProject({ 'coded.workflow.ts': CODE, 'phasegate.config.yaml': config });
      const run = await startRun(project, 'coded');
      const evidence = JSON.stringify({ n: 1, state: join(project.stateDir, 'state.db') });

      const done = await phasegate(project, ['done', run, '--evidence', '-', '--json'], { stdin: evidence });

      expect([config, done.code, done.stdout.slice(0, 400)]).toEqual([config, expected, expect.any(String)]);
      expect(existsSync(join(project.root, 'planted'))).toBe(expected === 1);
    }
  });
});

test('a config whose `sandbox` cannot be read is invalid, with each place', async () => {
  const config = 'sandbox:\n  programs: maybe\n  read: [relative]\n  write: [/]\n  extra: 1\n';
  const project = makeProject({ ...files, 'phasegate.config.yaml': config });

  const listed = await phasegate(project, ['list', '--json']);

  expect(listed.code).toBe(2);
  expect(listed.json.problems).toMatchObject([
    { line: 2, code: 'bad_value' },
    { line: 3, code: 'bad_value' },
    { line: 4, code: 'bad_value' },
    { line: 5, code: 'unknown_key' },
  ]);
});

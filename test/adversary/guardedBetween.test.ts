import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { begin, makeProject, phasegate, TESTED, type TestProject } from '../e2e/cli.ts';
import { FULL } from '../tier.ts';
import { PASSPHRASE, until } from './siege.ts';

const STEP = `sh -c 'echo x >> ran; echo {\\"success\\":true,\\"result\\":{}}'`;
const FILES = {
  'agent_workflow.yaml': `workflow: lab\nenforcement: { workspace: shared }\nphases:\n  MAKE:\n    writes: [ran, planted]\n    command: ${STEP}\n`,
  '.claude/settings.json': '{}\n',
};

test("a repository that is made after `init` is nobody's trick, and a hook in it is one [adv.Q2]", async () => {
  const project = await withHuman();
  execFileSync('git', ['init', '-q'], { cwd: project.root });
  expect(readdirSync(join(project.root, '.git/hooks')).length).toBeGreaterThan(0);

  expect(await run(project)).toMatchObject({ code: 0 });
  writeFileSync(join(project.root, '.git/hooks/post-commit'), '#!/bin/sh\n', { mode: 0o755 });

  const refused = await run(project);
  expect(refused.json).toMatchObject({
    error: 'guarded_changed',
    message: expect.stringContaining('post-commit'),
  });
  expect(refused.stdout).not.toContain('.sample');
});

test('what was planted between two processes is named and not trusted: no program runs before a human accepts it [adv.Q2]', async () => {
  const project = await withHuman();
  expect(await run(project)).toMatchObject({ code: 0 });
  writeFileSync(join(project.root, '.mcp.json'), '{"mcpServers":{}}\n');
  rmSync(join(project.root, '.claude/settings.json'));

  const refused = await run(project);

  expect(refused.code).toBe(1);
  expect(refused.json).toMatchObject({
    error: 'guarded_changed',
    message: expect.stringMatching(/`\.mcp\.json`, `\.claude\/settings\.json` changed/),
    hint: expect.stringContaining('phasegate trust --guarded'),
  });
  expect(runs(project)).toBe(1);
  // Nothing was started, so nothing is said to have been; and the run's chain tells why.
  expect(refused.stderr).toContain('run_started');
  expect(refused.stderr).not.toContain('step_started');
  const [, stopped = ''] = /"run":"(run-[0-9a-f]+)"/.exec(refused.stderr) ?? [];
  const { json } = await phasegate(project, ['audit', 'export', '--run', stopped, '--json']);
  expect(json.records).toContainEqual(
    expect.objectContaining({
      event: 'command_refused',
      data: { command: 'run_program', blockers: [expect.objectContaining({ code: 'guarded_changed' })] },
    }),
  );
  // Nobody knows who changed them, so they stay.
  expect(existsSync(join(project.root, '.mcp.json'))).toBe(true);
  const { stdout } = await phasegate(project, ['doctor']);
  expect(stdout).toMatch(/\.mcp\.json +added.*\n(.*\n)*.*phasegate trust --guarded/);
  expect(stdout).toMatch(/\.claude\/settings\.json +removed/);

  expect(await trust(project, ['--guarded'])).toMatchObject({ code: 0 });

  expect(await run(project)).toMatchObject({ code: 0 });
  expect((await phasegate(project, ['doctor'])).stdout).not.toContain('.mcp.json');
  expect((await phasegate(project, ['audit', 'verify'])).code).toBe(0);
});

test('what was planted between `init` and the first program is not what was always there [adv.Q2]', async () => {
  const project = makeProject({ ...FILES, ...TESTED });
  const init = ['init', '--name', 'maria', '--template', 'minimal'];
  expect(await phasegate(project, init, { passphrase: PASSPHRASE })).toMatchObject({ code: 0 });
  expect(await trust(project, ['lab'])).toMatchObject({ code: 0 });
  const place = join(project.root, '.mcp.json');
  const written = readFileSync(place);
  writeFileSync(place, '{"mcpServers":{}}\n');

  const refused = await run(project);

  expect(refused).toMatchObject({ code: 1, json: { error: 'guarded_changed' } });
  expect(existsSync(join(project.root, 'ran'))).toBe(false);
  writeFileSync(place, written);
  expect(await run(project)).toMatchObject({ code: 0 });
});

test.runIf(FULL)('`serve` names what was planted while it did not run', async () => {
  const project = await withHuman();
  await run(project);
  writeFileSync(join(project.root, '.mcp.json'), '{}\n');

  const serving = begin(project, ['serve', '--port', '0']);
  await serving.says('.mcp.json: added (phasegate trust --guarded)');
  serving.kill();
  await serving.result;
});

test('what a program planted before its runner was killed is not the measure of the next one [adv.Q2]', async () => {
  const project = await withHuman(
    `sh -c 'echo {} > .mcp.json; touch planted; while [ ! -e never ]; do sleep 0.02; done'`,
  );
  const running = begin(project, ['run', 'lab']);
  await until('it is planted', () => existsSync(join(project.root, 'planted')));
  process.kill(running.pid, 'SIGKILL');
  await running.result;

  const next = await run(project);

  expect(next.code).toBe(1);
  expect(next.stdout + next.stderr).toMatch(/`\.mcp\.json` changed/);
});

test.runIf(FULL)(
  'a workflow that a human edited and accepted with `phasegate trust` needs no second acceptance',
  async () => {
    const project = await withHuman();
    await run(project);
    writeFileSync(join(project.root, 'agent_workflow.yaml'), `${FILES['agent_workflow.yaml']}# edited\n`);
    expect(await trust(project, ['lab'])).toMatchObject({ code: 0 });

    expect(await run(project)).toMatchObject({ code: 0 });
  },
);

test.runIf(FULL)(
  'what was kept and then rewritten by somebody else is not a measure: every guarded file has to be accepted',
  async () => {
    const project = await withHuman();
    await run(project);
    const folder = join(project.stateDir, 'guarded');
    const file = join(folder, readdirSync(folder)[0] ?? '');
    writeFileSync(join(project.root, '.mcp.json'), '{}\n');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"files":{', '"files":{".mcp.json":{},'));

    const refused = await run(project);

    expect(refused.stdout + refused.stderr).toMatch(/`\.claude\/settings\.json`.*`\.mcp\.json`/);
    expect(runs(project)).toBe(1);
  },
);

test('before a human is set up it is taken as it is, on record', async () => {
  const project = makeProject(FILES);
  await run(project);
  writeFileSync(join(project.root, '.mcp.json'), '{}\n');

  const { code, json } = await run(project);

  expect(code).toBe(0);
  const { stdout } = await phasegate(project, ['audit', 'export', '--run', String(json.run)]);
  expect(stdout).toMatch(/guarded_files_changed/);
  expect(existsSync(join(project.root, '.mcp.json'))).toBe(true);
});

async function withHuman(command = STEP): Promise<TestProject> {
  const workflow = FILES['agent_workflow.yaml'].replace(STEP, command);
  const project = makeProject({ ...FILES, 'agent_workflow.yaml': workflow });
  const added = await phasegate(project, ['humans', 'add', 'maria'], { passphrase: PASSPHRASE });
  expect(added).toMatchObject({ code: 0 });
  expect(await trust(project, [])).toMatchObject({ code: 0 });
  return project;
}

function trust(project: TestProject, words: readonly string[]) {
  return phasegate(project, ['trust', ...words, '--yes', '--as', 'maria'], { passphrase: PASSPHRASE });
}

function run(project: TestProject) {
  return phasegate(project, ['run', 'lab', '--json']);
}

function runs(project: TestProject): number {
  return readFileSync(join(project.root, 'ran'), 'utf8').length / 2;
}

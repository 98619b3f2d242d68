import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@phasegate/core';
import { beforeEach, expect, test } from 'vitest';
import { complete as completePhase, makeProject, phasegate, startRun } from '../e2e/cli.ts';
import { FULL } from '../tier.ts';
import { expectStatus, laySiege, PASSPHRASE, type Siege, until } from './siege.ts';
import { bearer } from './wire.ts';

const FILES = {
  'agent_workflow.yaml': `
workflow: lab
enforcement: { workspace: shared }
phases:
  LAB:
    allowed_tools: [read_files, write_files, bash, git]
    writes: ["src/**", "sub/.mcp.json"]
    gate:
      blockers:
        - { check: command, with: { shell: "if [ -e src/check.sh ]; then sh src/check.sh; fi" }, message: the check }
  AFTER:
    instructions: more
`,
  'workflows/other.workflow.yaml': 'workflow: other\nphases: { A: {} }\n',
  'workflows/plain.workflow.yaml':
    'workflow: plain\nenforcement: { workspace: shared }\nphases: { A: { allowed_tools: [bash], writes: ["src/**"] } }\n',
  'phasegate.config.yaml': 'docs: []\n',
  '.claude/settings.json': '{}\n',
  'src/a.txt': 'a\n',
};

/** One that git would run; its samples are nobody's. */
const HOOK = '.git/hooks/pre-rebase';

let siege: Siege;
let token: string;
let key: string;
let run: string;

/** Tests that need another siege, or none, begin by themselves. */
const OWN_SIEGE =
  /^(?:a link in the place of|an edit that a human accepted with|a command of `phasegate run`|a function of a)/;

beforeEach(async ({ task }) => {
  if (OWN_SIEGE.test(task.name)) return;
  siege = await laySiege({ files: FILES, here: !FULL });
  const { root, env } = siege.project;
  for (const words of [
    ['init', '-q'],
    ['add', '-A'],
    ['-c', 'user.name=a', '-c', 'user.email=a@a', 'commit', '-qm', 'first'],
  ])
    expect(spawnSync('git', words, { cwd: root, env }).status).toBe(0);
  writeFileSync(join(root, HOOK), '#!/bin/sh\n', { mode: 0o755 });
  key = await siege.agent('ada');
  await siege.queue('lab');
  ({ run, token } = await siege.claim('ada', key));
});

test('a checkout that rewrites the config: it is put back before the answer, which says so [adv.Q2]', async () => {
  const { root, env } = siege.project;
  const config = read('phasegate.config.yaml');
  const inGit = (input: string, ...words: readonly string[]) => {
    const own = { ...env, GIT_INDEX_FILE: join(root, '.git/other-index') };
    const who = ['-c', 'user.name=a', '-c', 'user.email=a@a'];
    const { status, stdout } = spawnSync('git', [...who, ...words], { cwd: root, env: own, input });
    expect(status).toBe(0);
    return String(stdout).trim();
  };
  const evil = inGit('servers:\n  evil: { command: [touch, pwned] }\n', 'hash-object', '-w', '--stdin');
  inGit('', 'read-tree', 'HEAD');
  inGit('', 'update-index', '--cacheinfo', `100644,${evil},phasegate.config.yaml`);
  inGit('', 'branch', 'evil', inGit('', 'commit-tree', '-m', 'x', inGit('', 'write-tree')));

  const command = 'git checkout evil -- phasegate.config.yaml';
  const [result] = await execute([{ tool: 'git', input: { command } }]);

  expect(JSON.stringify(result)).toMatch(/phasegate\.config\.yaml.*put back/);
  expect(result).toMatchObject({ result: { ok: false, output: { error: 'guarded_files' } } });
  expect(read('phasegate.config.yaml')).toBe(config);
  expect(await restored()).toEqual([['phasegate.config.yaml']]);
});

test('whatever a program makes of the guarded files, all of it is put back and nothing else is [adv.Q2 adv.Q3]', async () => {
  const { root } = siege.project;
  const command = [
    'rm agent_workflow.yaml',
    'rm -r workflows && ln -s src workflows',
    'echo "{}" > .mcp.json',
    'mkdir -p sub/deep && echo x > sub/deep/phasegate.config.yaml && echo y > sub/.mcp.json',
    'echo "#!/bin/sh" > .git/hooks/post-commit',
    'ln -sf /etc/passwd .claude/settings.json',
    'echo b > src/a.txt',
  ].join('; ');

  const [result] = await execute([{ tool: 'bash', input: { command } }]);

  expect(result).toMatchObject({ result: { ok: false } });
  for (const [path, content] of Object.entries(FILES)) {
    if (path !== 'src/a.txt') expect(read(path), path).toBe(content);
  }
  expect(lstatSync(join(root, 'workflows')).isDirectory()).toBe(true);
  expect(lstatSync(join(root, '.claude/settings.json')).isFile()).toBe(true);
  for (const path of ['.mcp.json', 'sub/deep/phasegate.config.yaml', '.git/hooks/post-commit'])
    expect(existsSync(join(root, path)), path).toBe(false);
  // What the phase's author opened by its path, and what is in scope, stays.
  expect([read('sub/.mcp.json'), read('src/a.txt')]).toEqual(['y\n', 'b\n']);
});

test('what no content shows is put back too: who may run a hook, links for folders, pipes, closed folders [adv.Q2]', async () => {
  const { root } = siege.project;
  const mode = () => lstatSync(join(root, HOOK)).mode & 0o111;
  expect(mode()).toBe(0o111);
  const command = [
    `chmod 644 ${HOOK}`,
    'mkdir -p sub src/x && echo "{}" > src/x/settings.json && ln -s ../src/x sub/.claude && ln -s src/x .github',
    'mkfifo .mcp.json',
    'mkdir .gemini && echo "{}" > .gemini/settings.json && chmod 311 .gemini',
    'echo "#!/bin/sh" > .git/hooks/pre-push && chmod 555 .git/hooks',
    'echo "- broken" >> phasegate.config.yaml',
  ].join('; ');

  const [result] = await execute([{ tool: 'bash', input: { command } }]);

  expect(result).toMatchObject({ result: { ok: false } });
  expect(mode()).toBe(0o111);
  for (const path of ['sub/.claude', '.github', '.mcp.json', '.gemini/settings.json', '.git/hooks/pre-push'])
    expect(lstatSync(join(root, path), { throwIfNoEntry: false }), path).toBe(undefined);
  expect(read('phasegate.config.yaml')).toBe(FILES['phasegate.config.yaml']);
});

test.runIf(FULL)(
  'more folders in a guarded place than are looked at are moved aside: a file could hide behind them [adv.Q2]',
  async () => {
    const { root } = siege.project;
    const command =
      'mkdir .claude/hooks && cd .claude/hooks && seq 1 20001 | xargs mkdir && echo x > 20001/evil.sh';
    const [result] = await execute([{ tool: 'bash', input: { command } }]);

    expect(result).toMatchObject({ result: { ok: false } });
    expect(existsSync(join(root, '.claude/hooks'))).toBe(false);
    // What belongs there is there.
    expect(read('.claude/settings.json')).toBe(FILES['.claude/settings.json']);
    expect(await execute([{ tool: 'bash', input: { command: 'true' } }])).toMatchObject([
      { result: { ok: true } },
    ]);
  },
);

test('a link in the place of `.git/hooks` is removed also where there was no hook [adv.Q2]', async () => {
  siege = await laySiege({ files: { ...FILES, '.git/HEAD': 'ref: refs/heads/main\n' }, here: !FULL });
  key = await siege.agent('ada');
  await siege.queue('lab');
  ({ run, token } = await siege.claim('ada', key));

  const command = 'mkdir -p src/h && echo "#!/bin/sh" > src/h/pre-commit && ln -s ../src/h .git/hooks';
  const [result] = await execute([{ tool: 'bash', input: { command } }]);

  expect(result).toMatchObject({ result: { ok: false } });
  expect(lstatSync(join(siege.project.root, '.git/hooks'), { throwIfNoEntry: false })).toBe(undefined);
});

test('a program that goes on after its answer: its change is put back before the next call and at completion', async () => {
  const { root } = siege.project;
  const later = (mark: string) =>
    `setsid sh -c 'touch src/${mark}.up; while [ ! -e src/${mark} ]; do sleep 0.02; done; echo {} > .mcp.json; touch src/${mark}.done' >/dev/null 2>&1 &`;
  const changed = async (mark: string) => {
    writeFileSync(join(root, 'src', mark), '');
    await until('it was changed', () => existsSync(join(root, `src/${mark}.done`)));
  };
  await execute([
    {
      tool: 'bash',
      input: {
        command: `${later('one')} ${later('two')} until [ -e src/one.up -a -e src/two.up ]; do sleep 0.02; done`,
      },
    },
  ]);

  await changed('one');
  const [reading] = await execute([{ tool: 'read_files', input: { path: 'src/a.txt' } }]);
  expect(JSON.stringify(reading)).toMatch(/\.mcp\.json.*put back/);
  expect(existsSync(join(root, '.mcp.json'))).toBe(false);

  await changed('two');
  const { body } = await complete();
  expect(JSON.stringify(body)).toMatch(/\.mcp\.json.*put back/);
  expect(existsSync(join(root, '.mcp.json'))).toBe(false);
});

test('what a program plants after its run was given back is put back at the next call, and is not defended [adv.Q2]', async () => {
  const { root } = siege.project;
  const planted = join(root, '.claude/settings.json');
  const late = `setsid sh -c 'touch src/up; while [ ! -e src/go ]; do sleep 0.02; done; echo planted > .claude/settings.json; touch src/planted' >/dev/null 2>&1 &`;
  await execute([{ tool: 'bash', input: { command: `${late} until [ -e src/up ]; do sleep 0.02; done` } }]);
  await giveBack();
  writeFileSync(join(root, 'src/go'), '');
  await until('it was planted', () => existsSync(join(root, 'src/planted')));
  ({ token } = await siege.claim('ada', key));

  const [result] = await execute([{ tool: 'bash', input: { command: 'true' } }]);

  expect(JSON.stringify(result)).toMatch(/\.claude\/settings\.json.*put back/);
  expect(read('.claude/settings.json')).toBe('{}\n');
  expect(await restored()).toEqual([['.claude/settings.json']]);
  // Nothing that was planted comes back, no matter who removed it.
  writeFileSync(planted, '{}\n');
  await execute([{ tool: 'bash', input: { command: 'true' } }]);
  expect(read('.claude/settings.json')).toBe('{}\n');
});

test('what a program planted before its run is given back is put back then [adv.Q2]', async () => {
  const { root } = siege.project;
  const late = `setsid sh -c 'touch src/up; while [ ! -e src/go ]; do sleep 0.02; done; echo {} > .mcp.json; touch src/planted' >/dev/null 2>&1 &`;
  await execute([{ tool: 'bash', input: { command: `${late} until [ -e src/up ]; do sleep 0.02; done` } }]);
  writeFileSync(join(root, 'src/go'), '');
  await until('it was planted', () => existsSync(join(root, 'src/planted')));

  await giveBack();

  expect(existsSync(join(root, '.mcp.json'))).toBe(false);
  expect(await restored()).toEqual([['.mcp.json']]);
});

test('what a phase opens by its path and a tool of ours writes is kept, whichever run used programs [adv.Q2]', async () => {
  await execute([{ tool: 'bash', input: { command: 'true' } }]);
  const other = await siege.agent('bob');
  await siege.queue('lab');
  const { token: another } = await siege.claim('bob', other);
  const write = { tool: 'write_files', input: { path: 'sub/.mcp.json', content: '{}\n' } };
  expect(await execute([write], another)).toMatchObject([{ result: { ok: true } }]);

  await siege.queue('plain');
  const third = await siege.agent('eve');
  const { token: last } = await siege.claim('eve', third);
  await execute([{ tool: 'bash', input: { command: 'true' } }], last);

  expect(read('sub/.mcp.json')).toBe('{}\n');
  expect(await restored()).toEqual([]);
});

test('an edit that a human accepted with `phasegate trust` is kept, and one that nobody accepted is not [adv.Q2]', async () => {
  siege = await laySiege({ files: FILES, human: true, here: !FULL });
  key = await siege.agent('ada');
  await siege.queue('lab');
  ({ run, token } = await siege.claim('ada', key));
  await execute([{ tool: 'bash', input: { command: 'true' } }]);
  await giveBack();
  const edited = `${FILES['workflows/other.workflow.yaml']}# edited\n`;
  writeFileSync(join(siege.project.root, 'workflows/other.workflow.yaml'), edited);
  writeFileSync(join(siege.project.root, '.claude/settings.json'), '[]\n');
  const { code, stderr } = await phasegate(siege.project, ['trust', '--yes'], { passphrase: PASSPHRASE });
  expect(code, stderr).toBe(0);
  ({ token } = await siege.claim('ada', key));

  await execute([{ tool: 'bash', input: { command: 'true' } }]);

  expect(read('workflows/other.workflow.yaml')).toBe(edited);
  expect(read('.claude/settings.json')).toBe('{}\n');
});

test('a command check that changes guarded files does not pass, and they are put back', async () => {
  const { root } = siege.project;
  writeFileSync(join(root, 'src/check.sh'), 'echo "docs: [x]" > phasegate.config.yaml\n');

  const { body } = await complete();

  expect(JSON.stringify(body)).toMatch(/check_failed.*phasegate\.config\.yaml.*put back/);
  expect(read('phasegate.config.yaml')).toBe(FILES['phasegate.config.yaml']);
});

test('a command of `phasegate run` that changes guarded files has no result, and they are put back [adv.Q2]', async () => {
  const project = makeProject({
    'agent_workflow.yaml':
      'workflow: lab\nphases:\n  MAKE:\n    command: sh -c \'echo {} > .mcp.json; echo {\\"status\\":\\"completed\\",\\"result\\":{}}\'\n',
  });

  const { stderr } = await phasegate(project, ['run', 'lab', '--json']);

  expect(stderr).toMatch(/\.mcp\.json.*put back/);
  expect(existsSync(join(project.root, '.mcp.json'))).toBe(false);
});

test('a function of a workflow that starts what an agent wrote does not pass, and the files are put back [adv.Q2]', async () => {
  const project = makeProject({
    'gate.workflow.ts': `import { spawnSync } from 'node:child_process';
import { defineWorkflow } from '@phasegate/sdk';
export default defineWorkflow({
  type: 'gate',
  steps: [{ name: 'test', writes: ['src/**'], postconditions: [{ name: 'tests', check: () => spawnSync('sh', ['src/tests.sh']).status === 0 }] }],
});
`,
    'src/tests.sh': 'echo "{}" > .mcp.json\n',
  });
  const run = await startRun(project, 'gate');

  const { stdout } = await completePhase(project, run, { phase: 'test' });

  expect(stdout).toMatch(/\.mcp\.json.*put back/);
  expect(existsSync(join(project.root, '.mcp.json'))).toBe(false);
  writeFileSync(join(project.root, 'src/tests.sh'), 'true\n');
  expect((await completePhase(project, run, { phase: 'test' })).json).toMatchObject({
    checkpoint_passed: true,
  });
});

test.each(['a `.git` that is a file', 'a `commondir`'])(
  '%s does not bring hooks from elsewhere [adv.Q2]',
  async (what) => {
    const { root } = siege.project;
    rmSync(join(root, '.git/hooks'), { recursive: true });
    const lead =
      what === 'a `commondir`'
        ? 'echo "$PWD/src/evil" > .git/commondir'
        : 'mv .git src/moved && printf "gitdir: %s\\n" "$PWD/src/evil" > .git';
    const command = `cp -r .git src/evil; mkdir -p src/evil/hooks; printf '#!/bin/sh\ntouch pwned\n' > src/evil/hooks/post-commit; chmod +x src/evil/hooks/post-commit; ${lead}`;

    const [result] = await execute([{ tool: 'bash', input: { command } }]);

    expect(JSON.stringify(result)).toMatch(/put back/);
    const env = { ...siege.project.env, GIT_AUTHOR_NAME: 'a', GIT_COMMITTER_NAME: 'a', EMAIL: 'a@a' };
    spawnSync('git', ['commit', '-q', '--allow-empty', '-m', 'second'], { cwd: root, env });
    expect(existsSync(join(root, 'pwned'))).toBe(false);
  },
);

test('however many files a program plants, all go, and the audit holds some of them and their number [adv.Q2]', async () => {
  const plant =
    'mkdir -p src/x workflows/x && cd src/x && for i in $(seq 1 300); do : > $i.workflow.yaml; done';

  const [result] = await execute([{ tool: 'bash', input: { command: `${plant}; : > ../../workflows/x/y` } }]);

  expect(JSON.stringify(result)).toMatch(/and 291 more.*put back/);
  expect(readdirSync(join(siege.project.root, 'src/x'))).toEqual([]);
  expect(existsSync(join(siege.project.root, 'workflows/x/y'))).toBe(false);
  const record = (await siege.records()).find(({ event }) => event === 'guarded_files_restored');
  expect(record?.data).toMatchObject({ more: 101 });
  expect((await restored())[0]).toHaveLength(200);
});

function read(path: string): string {
  return readFileSync(join(siege.project.root, path), 'utf8');
}

async function giveBack(): Promise<void> {
  const path = '/api/v1/tasks/release';
  const got = await siege.send({ method: 'POST', path, headers: [bearer(key)], body: { task_id: run } });
  expectStatus(got, 200);
}

async function execute(calls: readonly JsonObject[], as = token): Promise<readonly JsonObject[]> {
  return expectStatus(await send(calls, as), 200).body.results as readonly JsonObject[];
}

function send(calls: readonly JsonObject[], as = token) {
  return siege.send({
    method: 'POST',
    path: '/api/v1/tools/execute',
    headers: [bearer(as)],
    body: { calls: [...calls] },
  });
}

async function complete() {
  return siege.send({
    method: 'POST',
    path: '/api/v1/tasks/transition',
    headers: [bearer(token)],
    body: { artifacts: {} },
  });
}

async function restored(): Promise<readonly (readonly string[])[]> {
  const records = (await siege.records()).filter(({ event }) => event === 'guarded_files_restored');
  return records.map(({ data }) => (data as { files: { path: string }[] }).files.map(({ path }) => path));
}

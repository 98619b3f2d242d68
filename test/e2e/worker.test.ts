import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { FULL } from '../tier.ts';
import { begin, makeProject, phasegate, startRun } from './cli.ts';
import { serveHere } from './serveHere.ts';
import { serve } from './server.ts';

const AGENT = fileURLToPath(new URL('./workerAgent.ts', import.meta.url));
const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url));

/** Nothing in it is looked at by the engine: what is handed in is all there is. */
const UNSEEN = `
workflow: unseen
enforcement: { workspace: shared, lease_seconds: 60, max_reclaims: 1 }
phases:
  WORK:
    instructions: Do it.
    writes: ["**"]
    required_evidence: { summary: { type: str, rule: non_empty } }
`;

/** The same, with a look at the workspace. */
const SEEN = UNSEEN.replace('workflow: unseen', 'workflow: seen').concat(
  '    postconditions: [{ check: files, with: { exist: ["README.md"] }, message: there is none }]\n',
);

test('runs are worked on in clones of their own, pushed only if told and removed afterwards', async () => {
  const bed = await makeBed();
  const first = await bed.queue('unseen');
  const second = await bed.queue('unseen');

  const ended = await bed.worker('commit', ['--runs', '2', '--push']);

  expect(ended).toMatchObject({ code: 0, json: { runs: 2, outcomes: { completed: 2 } } });
  expect(bed.seen()).toMatchObject([
    { run: first, files: ['.git', 'README.md'] },
    { run: second, files: ['.git', 'README.md'] },
  ]);
  expect(bed.branches()).toEqual(['main', `phasegate/${first}`, `phasegate/${second}`].sort());
  expect(bed.show(`phasegate/${first}`, 'work.txt')).toBe(`of ${first}\n`);
  expect(readdirSync(bed.folder)).toEqual([]);
  expect(await bed.records(first, 'token_issued')).toMatchObject([{ data: { workspace: 'own' } }]);
});

test('without --push the branch goes with its folder, and what was not committed is told of', async () => {
  const bed = await makeBed();
  await bed.queue('unseen');

  const ended = await bed.worker('loose', ['--runs', '1']);

  expect(ended).toMatchObject({ code: 0, json: { outcomes: { completed: 1 } } });
  expect(ended.stderr).toContain('"event":"dropped"');
  expect(bed.branches()).toEqual(['main']);
  expect(readdirSync(bed.folder)).toEqual([]);
});

test('a run in which the engine would look at files is not handed to an agent with files of its own', async () => {
  const bed = await makeBed();
  const looked = await bed.queue('seen');
  await bed.queue('unseen');

  // The older one is left out, though nobody else takes it.
  const ended = await bed.worker('commit', ['--runs', '1']);

  expect(ended).toMatchObject({ code: 0, json: { outcomes: { completed: 1 } } });
  expect(bed.seen()).not.toContainEqual(expect.objectContaining({ run: looked }));
  const asked = { agent_id: 'w1', task_id: looked, workspace: 'own' };
  const refused = await bed.send('POST', '/api/v1/tasks/claim', { bearer: bed.key, body: asked });
  expect(refused).toMatchObject({ status: 403, body: { error: 'not_permitted' } });
  expect(refused.body.message).toContain('`WORK/postconditions/0` (files) looks at the workspace');
  // With the server's tools it is for anybody.
  const { workspace: _own, ...plain } = asked;
  const taken = await bed.send('POST', '/api/v1/tasks/claim', { bearer: bed.key, body: plain });
  expect(taken.status).toBe(200);
});

test('a program that ends before its work is done counts as a crash, until a human must act', async () => {
  const bed = await makeBed();
  const run = await bed.queue('unseen');

  const ended = await bed.worker('crash', ['--runs', '2']);

  // It is one run, and only its first crash took it back to the queue.
  expect(ended).toMatchObject({
    code: 0,
    json: { runs: 1, attempts: 2, outcomes: { lost: 1, escalated: 1 } },
  });
  const told = ended.stderr.split('\n').filter((line) => line.includes('"event":"backing_off"'));
  expect(told.map((line) => JSON.parse(line))).toEqual([
    { event: 'backing_off', agent: 'w1', ms: 1000, output: ['a crash of the agent'] },
  ]);
  expect(await bed.records(run, 'run_released')).toMatchObject([
    { data: { cause: 'exited' } },
    { data: { cause: 'exited' } },
  ]);
  expect(await bed.records(run, 'run_escalated')).toHaveLength(1);
});

test('a program that ends at once in the last run that was asked for is waited for no more', async () => {
  const bed = await makeBed();
  await bed.queue('unseen');

  const { stderr } = await bed.worker('crash', ['--runs', '1']);

  const told = stderr.split('\n').filter((line) => line.includes('"event":"backing_off"'));
  expect(told.map((line) => JSON.parse(line))).toMatchObject([{ ms: 0, output: ['a crash of the agent'] }]);
});

test('a script is meant from the folder of the call, as the agent starts in another; one that is not there is refused', async () => {
  const bed = await makeBed();
  await bed.queue('unseen');
  copyFileSync(AGENT, join(bed.root, 'agent.ts'));
  symlinkSync(MODULES, join(bed.root, 'node_modules'));

  const missing = await bed.call(['--', process.execPath, 'nowhere.ts', 'loose', bed.file], bed.key);
  expect(missing).toMatchObject({ code: 2, json: { error: 'usage' } });
  expect(missing.json.hint).toContain('/path/to/nowhere.ts');
  expect(await bed.call(['--', process.execPath, 'agent.ts', 'loose', bed.file], bed.key)).toMatchObject({
    code: 0,
    json: { outcomes: { completed: 1 } },
  });
  expect(bed.seen()).toMatchObject([{ files: [] }]);
});

test.runIf(FULL)('only what a worker can do is handed to it', async () => {
  const bed = await makeBed();
  const gpu = await bed.queue('unseen', ['--capability', 'gpu', '--priority', '9']);
  await bed.queue('unseen');

  await bed.worker('commit', ['--runs', '1']);
  expect(bed.seen().map(({ run }) => run)).not.toContain(gpu);
  await bed.worker('commit', ['--runs', '1', '--can', 'gpu']);
  expect(bed.seen().at(-1)?.run).toBe(gpu);
});

test.runIf(FULL)(
  'asked to end, it claims no more and lets its agent finish; after --drain it gives the run back',
  async () => {
    const bed = await makeBed();
    const [first, second] = [await bed.queue('unseen'), await bed.queue('unseen')];
    const patient = bed.begin('wait', []);
    await expect.poll(() => bed.seen().length, { timeout: 20_000 }).toBe(1);

    process.kill(patient.pid, 'SIGTERM');
    await patient.says('"event":"draining"');
    writeFileSync(bed.sign, '');

    expect(await patient.result).toMatchObject({ code: 0, json: { runs: 1, outcomes: { completed: 1 } } });
    expect(bed.seen()).toMatchObject([{ run: first }]);

    bed.removeSign();
    const hasty = bed.begin('wait', ['--drain', '1s']);
    await expect.poll(() => bed.seen().length, { timeout: 20_000 }).toBe(2);
    process.kill(hasty.pid, 'SIGTERM');

    expect(await hasty.result).toMatchObject({ code: 0, json: { outcomes: { given_back: 1 } } });
    expect(await bed.records(second, 'run_released')).toMatchObject([{ data: { cause: 'given_back' } }]);
    expect(() => process.kill(bed.seen().at(-1)?.pid ?? 0, 0)).toThrow();
  },
);

test.runIf(FULL)('a worker whose agent is removed ends the program, and itself', async () => {
  const bed = await makeBed();
  await bed.queue('unseen');
  const worker = bed.begin('wait', ['--heartbeat', '1s']);
  await expect.poll(() => bed.seen().length, { timeout: 20_000 }).toBe(1);

  await bed.removeAgent();

  expect(await worker.result).toMatchObject({ code: 1, json: { error: 'not_permitted' } });
  expect(() => process.kill(bed.seen().at(-1)?.pid ?? 0, 0)).toThrow();
});

test.runIf(FULL)(
  'leases are renewed while a program thinks, and a killed worker loses its run to another',
  async () => {
    const bed = await makeBed(UNSEEN.replace('lease_seconds: 60', 'lease_seconds: 4'), serve);
    const run = await bed.queue('unseen');
    const killed = bed.begin('wait', ['--heartbeat', '1s']);
    await expect.poll(() => bed.seen().length, { timeout: 20_000 }).toBe(1);
    const renewed = async () => (await bed.leases()).map(({ expires_at }) => expires_at);
    const [before] = await renewed();
    await expect.poll(async () => (await renewed())[0] !== before, { timeout: 20_000 }).toBe(true);
    expect(await bed.records(run, 'run_released')).toEqual([]);

    process.kill(killed.pid, 'SIGKILL');
    await killed.result.catch(() => undefined);
    writeFileSync(bed.sign, '');
    const ended = await bed.worker('wait', ['--runs', '1']);

    expect(ended).toMatchObject({ code: 0, json: { outcomes: { completed: 1 } } });
    expect(bed.seen().map((one) => one.run)).toEqual([run, run]);
    expect(await bed.records(run, 'run_released')).toMatchObject([{ data: { cause: 'lease_expired' } }]);
  },
);

test.each([
  ['no key', [], {}, "needs an agent's key"],
  [
    'more agents than keys',
    ['--capacity', '2'],
    { PHASEGATE_KEY: 'pgk_x' },
    'needs 2 keys, and there is one',
  ],
  ['--push without a repository', ['--push'], { PHASEGATE_KEY: 'pgk_x' }, '`--push` is about a repository'],
  ['a repository that is an option', ['--repo', '--upload-pack=x'], { PHASEGATE_KEY: 'pgk_x' }, '`--repo`'],
  ['a number that is none', ['--runs', '0'], { PHASEGATE_KEY: 'pgk_x' }, 'a whole number from 1'],
])('says what is wrong with %s, before anything is asked of the server', async (_what, words, env, said) => {
  const project = makeProject({});
  const called = ['worker', '--json', '--url', 'http://127.0.0.1:1', ...words, '--', 'true'];

  const { code, json } = await phasegate(project, called, { env });

  expect({ code, error: json.error }).toEqual({ code: 2, error: 'usage' });
  expect(json.message).toContain(said);
});

test('a server that is not there is told once with a way out, and plain http elsewhere is bad input', async () => {
  const project = makeProject({ keys: 'pgk_x\n' });
  const file = join(project.root, 'keys');
  chmodSync(file, 0o644);
  const call = (url: string) =>
    begin(project, ['worker', '--json', '--url', url, '--keys', file, '--', process.execPath]).result;

  const keyless = await phasegate(project, [
    ...['worker', '--json', '--url', 'http://127.0.0.1:1', '--keys', '/nope', '--', 'true'],
  ]);
  expect(keyless).toMatchObject({ code: 2, json: { error: 'usage' } });
  expect(keyless.json.hint).toContain('name a file with a key on each line; `phasegate agents add NAME`');
  const away = await call('http://127.0.0.1:1');
  expect(away).toMatchObject({ code: 1, json: { error: 'server_unreachable' } });
  expect(away.json.message).toBe('`http://127.0.0.1:1` does not answer');
  expect(away.json.hint).toContain('phasegate serve');
  expect(away.stderr).toContain(`chmod 600 ${file}`);
  chmodSync(file, 0o600);
  const elsewhere = await call('http://build.example.com');
  expect(elsewhere).toMatchObject({ code: 2, json: { error: 'usage' } });
  expect(elsewhere.json.message).toContain('--insecure-http');
  expect(elsewhere.stderr).not.toContain('chmod');
});

test('a repository that cannot be cloned ends it before it claims anything, and so does a wrong key', async () => {
  const bed = await makeBed();
  const run = await bed.queue('unseen');
  const nowhere = join(bed.folder, '..', 'nowhere.git');

  const cloned = await bed.call(
    ['--repo', nowhere, '--', process.execPath, AGENT, 'commit', bed.file],
    bed.key,
  );
  expect(cloned).toMatchObject({ code: 1, json: { error: 'worktree_failed' } });
  const known = await bed.call(['--', process.execPath, AGENT, 'commit', bed.file], 'pgk_wrong');
  expect(known).toMatchObject({ code: 1, json: { error: 'not_permitted' } });

  expect(existsSync(bed.file)).toBe(false);
  expect(await bed.records(run, 'run_claimed')).toEqual([]);
});

/** A project with its server, a repository that is not the project's, and the words of a worker. */
async function makeBed(workflow = UNSEEN, served: typeof serveHere = serveHere) {
  const project = makeProject({ 'agent_workflow.yaml': workflow, 'seen.workflow.yaml': SEEN });
  const { json } = await phasegate(project, ['agents', 'add', 'w1', '--json']);
  const key = json.key as string;
  const { url, send } = await served(project);
  const [folder, file, sign] = ['work', 'seen', 'sign'].map((name) => join(project.base, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(folder, { mode: 0o700 });
  const origin = originIn(project.base);
  const words = (how: string, more: readonly string[]) => [
    ...['worker', '--json', '--url', url, '--folder', folder, '--repo', origin, '--poll', '1s', ...more],
    ...['--', process.execPath, AGENT, how, file, sign],
  ];
  const env = { PHASEGATE_KEY: key };
  // Set up last: before there is a human, the workflow needs nobody's trust.
  let human: Promise<unknown> | undefined;
  const records = async () => {
    const passphrase = 'open sesame';
    human ??= phasegate(project, ['humans', 'add', 'maria'], { passphrase });
    await human;
    const { stdout } = await phasegate(project, ['audit', 'export', '--as', 'maria'], { passphrase });
    const lines = stdout.trim().split('\n');
    return lines.map((line) => JSON.parse(line) as { run: string | null; event: string; data: object });
  };
  return {
    root: project.root,
    key,
    folder,
    file,
    sign,
    send,
    removeAgent: () => phasegate(project, ['agents', 'remove', 'w1']),
    removeSign: () => execFileSync('rm', ['-f', sign]),
    queue: (name: string, more: readonly string[] = []) => startRun(project, name, ['--queue', ...more]),
    worker: (how: string, more: readonly string[]) => begin(project, words(how, more), { env }).result,
    begin: (how: string, more: readonly string[]) => begin(project, words(how, more), { env }),
    call: (rest: readonly string[], credential: string) =>
      begin(project, ['worker', '--json', '--url', url, '--folder', folder, '--runs', '1', ...rest], {
        env: { PHASEGATE_KEY: credential },
      }).result,
    records: async (run: string, event: string) =>
      (await records()).filter((line) => line.run === run && line.event === event),
    leases: async () =>
      Object((await phasegate(project, ['agents', '--json'])).json.agents)[0].holds as readonly {
        expires_at: string;
      }[],
    branches: () => git(origin, 'for-each-ref', '--format=%(refname:short)', 'refs/heads').trim().split('\n'),
    show: (branch: string, path: string) => git(origin, 'show', `${branch}:${path}`),
    seen: () =>
      existsSync(file)
        ? readFileSync(file, 'utf8')
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line) as { run: string; cwd: string; files: string[]; pid: number })
        : [],
  };
}

/** A bare repository with one commit. */
function originIn(base: string): string {
  const [work, bare] = [join(base, 'origin'), join(base, 'origin.git')];
  mkdirSync(work);
  writeFileSync(join(work, 'README.md'), 'hello\n');
  git(work, 'init', '--quiet', '--initial-branch', 'main');
  git(work, 'add', '.');
  git(work, '-c', 'user.name=m', '-c', 'user.email=m@example.com', 'commit', '--quiet', '-m', 'first');
  git(base, 'clone', '--quiet', '--bare', work, bare);
  return bare;
}

function git(cwd: string, ...words: readonly string[]): string {
  return execFileSync('git', words, { cwd, encoding: 'utf8' });
}

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { COMMANDS } from '../../packages/phasegate/src/surfaces/cli/commandTable.ts';
import { someOf } from '../tier.ts';
import { asProcess, copyOf, makeProject, PROGRAM, phasegate, startRun, type TestProject } from './cli.ts';

// On Linux alone there is /proc to walk, and with it the way the secrets would be found.
const onLinux = describe.runIf(process.platform === 'linux');
const LONG = 300_000;
const PASSPHRASE = 'hush-hush, nobody may find this';

/** Above 15 Node does not see to it that a descriptor is not inherited. */
const DESCRIPTOR = 17;

/** Says that it has begun, and ends when it is told to: a process of ours for as long as it is looked at. */
const WAIT =
  "const fs=require('fs');fs.writeFileSync('begun','');setInterval(()=>fs.existsSync('go')&&process.exit(0),10)";
const WORKFLOW = `
workflow: errand
enforcement: { workspace: shared }
phases:
  GO:
    writes: [begun, go]
    postconditions: [{ check: command, with: { argv: [node, -e, ${JSON.stringify(WAIT)}] }, message: it must end well }]
  RETURN: {}
`;

/** Every command, with words that let it do something; RUN is an active run. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  init: ['--yes', '--template', 'minimal'],
  doctor: [],
  isolate: ['check'],
  completion: ['runs'],
  list: [],
  validate: [],
  test: [],
  check: [],
  simulate: ['errand'],
  coverage: ['errand'],
  replay: ['errand'],
  graph: ['errand'],
  tasks: [],
  import: ['agent_workflow.yaml'],
  search: ['anything'],
  index: [],
  start: ['errand'],
  runs: [],
  status: ['RUN'],
  watch: [],
  next: ['RUN'],
  task: ['RUN', '1'],
  done: ['RUN'],
  ask: ['RUN', '--question', 'Which?', '--option', 'This', '--option', 'That'],
  blocked: ['RUN', '--reason', 'x'],
  receipts: ['RUN'],
  exec: ['RUN', '--', 'true'],
  mcp: [],
  serve: ['--port', '0'],
  hook: ['claude'],
  up: [],
  run: ['RUN'],
  claim: [],
  agent: ['start', '--', 'node', '-e', '0'],
  worker: ['--url', 'http://127.0.0.1:9', '--', 'node', '-e', '0'],
  agents: ['add', 'ada'],
  webhooks: ['add', 'https://example.com/hook'],
  decide: ['RUN', '--option', 'Approve'],
  answer: ['RUN', '--question', '1', '--text', 'this'],
  resume: ['RUN'],
  override: ['RUN', '--reason', 'x'],
  stop: ['RUN', '--reason', 'x'],
  pause: ['--reason', 'x'],
  worktree: ['list'],
  fence: ['RUN'],
  migrate: ['RUN'],
  deps: [],
  trust: ['--yes'],
  attest: ['HEAD..HEAD', '--reason', 'x'],
  humans: ['remove', 'maria'],
  uninit: ['--yes'],
  down: [],
  tokens: ['rotate'],
  audit: ['verify'],
  'verify-range': ['HEAD..HEAD'],
  database: ['backups'],
  backup: [],
  restore: ['no-such-file'],
  'migrate-store': ['--from', 'sqlite:', '--to', 'postgres://127.0.0.1:9/none'],
  archive: ['--before', '2026-01-01'],
};
const NAMES = COMMANDS.map(({ name }) => name);
const LASTING = ['mcp', 'serve', 'watch'];

let original: TestProject;
let run: string;

onLinux('no descriptor, environment or argument of a process of ours holds a secret', () => {
  beforeAll(async () => {
    original = makeProject({ 'agent_workflow.yaml': WORKFLOW, go: '' });
    await phasegate(original, ['humans', 'add', 'maria'], { passphrase: PASSPHRASE });
    await phasegate(original, ['trust', '--yes'], { passphrase: PASSPHRASE });
    run = await startRun(original, 'errand');
  }, LONG);

  test('all commands are tried', () => {
    expect(Object.keys(WORDS)).toEqual(NAMES);
  });

  test.each(someOf(NAMES, { quick: 4, full: NAMES.length }))(
    'while `%s` runs',
    async (name) => {
      const project = copyOf(original);
      const { options } = await loaded(name);
      const words = (WORDS[name] ?? []).map((word) => (word === 'RUN' ? run : word));
      const asks = 'passphrase-fd' in options ? ['--passphrase-fd', String(DESCRIPTOR)] : [];
      const at = words.indexOf('--') === -1 ? words.length : words.indexOf('--');
      const started = begin(project, [name, ...words.toSpliced(at, 0, ...asks)]);
      if (LASTING.includes(name)) void started.speaks.then(() => started.child.kill('SIGTERM'));
      const secrets = secretsOf(project);

      for (let ended = false; !ended; ) {
        expect(find(started.child.pid ?? 0, secrets)).toEqual([]);
        ended = await Promise.race([started.ended.then(() => true), turn().then(() => false)]);
      }
      // A server in the background outlives the command, and the test.
      if (existsSync(join(project.stateDir, 'server.json')))
        expect((await asProcess(project, ['down'], { passphrase: PASSPHRASE })).code).toBe(0);
    },
    LONG,
  );

  test(
    'nor while the server that was given the passphrase runs a program [adv.P8]',
    async () => {
      const project = copyOf(original);
      rmSync(join(project.root, 'go'));
      const { child, speaks, ended } = begin(project, ['serve', '--port', '0', '--json', ...FROM_DESCRIPTOR]);
      const { url, sign_in } = JSON.parse(await speaks) as { readonly url: string; readonly sign_in: string };
      const pid = child.pid ?? 0;

      // It was read: the link is printed after the passphrase only.
      expect(sign_in).toContain('/sign-in?code=');
      expect(find(pid, [PASSPHRASE], { idle: true })).toEqual([]);
      let over = false;
      const completed = completeAt(url).finally(() => {
        over = true;
      });
      while (statSync(join(project.root, 'begun'), { throwIfNoEntry: false }) === undefined) {
        expect(over).toBe(false);
        expect(find(pid, secretsOf(project))).toEqual([]);
        await turn();
      }
      expect(find(pid, secretsOf(project))).toEqual([]);
      expect(childrenOf(pid).length).toBeGreaterThan(0);
      project.write('go', '');
      expect(await completed).toMatchObject({ phase: 'RETURN' });
      child.kill('SIGTERM');
      await ended;
    },
    LONG,
  );
});

const FROM_DESCRIPTOR = ['--passphrase-fd', String(DESCRIPTOR)];

async function loaded(name: string) {
  const entry = COMMANDS.find((command) => command.name === name);
  if (entry === undefined) throw new Error(`there is no command ${name}`);
  return entry.load();
}

/** Starts a command with the passphrase on a file that has no name any more, as a here-document has none. */
function begin(project: TestProject, words: readonly string[]) {
  const file = project.write('../secret', PASSPHRASE);
  const secret = openSync(file, 'r');
  rmSync(file);
  const child = spawn(
    'bash',
    ['-c', `exec "$@" ${DESCRIPTOR}<&3 3<&-`, 'bash', process.execPath, PROGRAM, ...words],
    { cwd: project.root, env: project.env, stdio: ['ignore', 'pipe', 'ignore', secret] },
  );
  closeSync(secret);
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return { child, ended, speaks: firstLine(child) };
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    lines.once('line', resolve).once('close', () => resolve(''));
  });
}

/** Has an agent complete the first phase of a run, over the server; a program is run for that. */
async function completeAt(url: string): Promise<Record<string, unknown>> {
  const post = async (path: string, body: object, bearer = '') => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(bearer === '' ? {} : { authorization: `Bearer ${bearer}` }),
      },
      body: JSON.stringify(body),
    });
    return (await response.json()) as Record<string, unknown>;
  };
  const { session } = await post('/session', { passphrase: PASSPHRASE, bearer: true });
  const { key } = await post('/agents', { name: 'ada' }, String(session));
  await post('/runs', { workflow: 'errand', queue: true }, String(session));
  const { phase_token } = await post('/tasks/claim', { agent_id: 'ada' }, String(key));
  return post('/tasks/transition', { artifacts: {} }, String(phase_token));
}

/** What nobody else may have: the passphrase, and the keys of the project. An agent's own key is its own. */
function secretsOf(project: TestProject): readonly string[] {
  const keys = JSON.parse(readFileSync(join(project.stateDir, 'keys.json'), 'utf8')) as {
    readonly audit: { readonly privateKey: string };
    readonly rows: string;
    readonly tokens: { readonly current: { readonly secret: string } };
  };
  return [PASSPHRASE, keys.audit.privateKey, keys.rows, keys.tokens.current.secret];
}

/**
 * Where a process and all it started hold a secret. The descriptors of the first are looked at when there is anybody to
 * find them, or it is idle: it has to read its keys and the passphrase somehow.
 */
function find(root: number, secrets: readonly string[], { idle = false } = {}): readonly string[] {
  const children = childrenOf(root);
  const found: string[] = [];
  for (const pid of [root, ...children]) {
    const looked = pid !== root || idle || children.length > 0;
    for (const place of ['environ', 'cmdline', ...(looked ? descriptorsOf(pid) : [])]) {
      const text = textOf(`/proc/${pid}/${place}`);
      if (!secrets.some((secret) => text.includes(secret))) continue;
      found.push(`${place} of ${textOf(`/proc/${pid}/cmdline`)}`);
    }
  }
  return found;
}

function childrenOf(root: number): readonly number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const [, parent] = /\) \S (\d+)/.exec(textOf(`/proc/${name}/stat`)) ?? [];
    parents.set(Number(name), Number(parent));
  }
  const isBelow = (pid: number | undefined): boolean =>
    pid !== undefined && pid > 1 && (parents.get(pid) === root || isBelow(parents.get(pid)));
  return [...parents.keys()].filter(isBelow);
}

/** Files only: anyone who reads a pipe takes what is in it. */
function descriptorsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`)
      .map((fd) => `fd/${fd}`)
      .filter((place) => isSmallFile(`/proc/${pid}/${place}`));
  } catch {
    return [];
  }
}

function isSmallFile(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats?.isFile() === true && stats.size <= 65_536;
}

/** Empty where the process ended meanwhile. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createPort } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { hookScript } from '../../packages/phasegate/src/settings/hookScript.ts';
import { hookSocketFor, pidFileOf } from '../../packages/phasegate/src/settings/hookSocket.ts';
import { hookProgramOf } from '../../packages/phasegate/src/settings/installSettings.ts';
import { asProcess, makeProject, PROGRAM, TESTED } from './cli.ts';

const project = makeProject({ ...TESTED, 'phasegate.config.json': '{ "port": 18441 }' });
const socket = hookSocketFor(project.stateDir);
const program = hookProgramOf(project.stateDir, 'claude');

beforeAll(async () => {
  const { code, stderr } = await asProcess(project, ['init', '--yes', '--client', 'claude', '--json']);
  expect(code, stderr).toBe(0);
});

afterAll(async () => {
  await asProcess(project, ['down']);
  for (const file of [socket, pidFileOf(socket)]) rmSync(file, { force: true });
});

test('the first event starts the server and is judged: without a run a session reads and does not write', async () => {
  const [write, read] = [
    await ask(event('Write', { file_path: join(project.root, 'a.js'), content: '' })),
    await ask(event('Read', { file_path: join(project.root, 'package.json') })),
  ];

  expect(write).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(write.stdout)).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } });
  expect(read.code).toBe(0);
  expect(read.stdout).not.toContain('deny');
});

test('nothing of the environment leads it elsewhere: a .curlrc, proxies, PATH, files of shells, functions [adv.G3 adv.G4]', async () => {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'phasegate-env-'));
  let asked = 0;
  const impostor = createPort((connection) => {
    asked += 1;
    connection.end('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}');
  }).listen(0, '127.0.0.1');
  await once(impostor, 'listening');
  onTestFinished(() => void impostor.close());
  const proxy = `http://127.0.0.1:${(impostor.address() as AddressInfo).port}`;
  const write = (name: string, text: string) => {
    writeFileSync(join(base, name), text, { mode: 0o755 });
    return join(base, name);
  };
  write('.curlrc', `proxy = ${proxy}\nurl = ${proxy}\noutput = /dev/null\n`);
  for (const name of ['curl', 'perl', 'env', 'sh', 'cat', 'printf', 'node', 'phasegate'])
    write(name, '#!/bin/sh\necho "{}"\n');
  const rc = write('rc', 'echo "{}"; exit 0\n');
  write('Evil.pm', 'print "{}"; exit 0;\n');

  const answer = await ask(event('Write', { file_path: join(project.root, 'a.js'), content: '' }), {
    HOME: base,
    CURL_HOME: base,
    XDG_CONFIG_HOME: base,
    XDG_STATE_HOME: base,
    PATH: base,
    BASH_ENV: rc,
    ENV: rc,
    http_proxy: proxy,
    HTTP_PROXY: proxy,
    ALL_PROXY: proxy,
    all_proxy: proxy,
    NODE_OPTIONS: `--require ${rc}`,
    PERL5LIB: base,
    PERL5OPT: '-MEvil',
    PERL5DB: 'BEGIN { print "{}"; exit 0 }',
    PHASEGATE_URL: proxy,
    'BASH_FUNC_printf%%': '() { echo "{}"; }',
    BYPASS: '1',
  });

  expect(answer.code).toBe(0);
  expect(JSON.parse(answer.stdout)).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } });
  expect(asked).toBe(0);
});

test('an event of ten megabytes is refused, and told why [adv.E3]', async () => {
  const { code, stdout } = await ask(
    event('Write', { file_path: join(project.root, 'a.js'), content: 'x'.repeat(10 * 1024 * 1024) }),
  );

  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } });
  expect(stdout).toContain('larger than 8 MB');
});

test('a project that was moved is refused everything that changes it, by the old server and without one', async () => {
  const moving = makeProject(TESTED);
  const { code, stderr } = await asProcess(moving, ['init', '--yes', '--client', 'claude', '--json']);
  expect(code, stderr).toBe(0);
  await asProcess(moving, ['up']);
  const moved = `${moving.root}-moved`;
  renameSync(moving.root, moved);
  const file = hookProgramOf(moving.stateDir, 'claude');
  const write = () =>
    ask(
      JSON.stringify({
        ...(JSON.parse(event('Write', { file_path: join(moved, 'a.js'), content: '' })) as object),
        cwd: moved,
      }),
      {},
      file,
    );

  expect((await write()).stdout).toContain('is outside the workspace');
  process.kill(Number(readFileSync(pidFileOf(hookSocketFor(moving.stateDir)), 'utf8')), 'SIGKILL');
  const without = await write();
  // The system may count the killed process for a moment.
  const last = without.stderr.includes('could not be asked') ? await write() : without;
  expect({ code: last.code, stdout: last.stdout }).toEqual({ code: 2, stdout: '' });
  expect(last.stderr).toContain('not allowed, because it could not be judged');
});

test('a killed server whose port something else has taken is started again, and the event is judged [adv.E4]', async () => {
  await ask(event('Read', { file_path: join(project.root, 'package.json') }));
  const pid = Number(readFileSync(pidFileOf(socket), 'utf8'));
  process.kill(pid, 'SIGKILL');
  const impostor = createServer((_, response) => response.end('{}'));
  onTestFinished(() => void impostor.close());
  for (let free = false; !free; ) {
    impostor.listen(18441, '127.0.0.1');
    free = await once(impostor, 'listening').then(
      () => true,
      () => false,
    );
  }

  const answers = [await ask(event('Write', { file_path: join(project.root, 'a.js'), content: '' }))];
  // Where the system still counts the killed process, the first call is refused and the server is started for the next.
  if (answers[0]?.code === 2)
    answers.push(await ask(event('Write', { file_path: join(project.root, 'a.js'), content: '' })));

  for (const { code, stdout } of answers) expect(code === 2 ? '' : stdout).toBe(stdout);
  expect(JSON.parse(answers.at(-1)?.stdout ?? '')).toMatchObject({
    hookSpecificOutput: { permissionDecision: 'deny' },
  });
});

test('a folder of the socket that is a link is not used, and the way on is named [adv.E8]', async () => {
  // In a folder of its own: that of long paths is shared by all projects of the user, whose hooks would be refused too.
  const { file, folder } = await scripted({ starts: true });
  renameSync(join(folder, 'run'), join(folder, 'aside'));
  symlinkSync('aside', join(folder, 'run'));

  const { code, stdout, stderr } = await ask(event('Read', { file_path: '/x' }), {}, file);

  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(`${join(folder, 'run')} is not a folder of this user's`);
  expect(stderr).toContain('phasegate doctor');
});

/** What of the two asks. */
const ASKED_BY = { perl: { perl: '/usr/bin/perl' }, curl: { perl: null } } as const;
const BY = Object.keys(ASKED_BY) as (keyof typeof ASKED_BY)[];

const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
const ANSWERS: readonly (readonly [string, RequestListener])[] = [
  ['500', (_, response) => response.writeHead(500).end('{}')],
  ['204', (_, response) => response.writeHead(204).end()],
  ['302', (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end('{}')],
  ['an empty body', (_, response) => response.end()],
  ['text', (_, response) => response.end('fine')],
  ['half of an object', (_, response) => response.end('{"decision":')],
  ['a list', (_, response) => response.end('[{}]')],
  ['a cut connection', (request) => request.socket.destroy()],
  ['garbage', (request) => request.socket.end('{}\n200')],
  ['a piece that was cut', (request) => request.socket.end(`${CHUNKED}8\r\n{}`)],
  ['pieces without an end', (request) => request.socket.end(`${CHUNKED}2\r\n{}\r\n`)],
  ['a status alone', (request) => request.socket.end('HTTP/1.1 200 OK\r\n\r\n')],
  [
    'less than it said',
    (_, response) => response.writeHead(200, { 'content-length': 10 }).end('{}', () => response.destroy()),
  ],
];

test.each(ANSWERS.flatMap(([name, listener]) => BY.map((by) => [name, by, listener] as const)))(
  'whatever else comes back ends with 2 and a reason: %s, asked by %s [adv.E4]',
  async (_name, by, listener) => {
    const { file } = await scripted({ listener, ...ASKED_BY[by] });

    const { code, stdout, stderr } = await ask('{}', {}, file);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^\[phasegate\] not allowed, because it could not be judged: ./);
  },
);

test.each([
  ['no server, and none that can be started', { listener: null }, 'phasegate up'],
  ['no curl', { listener: null, perl: null, curl: '/nowhere/curl' }, 'phasegate up'],
  ['a curl that is gone', { perl: null, curl: '/nowhere/curl' }, '/nowhere/curl'],
  ['an env that is gone', { env: '/nowhere/env' }, '/nowhere/env'],
  ['a perl that is gone', { perl: '/nowhere/perl' }, '/nowhere/perl'],
  ['nobody at the socket any more', { listener: 'gone', starts: true }, 'repeat the call'],
  ['no curl at the time of init, and a Phasegate that fails', { perl: null, curl: null }, 'judged'],
] as const)('%s: 2 and a reason [adv.E4 adv.E8]', async (_name, given, words) => {
  const { file } = await scripted(given);

  const { code, stdout, stderr } = await ask('{}', {}, file);

  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(words);
});

test.each([
  ['copilot', {}],
  ['claude', { COPILOT_PROJECT_DIR: '/project' }],
] as const)(
  'Copilot, which shows its model no more than the number of a program, is refused in words: by the hook of %s',
  async (client, env) => {
    const said = 'a "quoted" \\\\ path, `phasegate up`\nand — more';
    const listener: RequestListener = (_, response) => {
      response.statusCode = 500;
      response.end(said);
    };
    const { file } = await scripted({ client, listener });

    const { code, stdout, stderr } = await ask('{}', env, file);

    const reason =
      '[phasegate] not allowed, because it could not be judged: the server answered a  quoted     path, `phasegate up` and';
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      permissionDecision: 'deny',
      permissionDecisionReason: expect.stringContaining(reason),
      hookSpecificOutput: { permissionDecision: 'deny' },
    });
    expect(stderr).toContain(said);
    const full = spawn(file, [], {
      env: { ...env },
      stdio: ['ignore', openSync('/dev/full', 'w'), 'ignore'],
    });
    expect((await once(full, 'close'))[0]).toBe(2);
  },
);

test('without them Phasegate itself answers, and what was told and answered is passed on as it is', async () => {
  const answer = '{"a":"line\\nbreak \\\\ %s"}';
  const { file, folder } = await scripted({ perl: null, curl: null });
  writeFileSync(join(folder, 'phasegate'), `#!/bin/sh\ncat <<'E'\n${answer}\nE\n`, { mode: 0o755 });

  expect(await ask('{}', {}, file)).toEqual({ code: 0, stdout: `${answer}\n`, stderr: '' });
  for (const by of BY) {
    const told: Buffer[] = [];
    const listener: RequestListener = async (request, response) => {
      for await (const piece of request) told.push(piece as Buffer);
      // Nobody waits for the connection to end.
      response.writeHead(200, { 'content-length': Buffer.byteLength(answer) }).write(answer);
    };
    const direct = await scripted({ listener, ...ASKED_BY[by] });
    const pieces = await scripted({
      listener(_, response) {
        response.write(answer.slice(0, 5));
        response.end(answer.slice(5));
      },
      ...ASKED_BY[by],
    });
    expect(await ask('{}', {}, pieces.file)).toEqual({ code: 0, stdout: `${answer}\n`, stderr: '' });
    const long = `{"text":"${'ü'.repeat(1_000_000)}"}`;
    expect(await ask(long, {}, direct.file)).toEqual({ code: 0, stdout: `${answer}\n`, stderr: '' });
    expect(String(Buffer.concat(told)) === long, by).toBe(true);
  }
  expect(readdirSync(folder)).toContain('phasegate');
});

test.each(BY)('the PATH by which its client finds programs is told, asked by %s', async (by) => {
  const told: (string | undefined)[] = [];
  const listener: RequestListener = (request, response) => {
    const header = request.headers['x-phasegate-path'];
    told.push(header === undefined ? undefined : Buffer.from(String(header), 'latin1').toString());
    response.end('{}');
  };
  const { file } = await scripted({ listener, ...ASKED_BY[by] });
  const PATH = '/projekt/ü b/.bin:/usr/bin';
  // What could not be told as it is leads to no program at all.
  for (const path of [PATH, '/usr/bin\nx-phasegate-run: another', `/usr/bin:${'/a'.repeat(5000)}`])
    expect(await ask('{}', { PATH: path }, file)).toMatchObject({ code: 0 });
  expect(told).toEqual([PATH, '/', '/']);
});

test('a program of the project that the client finds first is not taken for Phasegate [adv.B5]', async () => {
  const bin = join(project.root, 'node_modules/.bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'phasegate'), '#!/bin/sh\ntouch escaped\n', { mode: 0o755 });
  onTestFinished(() => rmSync(join(project.root, 'node_modules'), { recursive: true }));
  const told = async (command: string, PATH: string) =>
    (await ask(event('Bash', { command }), { PATH })).stdout;

  const refused = await told('phasegate runs', `${bin}:/usr/bin:/bin`);
  const called = await told(`${PROGRAM} runs`, `${bin}:/usr/bin:/bin`);

  expect(JSON.parse(refused)).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } });
  expect(called).not.toContain('deny');
});

function event(tool: string, input: object): string {
  return JSON.stringify({
    session_id: 's1',
    transcript_path: join(project.base, 'none.jsonl'),
    cwd: project.root,
    hook_event_name: 'PreToolUse',
    tool_name: tool,
    tool_input: input,
    tool_use_id: `toolu_${Math.random().toString(36).slice(2)}`,
  });
}

/** A hook program that is made for a server of the test's own. */
async function scripted({
  client = 'claude',
  listener = (_, response) => response.end('{}'),
  perl = '/usr/bin/perl',
  curl = '/usr/bin/curl',
  env = '/usr/bin/env',
  starts = false,
}: {
  readonly client?: string;
  /** `gone` where only the file of its socket is left. */
  readonly listener?: RequestListener | 'gone' | null;
  readonly perl?: string | null;
  readonly curl?: string | null;
  readonly env?: string;
  /** Whether `phasegate up` says that the server runs. */
  readonly starts?: boolean;
}): Promise<{ readonly file: string; readonly folder: string }> {
  const folder = mkdtempSync(join('/tmp', 'phasegate-hook-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'run'), { mode: 0o700 });
  const own = join(folder, 'run/hooks.sock');
  writeFileSync(join(folder, 'phasegate'), `#!/bin/sh\nexit ${starts ? 0 : 1}\n`, { mode: 0o755 });
  if (listener === 'gone') writeFileSync(own, '');
  else if (listener !== null) {
    const server = createServer(listener).listen(own);
    await once(server, 'listening');
    onTestFinished(() => void server.close());
  }
  if (listener !== null) writeFileSync(pidFileOf(own), `${process.pid}\n`);
  const file = join(folder, 'hook');
  const phasegate = [join(folder, 'phasegate')];
  writeFileSync(
    file,
    hookScript({
      client,
      version: '1',
      root: folder,
      socket: own,
      env,
      perl,
      curl,
      phasegate,
      environment: { PATH: '/usr/bin:/bin' },
    }),
  );
  chmodSync(file, 0o500);
  return { file, folder };
}

async function ask(
  input: string,
  env: Readonly<Record<string, string>> = {},
  file = program,
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const child = spawn(file, [], { env: { ...env }, stdio: 'pipe' });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => {
    stdout += String(chunk);
  });
  child.stderr.on('data', (chunk) => {
    stderr += String(chunk);
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

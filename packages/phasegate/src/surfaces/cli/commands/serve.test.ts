import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { get } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openLocalServer } from '../../../localServer.ts';
import type { RunningServer } from '../../../runtime/ports.ts';
import type { Machine } from '../command.ts';
import { EMPTY_PROJECT, makeShell } from '../fixtures/callCli.ts';

const GOOD = 'workflow: errand\nphases: { GO: {} }\n';
const BROKEN = 'workflow: broken\nphases: { GO: { next: NOWHERE } }\n';

test('it prints the address and a link that signs in once, until it is asked to end', async () => {
  const shell = makeShell({ 'good.workflow.yaml': GOOD });
  const serving = machine();
  const called = shell.callWith(serving.machine, ['serve', '--port', '0', '--json']);
  const { url } = await serving.opened;
  const healthy = await fetch(`${url}/healthz`);

  serving.stop();
  const { code, json } = await called;

  expect(healthy.status).toBe(200);
  expect(code).toBe(0);
  expect(json()).toEqual({ url, pid: process.pid, sign_in: expect.stringContaining(`${url}/sign-in?code=`) });
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
});

test('`--public-url` is what links, the document and `Host` name; the token of its file opens the metrics', async () => {
  const shell = makeShell({ 'good.workflow.yaml': GOOD, 'metrics-token': 'a-token-of-enough-letters\n' });
  const serving = machine();
  const token = join(shell.root, 'metrics-token');
  const publicUrl = 'https://build.example.com:8443';
  const words = ['serve', '--port', '0', '--public-url', publicUrl, '--metrics-token-file', token, '--json'];
  const called = shell.callWith(serving.machine, words);
  const { url } = await serving.opened;
  const ask = (path: string, headers: Readonly<Record<string, string>> = {}) => asked(url, path, headers);
  const bearer = { authorization: 'Bearer a-token-of-enough-letters' };

  const document = JSON.parse((await ask('/openapi.json')).text) as { servers: unknown };
  const seen = {
    named: (await ask('/openapi.json', { host: 'build.example.com:8443' })).status,
    forwarded: (await ask('/openapi.json', { host: 'evil.example', 'x-forwarded-host': 'build.example.com' }))
      .status,
    closed: (await ask('/metrics')).status,
    metrics: (await ask('/metrics', bearer)).status,
  };
  serving.stop();
  const { code, json } = await called;

  expect(document.servers).toEqual([{ url: publicUrl }]);
  expect(seen).toEqual({ named: 200, forwarded: 403, closed: 401, metrics: 200 });
  expect(code).toBe(0);
  expect(json()).toEqual({
    url,
    public_url: publicUrl,
    pid: process.pid,
    sign_in: expect.stringContaining(`${publicUrl}/sign-in?code=`),
  });
});

test.each([
  ['build.example.com', 'not a scheme and a host'],
  ['https://build.example.com/gate', 'without a path'],
  ['https://maria:secret@build.example.com', 'not a scheme and a host'],
  ['https://build.example.com?a=b', 'not a scheme and a host'],
  ['ftp://build.example.com', 'not a scheme and a host'],
  ['http://build.example.com', 'use `https`'],
  ['http://127.evil.example.com', 'use `https`'],
  ['http://127.0.0.1.example.com', 'use `https`'],
  ['https://0.0.0.0', 'every address and none'],
])('`--public-url %s` is refused: %s', async (given, why) => {
  const shell = makeShell({ 'good.workflow.yaml': GOOD });
  const serving = machine();
  void serving.opened.then(serving.stop);

  const { code, stderr } = await shell.callWith(serving.machine, [
    'serve',
    '--port',
    '0',
    '--public-url',
    given,
  ]);

  expect(code).toBe(2);
  expect(stderr).toContain(why);
});

test.each([
  ['', 'does not hold a token'],
  ['short', 'does not hold a token'],
  ['two lines of a token\nand more', 'does not hold a token'],
  [null, 'cannot be read'],
])('a file that holds no token for the metrics is refused: %j', async (text, why) => {
  const shell = makeShell({ 'good.workflow.yaml': GOOD, ...(text === null ? {} : { token: text }) });
  const serving = machine();
  void serving.opened.then(serving.stop);
  const file = join(shell.root, 'token');

  const { code, stderr } = await shell.callWith(serving.machine, [
    'serve',
    '--port',
    '0',
    '--metrics-token-file',
    file,
  ]);

  expect(code).not.toBe(0);
  expect(stderr).toContain(why);
});

test.each([
  ['a host without TLS', ['--host', '0.0.0.0'], '--behind-proxy'],
  ['a certificate that is not there', ['--tls-cert', 'no.pem', '--tls-key', 'no.pem'], 'cannot be read'],
  [
    'a certificate that is none',
    ['--tls-cert', 'good.workflow.yaml', '--tls-key', 'good.workflow.yaml'],
    'is not a certificate in PEM',
  ],
])('%s is refused before the workflows are told of', async (_, words, why) => {
  const shell = makeShell({ 'good.workflow.yaml': GOOD });
  const serving = machine();
  void serving.opened.then(serving.stop);
  const given = words.map((word) => (word === 'good.workflow.yaml' ? join(shell.root, word) : word));

  const { code, stderr } = await shell.callWith(serving.machine, ['serve', '--port', '0', ...given]);

  expect(code).not.toBe(0);
  expect(stderr).toContain(why);
  expect(stderr).not.toContain('workflow, all valid');
});

test.each([
  'https://build.example.com',
  'build.example.com:8443',
  'build.example.com/x',
  '*.example.com',
  '*',
  '0.0.0.0',
  '::',
  'a,b',
  'a b',
  'x@y',
  '',
])(
  '`--allow-host %s` is not a name: agents that are started would be sent elsewhere with their keys',
  async (name) => {
    const shell = makeShell({ 'good.workflow.yaml': GOOD });
    const serving = machine();
    // One that is served all the same would be served for ever.
    void serving.opened.then(serving.stop);

    const { code, stderr } = await shell.callWith(serving.machine, [
      'serve',
      '--port',
      '0',
      `--allow-host=${name}`,
    ]);

    expect(code).toBe(2);
    expect(stderr).toContain('--allow-host');
  },
);

test('the workflows are looked at on startup; a broken one is told and the others are served [S2.52]', async () => {
  const shell = makeShell({ 'good.workflow.yaml': GOOD, 'broken.workflow.yaml': BROKEN });
  const serving = machine();
  const called = shell.callWith(serving.machine, ['serve', '--port', '0']);
  await serving.opened;
  serving.stop();

  const { code, stdout, stderr } = await called;

  expect(code).toBe(0);
  expect(stderr).toContain('2 workflows, 1 with problems:');
  expect(stderr).toMatch(/broken\.workflow\.yaml:2:\d+: .*NOWHERE/);
  expect(stdout).toMatch(/^serving at http:\/\/127\.0\.0\.1:\d+\nsign in, once and within ten minutes: http/);
});

test('with a human and no terminal there is no link, only where to sign in [fail.43 adv.M5]', async () => {
  const shell = makeShell(EMPTY_PROJECT);
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);
  const serving = machine();
  const called = shell.callWith(serving.machine, ['serve', '--port', '0']);
  const { url } = await serving.opened;
  serving.stop();

  const { stdout } = await called;

  expect(stdout).toContain(`sign in with your passphrase at ${url}/sign-in`);
  expect(stdout).not.toContain('code=');
});

test('a passphrase that is given gets the link, and a wrong one ends the command', async () => {
  const shell = makeShell(EMPTY_PROJECT);
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);
  const serve = async (passphrase: string) => {
    const fd = shell.descriptor(`${passphrase}\n`);
    const serving = machine();
    const words = ['serve', '--port', '0', '--json', '--passphrase-fd', String(fd)];
    const called = shell.callWith(serving.machine, words);
    await serving.opened;
    serving.stop();
    return called;
  };

  expect((await serve('open sesame')).json()).toMatchObject({ sign_in: expect.stringContaining('code=') });
  expect(await serve('wrong')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('credential_invalid'),
  });
});

test.each([
  ['a host that others reach, in plain HTTP', ['--host', '0.0.0.0'], '--behind-proxy'],
  ['another database', ['--database', 'mysql://db/phasegate'], 'postgres://'],
  ['half of TLS', ['--tls-cert', 'cert.pem'], 'belong together'],
  ['a certificate that is not there', ['--tls-cert', 'no.pem', '--tls-key', 'no.pem'], 'cannot be read'],
  ['a port that is none', ['--port', '65536'], 'from 0 to 65535'],
  [
    'a port that is a word, with the next step,',
    ['--port', 'x'],
    '\nhint: leave it out for the port of the config',
  ],
])('%s is refused, and nothing is left behind [C7]', async (_name, words, message) => {
  const shell = makeShell(EMPTY_PROJECT);
  const port = words.includes('--port') ? [] : ['--port', '0'];

  expect(await shell.callWith(machine().machine, ['serve', ...port, ...words])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(message),
  });
  expect(existsSync(join(String(shell.env.XDG_STATE_HOME), 'phasegate'))).toBe(false);
});

test('the port is the config’s where none is named', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as AddressInfo;
  const shell = makeShell({ 'phasegate.config.json': JSON.stringify({ port }) });

  expect(await shell.callWith(machine().machine, ['serve'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`port ${port} on \`127.0.0.1\` is in use`),
  });
});

test('a socket in a folder that is not there is refused for that, and not for its permissions', async () => {
  const shell = makeShell({ 'good.workflow.yaml': GOOD });
  const socket = join(shell.root, 'nope', 'socket');

  const words = ['serve', '--port', '0', '--socket', socket];
  const { code, stderr } = await shell.callWith(machine().machine, words);

  expect(code).toBe(2);
  expect(stderr).toContain(`cannot listen on \`${socket}\`: its folder does not exist`);
  expect(stderr).toContain('hint: make the folder first');
});

test('without a word about it the port is 8000 of this machine, and the API is under /api/v1 [S2.94]', async () => {
  // No matter who has it, we or somebody else: a server that wants it says so.
  const taken = createServer().listen(8000, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve).once('error', resolve));
  onTestFinished(() => void taken.close());
  const shell = makeShell({ 'good.workflow.yaml': GOOD });

  const refused = machine();
  void refused.opened.then(refused.stop);

  expect(await shell.callWith(refused.machine, ['serve'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('port 8000 on `127.0.0.1` is in use'),
  });

  const serving = machine();
  const called = shell.callWith(serving.machine, ['serve', '--port', '0']);
  const { url } = await serving.opened;
  const [api, elsewhere] = [await fetch(`${url}/api/v1/runs`), await fetch(`${url}/runs`)];
  serving.stop();
  await called;
  expect([api.status, elsewhere.status]).toEqual([401, 404]);
});

test('behind a proxy another host is served', async () => {
  const serving = machine();
  const words = [
    'serve',
    '--port',
    '0',
    '--host',
    '0.0.0.0',
    '--behind-proxy',
    '--allow-host',
    'pg.example.com',
  ];
  const called = makeShell(EMPTY_PROJECT).callWith(serving.machine, [...words, '--json']);
  const { url } = await serving.opened;
  serving.stop();

  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect((await called).json()).toMatchObject({
    sign_in: expect.stringContaining('https://pg.example.com/sign-in?code='),
  });
});

/** A process that may serve, asked to end by the test. */
function machine() {
  const asked = new AbortController();
  const opened = Promise.withResolvers<RunningServer>();
  const unused = () => expect.fail('this is not asked for here');
  const machine: Machine = {
    serveMcp: unused,
    spawnAgent: unused,
    driveRun: unused,
    testWorkflow: unused,
    runLaunch: unused,
    stopping: () => asked.signal,
    openServer: async (request) => {
      const server = await openLocalServer(request);
      opened.resolve(server);
      return server;
    },
  };
  return { machine, opened: opened.promise, stop: () => asked.abort() };
}

/** `fetch` does not let anyone say which host is meant. */
function asked(url: string, path: string, headers: Readonly<Record<string, string>>) {
  return new Promise<{ readonly status: number; readonly text: string }>((resolve, reject) => {
    get(`${url}${path}`, { headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    }).on('error', reject);
  });
}

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { localWorker } from '../../packages/phasegate/src/localWorker.ts';
import { openTestProject } from '../../packages/phasegate/src/runtime/fixtures/openTestProject.ts';
import { runCli } from '../../packages/phasegate/src/surfaces/cli/runCli.ts';
import { FULL } from '../tier.ts';
import { Collector } from './callHere.ts';
import { makeProject, phasegate, startRun } from './cli.ts';
import { NOTHING_ELSE, serveHere } from './serveHere.ts';

const AGENT = fileURLToPath(new URL('./workerAgent.ts', import.meta.url));
const AWAY = 'the database cannot be opened or written';
const WAITING = 'the server has no run for it now';

const WORKFLOW = `
workflow: unseen
enforcement: { workspace: shared }
phases:
  WORK:
    writes: ["**"]
    required_evidence: { summary: { type: str, rule: non_empty } }
`;

test('a worker that is started while the database is away asks again, and works once it is back', async () => {
  const bed = await makeBed();
  await bed.queue();
  bed.away = /./;
  const worker = bed.worker('loose', ['--runs', '1']);

  await worker.says(`the server does not answer (${AWAY}); asking again`);
  bed.away = null;

  expect(await worker.code).toBe(0);
  expect(worker.stdout()).toContain('worked on 1 run');
});

test('a worker that is asked to end while it waits for the database ends in good order', async () => {
  const bed = await makeBed();
  bed.away = /./;
  const worker = bed.worker('crash', []);
  await worker.says(AWAY);

  worker.stop();

  expect(await worker.code).toBe(0);
});

test.runIf(FULL)(
  'what answers 503 and is not a server of ours ends the worker, and not for its key',
  async () => {
    const bed = await makeBed();
    bed.away = /./;
    bed.said = '<html>';

    const worker = bed.worker('crash', ['--json']);

    expect(await worker.code).toBe(1);
    const told = JSON.parse(worker.stdout()) as object;
    expect(told).toMatchObject({ error: 'store_unavailable', hint: expect.stringContaining('try again') });
    expect(JSON.stringify(told)).not.toContain('key');
  },
);

test.runIf(FULL)('that nothing is queued is told after an answer that says so, and not before', async () => {
  const bed = await makeBed();
  bed.away = /claim/;
  const worker = bed.worker('crash', []);

  await worker.says('w1: the server does not answer');
  await expect.poll(() => worker.stderr().split('asking again').length).toBeGreaterThan(2);
  expect(worker.stderr()).not.toContain(WAITING);
  bed.away = null;

  await worker.says(WAITING);
  worker.stop();
  expect(await worker.code).toBe(0);
});

test('a run is given back when the database is there again', async () => {
  const bed = await makeBed();
  const run = await bed.queue();
  bed.onStart = /token|release/;
  // It asks for thirty of these.
  bed.pollMs = 1_000;
  const worker = bed.worker('crash', ['--runs', '1']);
  await worker.says('asking again');
  expect(worker.stderr()).not.toContain('given back');
  bed.away = null;

  expect(await worker.code).toBe(0);
  expect(worker.stderr()).toContain('it is back in the queue');
  expect(await bed.queued()).toEqual([run]);
});

test.runIf(FULL)('a run that cannot be given back is told as such', async () => {
  const bed = await makeBed();
  await bed.queue();
  bed.onStart = /token|release/;
  const worker = bed.worker('crash', ['--runs', '1']);

  expect(await worker.code).toBe(0);

  expect(worker.stderr()).toContain(`could not be given back; it is free when its lease ends (${AWAY})`);
  expect(worker.stdout()).toContain('1 not given back');
  expect(await bed.queued()).toEqual([]);
});

/** A project with its server, a way to it that can be cut as a database that is away cuts it, and workers on that way. */
async function makeBed() {
  const project = makeProject({ 'agent_workflow.yaml': WORKFLOW });
  const { json } = await phasegate(project, ['agents', 'add', 'w1', '--json']);
  const server = await serveHere(project);
  const bed = {
    /** Paths that are answered with 503. */
    away: null as RegExp | null,
    /** From when a run was claimed. */
    onStart: null as RegExp | null,
    pollMs: 20,
    said: JSON.stringify({ error: 'store_unavailable', message: AWAY }),
    queue: () => startRun(project, 'unseen', ['--queue']),
    async queued() {
      const { json: listed } = await phasegate(project, ['runs', '--status', 'queued', '--json']);
      return (listed.runs as readonly { readonly run: string }[]).map(({ run }) => run);
    },
    worker(how: string, words: readonly string[]) {
      const asked = new AbortController();
      const [stdout, stderr] = [new Collector(), new Collector()];
      const env = { ...project.env, PHASEGATE_KEY: String(json.key) };
      const log = join(project.base, 'log');
      const code = runCli({
        argv: [
          ...['worker', '--url', url, '--log', log, ...words],
          ...['--', process.execPath, AGENT, how, join(project.base, 'seen')],
        ],
        env,
        stdin: Readable.from([]),
        stdout,
        stderr,
        isTty: false,
        openProject: openTestProject,
        machine: {
          ...NOTHING_ELSE,
          stopping: () => asked.signal,
          runWorker: (request) => localWorker(env)({ ...request, pollMs: bed.pollMs }),
        },
      });
      onTestFinished(async () => {
        asked.abort();
        await code;
      });
      return {
        code,
        stdout: () => stdout.text,
        stderr: () => stderr.text,
        stop: () => asked.abort(),
        says: (words: string) => expect.poll(() => stderr.text, { timeout: 20_000 }).toContain(words),
      };
    },
  };
  const way = createServer(async (request, response) => {
    const path = request.url ?? '';
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (bed.away?.test(path)) {
      response.writeHead(503, { 'content-type': 'application/json' }).end(bed.said);
      return;
    }
    const { authorization = '' } = request.headers;
    const answer = await fetch(`${server.url}${path}`, {
      method: request.method ?? 'GET',
      headers: { authorization, 'content-type': 'application/json' },
      ...(request.method === 'GET' ? {} : { body: Buffer.concat(chunks) }),
    });
    if (path.endsWith('/claim') && answer.status === 200) bed.away = bed.onStart;
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  });
  await new Promise<void>((resolve) => way.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void way.close());
  const url = `http://127.0.0.1:${(way.address() as AddressInfo).port}`;
  return bed;
}

import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, test } from 'vitest';
import { makeProject } from '../fixtures/makeProject.ts';
import { fuse } from './fuse.ts';

const FILES = {
  'docs/timeouts.md': '# Deadlines\n\nEvery remote call has a deadline.\n',
  'docs/cats.md': '# Cats\n\nA cat sleeps all day.\n',
  'docs/mixed.md': '# Mixed\n\nThe stalled cat.\n',
};

const endpoints: Endpoint[] = [];
afterEach(async () => {
  for (const endpoint of endpoints.splice(0)) await endpoint.close();
});

describe('embeddings', () => {
  test('find what shares no word with the question, once every passage has its vector', async () => {
    const endpoint = await serve();
    const project = makeProject(FILES);
    const standards = project.open({ env: envFor(endpoint) });

    await standards.sync({ rebuild: false });
    const { results, retrievalMethod } = await standards.search({ query: 'the peer stalled' });

    expect(retrievalMethod).toBe('bm25+vectors');
    expect(results.map(({ file }) => file)).toContain('docs/timeouts.md');
    expect(endpoint.requests[0]).toMatchObject({ model: 'tiny' });
    await standards.close();
  });

  test('are asked for once per text: moves and a rebuild need none again, a change needs one', async () => {
    const endpoint = await serve();
    const project = makeProject(FILES);
    const standards = project.open({ env: envFor(endpoint) });
    await standards.sync({ rebuild: false });
    const asked = endpoint.texts();

    await standards.sync({ rebuild: true });
    expect(endpoint.texts()).toBe(asked);
    project.write('docs/cats.md', '# Cats\n\nA cat sleeps all night.\n');
    await standards.sync({ rebuild: false });
    expect(endpoint.texts()).toBe(asked + 1);
    await standards.close();
  });

  test('of another model are never mixed in', async () => {
    const endpoint = await serve();
    const project = makeProject(FILES);
    const first = project.open({ env: envFor(endpoint) });
    await first.sync({ rebuild: false });
    await first.close();

    const second = project.open({ env: { ...envFor(endpoint), PHASEGATE_EMBEDDINGS_MODEL: 'other' } });

    expect((await second.search({ query: 'deadline' })).retrievalMethod).toBe('bm25');
    await second.close();
    const database = new DatabaseSync(project.database);
    expect(database.prepare('SELECT DISTINCT model FROM vec').all().length).toBeLessThanOrEqual(2);
    database.close();
  });

  test('that are not available leave search to words, and `index` says so without the key', async () => {
    const endpoint = await serve();
    const project = makeProject(FILES);
    const standards = project.open({ env: envFor(endpoint) });
    await standards.sync({ rebuild: false });
    endpoint.fail(500);

    const answer = await standards.search({ query: 'deadline of a call' });
    project.write('docs/new.md', '# New\n\nText.\n');
    const fault = await standards.sync({ rebuild: false }).catch((error: unknown) => error);

    expect(answer).toMatchObject({ retrievalMethod: 'bm25', hint: expect.stringContaining('answered 500') });
    expect(answer.results[0]?.file).toBe('docs/timeouts.md');
    expect(fault).toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('answered 500'),
    });
    expect(JSON.stringify([answer, fault, String(fault)])).not.toContain('k-e-y');
    await standards.close();
  });

  test.each([
    ['too few', { data: [] }],
    ['no numbers', { data: [{ embedding: ['x'] }] }],
    ['no list', { data: 'x' }],
  ])('an answer with %s is refused', async (_, answer) => {
    const endpoint = await serve();
    endpoint.answer(answer);
    const standards = makeProject({ 'docs/a.md': 'text' }).open({ env: envFor(endpoint) });

    await expect(standards.sync({ rebuild: false })).rejects.toMatchObject({ code: 'store_unavailable' });
    await standards.close();
  });

  test('send the key as a bearer and nowhere else', async () => {
    const endpoint = await serve();
    const standards = makeProject(FILES).open({ env: envFor(endpoint) });

    await standards.sync({ rebuild: false });

    expect(endpoint.headers[0]?.authorization).toBe('Bearer k-e-y');
    expect(JSON.stringify(endpoint.requests)).not.toContain('k-e-y');
    await standards.close();
  });

  test.each([
    ['http://example.org/v1', 'https'],
    ['https://user:pass@example.org/v1', 'credential'],
    ['ftp://example.org', 'not an http'],
    ['nowhere', 'not an http'],
  ])('an endpoint at %s is refused', (url, reason) => {
    const env = { PHASEGATE_EMBEDDINGS_URL: url, PHASEGATE_EMBEDDINGS_MODEL: 'tiny' };

    expect(() => makeProject().open({ env })).toThrow(reason);
  });

  test('an endpoint without a model is refused, and none is asked for by default', () => {
    expect(() => makeProject().open({ env: { PHASEGATE_EMBEDDINGS_URL: 'http://localhost:1' } })).toThrow(
      'model',
    );
    expect(() => makeProject().open({ env: {} })).not.toThrow();
  });
});

test('words count 0.7 and vectors 0.3, each brought to the same scale', () => {
  const candidate = (id: number, score: number) => ({ id, path: `${id}`, bodyhash: '', score });

  const fused = fuse(
    [candidate(1, 20), candidate(2, 10)],
    [candidate(2, 0.9), candidate(3, 0.5), candidate(1, 0.1)],
  );

  expect(Object.fromEntries(fused.map(({ id, score }) => [id, Number(score.toFixed(3))]))).toEqual({
    1: 0.7,
    2: 0.65,
    3: 0.15,
  });
});

interface Endpoint {
  readonly url: string;
  readonly requests: { readonly model: string; readonly input: readonly string[] }[];
  readonly headers: IncomingHttpHeaders[];
  texts(): number;
  fail(status: number): void;
  answer(value: object): void;
  close(): Promise<void>;
}

function envFor({ url }: Endpoint): Readonly<Record<string, string>> {
  return {
    PHASEGATE_EMBEDDINGS_URL: url,
    PHASEGATE_EMBEDDINGS_MODEL: 'tiny',
    PHASEGATE_EMBEDDINGS_KEY: 'k-e-y',
  };
}

/** An endpoint that knows two subjects: waiting, and cats. */
async function serve(): Promise<Endpoint> {
  const requests: Endpoint['requests'] = [];
  const headers: IncomingHttpHeaders[] = [];
  let status = 200;
  let fixed: object | null = null;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    const asked = JSON.parse(body) as Endpoint['requests'][number];
    requests.push(asked);
    headers.push(request.headers);
    const data = asked.input.map((text, index) => ({ index, embedding: vectorOf(text) }));
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(fixed ?? { data: data.reverse() }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint: Endpoint = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    headers,
    texts: () => requests.reduce((sum, { input }) => sum + input.length, 0),
    fail: (code) => {
      status = code;
    },
    answer: (value) => {
      fixed = value;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  endpoints.push(endpoint);
  return endpoint;
}

function vectorOf(text: string): readonly number[] {
  const count = (pattern: RegExp) => (text.match(pattern) ?? []).length;
  return [count(/deadline|remote|stall|peer/gi), count(/cat|sleep/gi), 0.1];
}

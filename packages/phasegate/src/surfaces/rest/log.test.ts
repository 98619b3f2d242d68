import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { OPERATOR } from './fixtures/operator.ts';
import { countRequests, createLog } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { RestEnv } from './parts.ts';

test('a request is one line: what was asked, what was answered, who asked; nothing that was sent', async () => {
  const { lines, app, counted } = logging(true);

  await app.request('/runs/r-1?code=hidden-code', {
    method: 'POST',
    body: '{"passphrase":"hidden-body"}',
    headers: { authorization: 'Bearer pgk_hidden-key', cookie: 'phasegate_session=pgs_hidden-cookie' },
  });

  expect(lines).toHaveLength(1);
  expect(lines[0]).not.toContain('hidden');
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'info',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    request: 1,
    method: 'POST',
    route: '/runs/:id',
    status: 200,
    ms: expect.any(Number),
    caller: 'operator',
    msg: 'answered',
  });
  expect(counted).toEqual([['/runs/:id', 'POST', 200]]);
});

test('without `verbose` a request is counted and not written', async () => {
  const { lines, app, counted } = logging(false);

  await app.request('/runs/r-1', { method: 'POST' });
  await app.request('/made-up/path');

  expect(lines).toEqual([]);
  expect(counted).toEqual([
    ['/runs/:id', 'POST', 200],
    ['unknown', 'GET', 404],
  ]);
});

test('what looks like a secret is not written, wherever it stands', () => {
  const { lines, log } = logging(false);

  log.error({ passphrase: 'hidden', request: { authorization: 'hidden', cookie: 'hidden' }, id: 1 }, 'm');

  expect(lines[0]).not.toContain('hidden');
  expect(lines[0]).toContain('"id":1');
});

function logging(verbose: boolean) {
  const lines: string[] = [];
  const counted: unknown[] = [];
  const log = createLog({ verbose, to: { write: (line) => void lines.push(line) } });
  const app = new Hono<RestEnv>();
  const request: Metrics['request'] = ({ route, method, status, ms }) =>
    void counted.push([route, method, ms >= 0 && status]);
  app.use(countRequests(log, { request }, verbose));
  app.use(async (c, next) => {
    c.set('caller', { kind: 'human', session: OPERATOR });
    await next();
  });
  app.post('/runs/:id', (c) => c.text('done'));
  return { lines, log, app, counted };
}

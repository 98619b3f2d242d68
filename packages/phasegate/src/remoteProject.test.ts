import { expect, onTestFinished, test } from 'vitest';
import { openRemoteProject } from './remoteProject.ts';
import { serveHttp } from './surfaces/rest/httpServer.ts';
import { openApiBed } from './surfaces/rest/routes/fixtures/apiBed.ts';
import { FIVE } from './surfaces/rest/routes/fixtures/workflows.ts';

test('the feed over a server has as many records as are asked for, however large they are', async () => {
  const bed = openApiBed(FIVE);
  await bed.human('maria');
  const server = await serveHttp({
    app: { fetch: (request, env) => bed.app.fetch(request, env), endStreams: () => {} },
    host: '127.0.0.1',
    port: 0,
  });
  onTestFinished(() => server.close());
  const report = 'x'.repeat(1_000_000);
  const time = '2026-11-15T12:00:00.000Z';
  const completed = { time, principal: 'agent:a1', event: 'phase_completed' as const };
  await bed.store.note(
    null,
    Array.from({ length: 9 }, (_, n) => ({ ...completed, data: { n, evidence: { report } } })),
  );
  const url = `http://localhost:${server.port}`;
  const remote = await openRemoteProject({ url, env: {}, insecureHttp: false });
  onTestFinished(() => remote.close());
  await remote.humans.unlock('maria', 'passphrase of maria');

  const all = await remote.feed.after(0, 1000);
  const some = await remote.feed.after(0, all.length - 2);

  const events = all.map(({ event }) => event);
  expect(events.filter((event) => event === 'phase_completed')).toHaveLength(9);
  expect(some).toEqual(all.slice(0, -2));
});

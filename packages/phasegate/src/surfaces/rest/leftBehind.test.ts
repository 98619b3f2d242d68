import { describe, expect, test } from 'vitest';
import { openDoor, PASSPHRASE } from './fixtures/openDoor.ts';
import type { PageFiles } from './pageFiles.ts';

const FORGETS = '"cache", "storage"';

describe('what somebody left in a browser', () => {
  test('is forgotten when a session of the browser begins, and cookies are not', async () => {
    const door = openDoor();
    const { pathname, search } = new URL(await door.app.signInLink(null));
    const byLink = await door.app.request(`${pathname}${search}`);
    await door.project.humans.add('maria', PASSPHRASE, null);
    const byForm = await door.app.request('/sign-in', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-dest': 'document' },
      body: new URLSearchParams({ passphrase: PASSPHRASE }).toString(),
    });
    const byApi = await door.app.request('/api/v1/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ passphrase: PASSPHRASE }),
    });

    expect([byLink.status, byForm.status, byApi.status]).toEqual([303, 303, 201]);
    for (const { headers } of [byLink, byForm, byApi]) expect(headers.get('clear-site-data')).toBe(FORGETS);
  });

  test.for([
    ['/', { 'sec-fetch-dest': 'empty' }],
    ['/sign-in', { 'sec-fetch-dest': 'empty' }],
    ['/sign-in', { 'sec-fetch-dest': 'iframe' }],
    ['/sign-in', { 'sec-fetch-dest': 'document', 'service-worker-navigation-preload': 'true' }],
    ['/sw.js', { 'sec-fetch-dest': 'serviceworker', 'service-worker': 'script' }],
    ['/healthz', { 'service-worker': 'script' }],
  ] as const)(
    'gets nothing at %s with %o, is to be forgotten, and that is logged once',
    async ([path, headers]) => {
      const door = openDoor();
      const { at, cookie } = await door.browser();
      const answers = [
        await door.app.request(path, { headers }),
        await door.app.request(`${at}${path}`, { headers: { ...headers, cookie } }),
      ];

      for (const answer of answers) {
        expect(answer.status).toBe(403);
        expect(answer.headers.get('clear-site-data')).toBe(FORGETS);
        expect(await answer.json()).toMatchObject({ error: 'not_permitted' });
      }
      expect(door.logged).toEqual([{ cause: expect.stringMatching(/service worker|asked for a page/) }]);
    },
  );

  test('does not spend the link that a worker passes on', async () => {
    const door = openDoor();
    const { pathname, search } = new URL(await door.app.signInLink(null));
    const passedOn = await door.app.request(`${pathname}${search}`, {
      headers: { 'sec-fetch-dest': 'empty' },
    });
    const shown = await door.app.request(`${pathname}${search}`, {
      headers: { 'sec-fetch-dest': 'document' },
    });

    expect([passedOn.status, shown.status]).toEqual([403, 303]);
  });
});

describe('what the page loads', () => {
  test('is below the path of a session, for this browser alone, and nowhere else', async () => {
    const door = openDoor({ pages: PAGES });
    const { at, cookie } = await door.browser();
    const known = await door.app.request('/assets/index-1.js');
    const below = await door.app.request(`${at}/assets/index-1.js`, { headers: { cookie } });
    const missing = await door.app.request(`${at}/assets/other.js`, { headers: { cookie } });

    expect([known.status, below.status, missing.status]).toEqual([404, 200, 404]);
    expect(await below.text()).toBe('1;');
    expect(below.headers.get('cache-control')).toBe('private, max-age=604800, immutable');
    expect(known.headers.get('cache-control')).toBe('no-store');
  });
});

const PAGES: PageFiles = {
  index: '<!doctype html>',
  files: new Map([
    ['index-1.js', { type: 'text/javascript', body: new Uint8Array(Buffer.from('1;')), gzipped: null }],
  ]),
};

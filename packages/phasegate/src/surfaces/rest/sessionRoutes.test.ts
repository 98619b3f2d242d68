import { describe, expect, test } from 'vitest';
import { type Browser, browserOf, type Door, openDoor, PASSPHRASE } from './fixtures/openDoor.ts';

const SESSION = '/api/v1/session';
const JSON_TYPE = { 'content-type': 'application/json' };

describe('the link on the terminal', () => {
  test('signs in once, with a cookie no script can read, and that is on record', async () => {
    const door = openDoor();
    const link = pathOf(await door.app.signInLink(null));

    const response = await door.app.request(link);
    const again = await door.app.request(link);

    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toBe(`${browserOf(response).at}/`);
    expect(response.headers.get('set-cookie')).toMatch(
      /^phasegate_session=pgc_[\w-]{43}; Path=\/s\/[\w-]{43}\/; HttpOnly; SameSite=Strict; Max-Age=604800$/,
    );
    expect(again.status).toBe(401);
    expect(await door.noted('signed_in')).toMatchObject([{ by: 'link' }]);
    expect(await door.noted('credential_failed')).toMatchObject([{ credential: 'sign_in_code' }]);
  });

  test('gives a session that is nobody in particular while no human is set up', async () => {
    const door = openDoor();
    const headers = await door.operator();

    const response = await door.app.request(SESSION, { headers });

    expect(await response.json()).toEqual({
      name: 'operator',
      kind: 'human',
      can_decide: false,
      asks_passphrase: false,
      expires_at: '2026-11-16T00:00:00.000Z',
    });
  });

  test('opened twice at the same moment signs in once', async () => {
    const door = openDoor();
    const link = pathOf(await door.app.signInLink(null));

    const responses = await Promise.all([1, 2, 3].map(() => door.app.request(link)));

    expect(responses.map(({ status }) => status).sort()).toEqual([303, 401, 401]);
  });

  test('is void after ten minutes, and void at once when humans are set up after it was made', async () => {
    const door = openDoor();
    const old = pathOf(await door.app.signInLink(null));
    door.pass(10 * 60_000);
    const open = await door.operator();
    const unused = pathOf(await door.app.signInLink(null));
    await door.project.humans.add('maria', PASSPHRASE, null);

    expect((await door.app.request(old)).status).toBe(401);
    expect((await door.app.request(unused)).status).toBe(401);
    expect((await door.app.request(SESSION, { headers: open })).status).toBe(401);
  });

  test('is not spent by whatever only looks ahead', async () => {
    const door = openDoor();
    const link = pathOf(await door.app.signInLink(null));

    await door.app.request(link, { method: 'HEAD' });
    await door.app.request(link, { headers: { 'sec-purpose': 'prefetch;prerender' } });

    expect((await door.app.request(link)).status).toBe(303);
  });

  test('of a human who showed the passphrase lets that human look, and asks for it again at each act', async () => {
    const { door, human } = await withMaria();
    const { at, cookie } = await door.browser(human);

    expect(await (await door.app.request(`${at}${SESSION}`, { headers: { cookie } })).json()).toMatchObject({
      name: 'maria',
      can_decide: true,
      asks_passphrase: true,
    });
  });

  test('sets a cookie for TLS only where there is TLS', async () => {
    const door = openDoor({
      settings: { secure: true, origin: 'https://gate.example', hosts: ['gate.example', 'localhost'] },
    });

    const response = await door.app.request(pathOf(await door.app.signInLink(null)));

    expect(response.headers.get('set-cookie')).toMatch(/; Secure$/);
  });
});

describe('the passphrase', () => {
  test('signs in by JSON with a cookie, or with a bearer for programs', async () => {
    const { door } = await withMaria();

    const answered = await signIn(door, { name: 'maria', passphrase: PASSPHRASE });
    const browser = browserOf(answered);
    const program = await signIn(door, { passphrase: PASSPHRASE, bearer: true });
    const { session } = (await program.json()) as { session: string };
    const headers = { authorization: `Bearer ${session}` };

    const told = await answered.text();
    expect(answered.status).toBe(201);
    expect(JSON.parse(told)).toMatchObject({ path: `${browser.at}/`, asks_passphrase: true });
    expect(browser.cookie).toMatch(/^phasegate_session=pgc_/);
    expect(told).not.toContain('pgc_');
    expect(program.headers.has('set-cookie')).toBe(false);
    expect(await (await door.app.request(SESSION, { headers })).json()).toMatchObject({ name: 'maria' });
    expect(await door.noted('signed_in')).toMatchObject([{ by: 'passphrase' }, { by: 'passphrase' }]);
  });

  test('is refused alike for a wrong one and a wrong name, and both are on record', async () => {
    const { door } = await withMaria();

    const wrong = await signIn(door, { name: 'maria', passphrase: 'wrong horse battery' });
    const nobody = await signIn(door, { name: 'nobody', passphrase: PASSPHRASE });

    expect([wrong.status, nobody.status]).toEqual([401, 401]);
    expect(await wrong.json()).toEqual(await nobody.json());
    expect(await door.noted('credential_failed')).toHaveLength(2);
  });

  test('without a human set up is answered so', async () => {
    const response = await signIn(openDoor(), { passphrase: PASSPHRASE });

    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ error: 'no_human' });
  });

  test('without a name does where one human is set up, and the names of several are not told', async () => {
    const { door, human } = await withMaria();
    await door.project.humans.add('otto', PASSPHRASE, human);

    const response = await signIn(door, { passphrase: PASSPHRASE });
    const text = await response.text();

    expect(response.status).toBe(422);
    expect(JSON.parse(text)).toMatchObject({ problems: [{ field: 'name' }] });
    expect(text).not.toMatch(/maria|otto/);
  });

  test.each([
    ['nothing', {}],
    ['a number', { passphrase: 5 }],
    ['two ways at once', { passphrase: 'x', code: 'y' }],
    ['a field nobody knows', { passphrase: 'x', principal: 'maria' }],
    ['far too much', { passphrase: 'x'.repeat(2000) }],
    ['a list', []],
  ])('of the wrong shape is refused with 422: %s', async (_name, body) => {
    const { door } = await withMaria();

    expect((await signIn(door, body)).status).toBe(422);
  });
});

describe('a session', () => {
  test('lasts twelve hours after its last use', async () => {
    const door = openDoor();
    const headers = await door.operator();
    const status = async () => (await door.app.request(SESSION, { headers })).status;
    door.pass(11 * HOUR);
    expect(await status()).toBe(200);
    door.pass(11 * HOUR);
    expect(await status()).toBe(200);
    door.pass(12 * HOUR);

    expect(await status()).toBe(401);
  });

  test('lasts seven days at most, however much it is used', async () => {
    const door = openDoor();
    const headers = await door.operator();
    const statuses: number[] = [];
    for (let hours = 0; hours < 7 * 24; hours += 8) {
      statuses.push((await door.app.request(SESSION, { headers })).status);
      door.pass(8 * HOUR);
    }

    expect(new Set(statuses)).toEqual(new Set([200]));
    expect((await door.app.request(SESSION, { headers })).status).toBe(401);
  });

  test('ends when its human signs out', async () => {
    const door = openDoor();
    const headers = await door.operator();

    const { at, cookie } = await door.browser();

    const out = await door.app.request(SESSION, { method: 'DELETE', headers });
    const gone = await door.app.request(`${at}${SESSION}`, { method: 'DELETE', headers: { cookie } });

    expect([out.status, gone.status]).toEqual([204, 204]);
    expect(gone.headers.get('set-cookie')).toMatch(new RegExp(`=; Path=${at}/; .*Max-Age=0`));
    expect((await door.app.request(SESSION, { headers })).status).toBe(401);
    expect((await door.app.request(`${at}${SESSION}`, { headers: { cookie } })).status).toBe(401);
  });

  test('ends when its human is removed', async () => {
    const { door, human } = await withMaria();
    await door.project.humans.add('otto', PASSPHRASE, human);
    const otto = { name: 'otto', passphrase: PASSPHRASE };
    const { at, cookie } = browserOf(await signIn(door, otto));
    const { session } = (await (await signIn(door, { ...otto, bearer: true })).json()) as { session: string };
    await door.project.humans.remove('otto', human);
    const look = async () => [
      (await door.app.request(`${at}${SESSION}`, { headers: { cookie } })).status,
      (await door.app.request(SESSION, { headers: { authorization: `Bearer ${session}` } })).status,
    ];

    expect(await look()).toEqual([401, 401]);
    door.pass(1);
    await door.project.humans.add('otto', PASSPHRASE, human);
    expect(await look()).toEqual([401, 401]);
  });

  test('is not ended by another human who signs in again and again', async () => {
    const { door, human } = await withMaria();
    await door.project.humans.add({ name: 'vic', role: 'viewer' }, PASSPHRASE, human);
    const vic = await door.project.humans.unlock('vic', PASSPHRASE);
    const maria = await door.browser(human);
    const look = ({ at, cookie }: Browser) => door.app.request(`${at}${SESSION}`, { headers: { cookie } });
    const first = await door.browser(vic);
    for (let count = 0; count < 64; count++) {
      door.pass(1);
      await door.browser(vic);
    }

    expect((await look(maria)).status).toBe(200);
    expect((await look(first)).status).toBe(401);
  });

  test('makes room where there are too many: the one that was not used longest', async () => {
    const door = openDoor();
    const first = await door.operator();
    const second = await door.operator();
    for (let count = 0; count < 62; count++) {
      door.pass(1);
      await door.operator();
    }
    await door.app.request(SESSION, { headers: first });
    door.pass(1);
    await door.operator();

    expect((await door.app.request(SESSION, { headers: first })).status).toBe(200);
    expect((await door.app.request(SESSION, { headers: second })).status).toBe(401);
  });

  test('cannot be used by a page of another origin', async () => {
    const door = openDoor();
    const { at, cookie } = await door.browser();
    const stop = (headers: Readonly<Record<string, string>>) =>
      door.app.request(`${at}${SESSION}`, { method: 'DELETE', headers: { cookie, ...headers } });

    expect((await stop({ origin: 'http://127.0.0.1:3000' })).status).toBe(403);
    expect((await stop({ 'sec-fetch-site': 'same-site' })).status).toBe(403);
    expect((await stop({ origin: 'null' })).status).toBe(403);
    expect((await stop({ origin: 'null', 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await door.app.request(`${at}${SESSION}`, { headers: { cookie } })).status).toBe(200);
  });
});

describe("a browser's session", () => {
  test('is known by its own path alone, and its secret is not a bearer [adv.P1 C34]', async () => {
    const { door, human } = await withMaria();
    const { at, cookie } = await door.browser(human);
    const other = await door.browser(human);
    const secret = cookie.split('=')[1];
    const look = async (path: string, headers: Readonly<Record<string, string>>) =>
      (await door.app.request(path, { headers })).status;

    expect(await look(`${at}${SESSION}`, { cookie })).toBe(200);
    expect(await look(SESSION, { cookie })).toBe(401);
    expect(await look(`${other.at}${SESSION}`, { cookie })).toBe(401);
    expect(await look(SESSION, { authorization: `Bearer ${secret}` })).toBe(401);
    expect(await look(`${at}${SESSION}`, { authorization: `Bearer ${secret}` })).toBe(401);
    expect(await look(`${at}${SESSION}`, { cookie, authorization: `Bearer ${secret}` })).toBe(401);
    expect(await look('/', { cookie })).toBe(303);
  });

  test('is found among cookies of the same name that another server of the host put there', async () => {
    const door = openDoor();
    const { at, cookie } = await door.browser();
    const tossed = `phasegate_session=pgc_theirs; ${cookie}; phasegate_session=x; other=1`;

    expect((await door.app.request(`${at}${SESSION}`, { headers: { cookie: tossed } })).status).toBe(200);
  });

  test('is told to nobody: no answer leads there, none carries a referrer, and no log has its path', async () => {
    const door = openDoor({ settings: { verbose: true } });
    const { at, cookie } = await door.browser();

    const page = await door.app.request(`${at}/`, { headers: { cookie } });
    const lost = await door.app.request(`${at}/api/v1/nowhere`, { headers: { cookie } });
    const elsewhere = await door.app.request('/', { headers: { cookie } });

    for (const { headers } of [page, lost, elsewhere]) {
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('x-frame-options')).toBe('DENY');
    }
    expect(await lost.text()).not.toContain(at);
    expect(await page.text()).not.toContain(at);
    expect(elsewhere.headers.get('location')).toBe('/sign-in');
    expect(JSON.stringify(door.logged)).not.toContain(at);
  });
});

describe('the pages', () => {
  test('ask who is not signed in to sign in, and show what runs to who is', async () => {
    const door = openDoor();
    const { run } = await door.holder('ada');

    const stranger = await door.app.request('/');
    const { at, cookie } = await door.browser();
    const home = await door.app.request(`${at}/`, { headers: { cookie } });
    const text = await home.text();

    expect([stranger.status, stranger.headers.get('location')]).toEqual([303, '/sign-in']);
    expect(home.status).toBe(200);
    expect(text).toContain(run);
    expect(text).toContain('href="/docs"');
  });

  test('have no script, nothing from elsewhere, and a label for every field', async () => {
    const door = openDoor();
    const response = await door.app.request('/sign-in');
    const text = await response.text();

    expect(response.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'/,
    );
    expect(response.headers.get('x-frame-options')).toBe('DENY');
    expect(text).not.toMatch(/<script|https?:\/\//);
    expect(text).toMatch(/<html lang="en">/);
    for (const [, id] of text.matchAll(/<input id="(\w+)"/g)) expect(text).toContain(`<label for="${id}"`);
  });

  test('sign in and out by their forms, and say on the form what was wrong', async () => {
    const { door } = await withMaria();
    const submit = (passphrase: string, headers: Readonly<Record<string, string>> = {}) =>
      door.app.request('/sign-in', {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body: new URLSearchParams({ name: '', passphrase }).toString(),
      });

    const wrong = await submit('<b>wrong</b> horse');
    const right = await submit(PASSPHRASE, { origin: 'http://127.0.0.1:8000' });
    const { at, cookie } = browserOf(right);
    const home = await door.app.request(`${at}/`, { headers: { cookie } });
    const own = { cookie, origin: 'null', 'sec-fetch-site': 'same-origin' };
    const out = await door.app.request(`${at}/sign-out`, { method: 'POST', headers: own });

    expect(wrong.status).toBe(401);
    expect(await wrong.text()).toContain('role="alert"');
    expect([right.status, home.status]).toEqual([303, 200]);
    expect(out.headers.get('location')).toBe('/sign-in');
    expect((await door.app.request(`${at}/`, { headers: { cookie } })).status).toBe(303);
  });

  test('take no form of another site, of another type, or without an end', async () => {
    const { door } = await withMaria();
    const submit = (headers: Readonly<Record<string, string>>, body: string) =>
      door.app.request('/sign-in', { method: 'POST', headers, body });
    const type = { 'content-type': 'application/x-www-form-urlencoded' };

    expect((await submit({ ...type, origin: 'null' }, `passphrase=${PASSPHRASE}`)).status).toBe(403);
    expect((await submit({ 'content-type': 'text/plain' }, `passphrase=${PASSPHRASE}`)).status).toBe(415);
    expect((await submit(type, `passphrase=${'x'.repeat(10_000)}`)).status).toBe(413);
  });
});

const HOUR = 3_600_000;

async function withMaria() {
  const door = openDoor();
  await door.project.humans.add('maria', PASSPHRASE, null);
  return { door, human: await door.project.humans.unlock('maria', PASSPHRASE) };
}

async function signIn(door: Door, body: unknown): Promise<Response> {
  return door.app.request(SESSION, { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(body) });
}

function pathOf(link: string): string {
  const { pathname, search } = new URL(link);
  return `${pathname}${search}`;
}

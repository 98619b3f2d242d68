import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FULL } from '../tier.ts';
import { openPage } from './browser.ts';
import { makeProject, phasegate } from './cli.ts';
import { serveHere } from './serveHere.ts';
import type { Served } from './server.ts';

const PASSPHRASE = 'open sesame';
const MINUTES = 120_000;

/** What an agent can serve on another port of the machine: pages that lead to ours and back, and a list of what came. */
interface Preview {
  readonly url: string;
  readonly came: {
    readonly path: string;
    readonly cookie: string | undefined;
    readonly referer: string | undefined;
  }[];
  close(): void;
}

let server: Served;
let preview: Preview;

beforeAll(async () => {
  const project = makeProject({ 'agent_workflow.yaml': 'id: errand\nphases:\n  - id: ONLY\n' });
  await phasegate(project, ['humans', 'add', 'maria'], { passphrase: PASSPHRASE });
  server = await serveHere(project);
  preview = await servePreview(server.url);
}, MINUTES);

afterAll(() => preview?.close());

test.runIf(FULL)(
  'a server on another port receives no cookie: not by links, redirects, frames, forms or scripts [adv.P1 C34]',
  async () => {
    const page = await openPage();
    await signIn(page);
    const own = new URL(page.url()).pathname;

    // The human signed in, and is shown what runs.
    expect(own).toMatch(/^\/s\/[\w-]{43}\/$/);
    await page.getByText('Signed in as maria').waitFor();

    await page.goto(`${preview.url}/`);
    await page.click('#link');
    await page.goto(`${preview.url}/redirect`);
    await page.goto(`${server.url}/`);
    await page.goto(`${preview.url}/frames`);
    await page.waitForFunction('document.title === "all asked"');
    await page.goto(`${preview.url}/form`);
    await page.click('button');
    // Back and forth between the session's own page and theirs, as by an address that is typed.
    await page.goto(`${server.url}${own}`);
    await page.getByText('Signed in as maria').waitFor();
    await page.evaluate(`location.href = ${JSON.stringify(`${preview.url}/from-session`)}`);
    await page.waitForURL(`${preview.url}/from-session`);
    await page.goBack();
    await page.goto(`${preview.url}/`);

    const paths = preview.came.map(({ path }) => path);
    for (const path of [
      '/',
      '/redirect',
      '/frames',
      '/framed',
      '/asked',
      '/image',
      '/formed',
      '/from-session',
    ]) {
      expect(paths).toContain(path);
    }
    // Theirs alone, which shows that this browser does keep and send cookies to this port.
    expect(new Set(preview.came.map(({ cookie }) => cookie))).toEqual(new Set([undefined, 'theirs=1']));
    const place = own.split('/')[2] ?? '';
    expect(JSON.stringify(preview.came)).not.toContain(place);
  },
  MINUTES,
);

test.runIf(FULL)(
  'a page of the other port that knows the address is sent the cookie, and still cannot act with it [adv.P1]',
  async () => {
    const page = await openPage();
    await signIn(page);
    const own = new URL(page.url()).pathname;
    await page.goto(`${preview.url}${own}`);
    const stolen = preview.came.at(-1)?.cookie ?? '';
    const as = (path: string, init: RequestInit) =>
      fetch(`${server.url}${path}`, { ...init, headers: { ...init.headers, cookie: stolen } });
    const body = JSON.stringify({ name: 'mine' });
    const json = { 'content-type': 'application/json' };

    expect(stolen).toMatch(/phasegate_session=pgc_/);
    expect((await as(`${own}api/v1/agents`, { method: 'POST', headers: json, body })).status).toBe(403);
    expect((await as('/api/v1/agents', { method: 'POST', headers: json, body })).status).toBe(401);
    const bearer = { authorization: `Bearer ${stolen.split('phasegate_session=')[1]}` };
    const tried = await fetch(`${server.url}/api/v1/agents`, { headers: bearer });
    expect(tried.status).toBe(401);
  },
  MINUTES,
);

test.runIf(FULL)(
  'the form signs out, though the page tells nobody where it is',
  async () => {
    const page = await openPage();
    await signIn(page);
    const own = page.url();

    await page.click('text=Sign out');
    expect(page.url()).toBe(`${server.url}/sign-in`);
    await page.goto(own);
    expect(page.url()).toBe(`${server.url}/sign-in`);
    expect(await page.context().cookies()).toEqual([]);
  },
  MINUTES,
);

async function signIn(page: Page): Promise<void> {
  await page.goto(`${server.url}/`);
  await page.fill('#passphrase', PASSPHRASE);
  await page.click('button');
  await page.waitForURL(/\/s\//);
}

async function servePreview(target: string): Promise<Preview> {
  const came: { path: string; cookie: string | undefined; referer: string | undefined }[] = [];
  const http: Server = createServer((request: IncomingMessage, response) => {
    const path = request.url ?? '';
    if (path !== '/favicon.ico') {
      came.push({ path, cookie: request.headers.cookie, referer: request.headers.referer });
    }
    if (path === '/redirect') {
      response.writeHead(302, { location: `${target}/sign-in` }).end();
      return;
    }
    response.setHeader('set-cookie', 'theirs=1; Path=/');
    response.setHeader('content-type', 'text/html');
    response.end(PAGES[path]?.(target) ?? '<p>hello</p>');
  });
  await new Promise<void>((ready) => http.listen(0, '127.0.0.1', ready));
  const { port } = http.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, came, close: () => void http.close() };
}

const PAGES: Readonly<Record<string, (target: string) => string>> = {
  '/': (target) => `<a id="link" href="${target}/">to the gate</a>`,
  '/frames': (target) => `<iframe src="${target}/"></iframe><iframe src="/framed"></iframe><img src="/image">
<script>
const all = ['${target}/', '${target}/s/', '${target}/api/v1/session'].map((url) =>
  fetch(url, { credentials: 'include', mode: 'no-cors' }).catch(() => 0));
Promise.all([...all, fetch('/asked', { credentials: 'include' })])
  .then(() => new Promise((go) => document.readyState === 'complete' ? go() : addEventListener('load', go)))
  .then(() => { document.title = 'all asked'; });
</script>`,
  '/form': () => '<form method="post" action="/formed"><button>go</button></form>',
};

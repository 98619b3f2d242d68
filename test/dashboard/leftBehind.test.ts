import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openPage, signIn } from '../e2e/browser.ts';
import { PROGRAM, phasegate, type TestProject } from '../e2e/cli.ts';
import { serve } from '../e2e/server.ts';
import { FULL } from '../tier.ts';
import { handInNotes, PASSPHRASE, releaseProject, startRelease } from './releaseProject.ts';

const MINUTES = 300_000;
const BUILT = new URL('../../packages/phasegate/dist/dashboard/', import.meta.url);

describe.runIf(FULL)('somebody who held the port while the server was down', () => {
  test(
    'left a script for the page to load, from there and from another port: it never runs',
    async () => {
      const bed = await atGate();
      const entry = /src="\.\/(assets\/index-[^"]+\.js)"/.exec(read('index.html'))?.[1] ?? '';
      const script = `${theirs(bed.run)};\n${read(entry)}`;
      // Also where the last session was: its page is still open, and asks what listens.
      const paths = [`/${entry}`, `${new URL(home(bed.page)).pathname}${entry}`];
      const keep = `<!doctype html><title>wait</title><script>Promise.all(${JSON.stringify(paths)}.map((path) =>
        fetch(${JSON.stringify(bed.url)} + path, { cache: 'reload' }).then((got) => got.text())))
        .then(() => { document.title = 'ready' })</script>`;
      await bed.whileDown(async (stand) => {
        const previews = await listen((_, response) => {
          response.setHeader('content-type', 'text/html').end(keep);
        }, 0);
        await stand((request, response) => {
          if (!paths.includes(request.url ?? '')) {
            response.setHeader('content-type', 'text/html').end(keep);
            return;
          }
          response.setHeader('content-type', 'text/javascript');
          response.setHeader('access-control-allow-origin', '*');
          response.setHeader('cross-origin-resource-policy', 'cross-origin');
          response.setHeader('cache-control', 'public, max-age=31536000, immutable');
          response.end(script);
        });
        for (const from of [bed.url, `http://localhost:${(previews.address() as AddressInfo).port}`]) {
          await bed.page.goto(`${from}/sign-in`);
          await bed.page.waitForFunction('document.title === "ready"');
        }
        await closed(previews);
      });
      await signIn(bed.page, bed.url, { passphrase: PASSPHRASE });

      await expectReworked(bed);
    },
    MINUTES,
  );

  test.for(['every page', 'pages of a session only', 'pages that are loaded ahead'])(
    'left a service worker that changes %s: it gets none, and is gone',
    { timeout: MINUTES },
    async (which) => {
      const bed = await atGate();
      await bed.whileDown(async (stand) => {
        await stand((request, response) => {
          if (request.url === '/sw.js') {
            response.setHeader('content-type', 'text/javascript').end(worker(bed.run, which));
            return;
          }
          response.setHeader('content-type', 'text/html').end(REGISTERS);
        });
        await bed.page.goto(`${bed.url}/sign-in`);
        await bed.page.waitForFunction('document.title === "ready"');
      });
      if (which !== 'pages of a session only') {
        await bed.page.goto(`${bed.url}/sign-in`);
        expect(await bed.page.textContent('body')).toContain('a script asked for a page; reload the page');
      }
      await signIn(bed.page, bed.url, { passphrase: PASSPHRASE });

      expect(await bed.page.evaluate(WORKERS)).toBe(0);
      await expectReworked(bed);
    },
  );
});

const WORKERS = 'navigator.serviceWorker.getRegistrations().then((all) => all.length)';

interface Bed {
  readonly project: TestProject;
  readonly page: Page;
  readonly run: string;
  readonly url: string;
  /** Ends the server, lets somebody stand at its port, and starts it again. */
  whileDown(act: (stand: (answer: RequestListener) => Promise<void>) => Promise<void>): Promise<void>;
}

/** The human says no by a passkey, and that is what was decided. */
async function expectReworked({ project, page, run }: Bed): Promise<void> {
  await page.goto(`${home(page)}#/decisions/${run}`);
  await page.getByRole('radio', { name: /Rework/ }).check();
  await page.getByRole('textbox').first().fill('no, not like this');
  await page.getByRole('button', { name: 'Decide: Rework' }).click();
  await expect
    .poll(async () => decided(project, run), { timeout: 60_000, interval: 500 })
    .toEqual(['Rework']);
  expect(await page.evaluate('window.theirs === undefined')).toBe(true);
}

async function decided(project: TestProject, run: string): Promise<readonly unknown[]> {
  const { stdout } = await phasegate(project, ['audit', 'export', '--run', run]);
  const lines = stdout.split('\n').filter((line) => line.includes('"gate_decided"'));
  return lines.map((line) => /"option":"(\w+)"/.exec(line)?.[1]);
}

/** What has another option signed than the one that was chosen. */
function theirs(run: string): string {
  return `(() => {
    window.theirs = true;
    const real = navigator.credentials.get.bind(navigator.credentials);
    const base = document.baseURI.split('#')[0];
    const send = (path, body) => fetch(new URL('api/v1/' + path, base), body === undefined ? {} : {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body),
    }).then((got) => got.json());
    const bytes = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
    const text = (read) => btoa(String.fromCharCode(...new Uint8Array(read)))
      .replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
    navigator.credentials.get = async (asked) => {
      const { gate, shown } = await send('runs/${run}/gate');
      const body = { gate, shown, option: 'Publish' };
      const { nonce, options } = await send('passkeys/challenge', { method: 'POST', path: '/runs/${run}/decisions', body });
      const { id, response } = await real({ publicKey: { ...asked.publicKey, challenge: bytes(options.challenge) } });
      await send('runs/${run}/decisions', { ...body, passkey: {
        id, nonce, authenticator_data: text(response.authenticatorData),
        client_data_json: text(response.clientDataJSON), signature: text(response.signature),
      } });
      throw new DOMException('x', 'NotAllowedError');
    };
  })()`;
}

const REGISTERS = `<!doctype html><title>wait</title><script>
navigator.serviceWorker.register('/sw.js', { scope: '/', updateViaCache: 'all' })
  .then(() => navigator.serviceWorker.ready).then(() => { document.title = 'ready' })</script>`;

function worker(run: string, which: string): string {
  return `const script = ${JSON.stringify(theirs(run))};
    const which = ${JSON.stringify(which)};
    self.addEventListener('install', () => self.skipWaiting());
    self.addEventListener('activate', (event) => event.waitUntil((async () => {
      if (which === 'pages that are loaded ahead') await self.registration.navigationPreload.enable();
      await self.clients.claim();
    })()));
    self.addEventListener('fetch', (event) => {
      const { pathname } = new URL(event.request.url);
      if (pathname === '/theirs.js') {
        return event.respondWith(new Response(script, { headers: { 'content-type': 'text/javascript' } }));
      }
      if (event.request.mode !== 'navigate') return;
      if (which === 'pages of a session only' && !pathname.startsWith('/s/')) return;
      event.respondWith((async () => {
        const got = (await event.preloadResponse) || (await fetch(event.request));
        if (got.type === 'opaqueredirect' || !(got.headers.get('content-type') || '').includes('html')) return got;
        const html = (await got.text()).replace('<head>', '<head><script src="/theirs.js"></script>');
        return new Response(html, { status: got.status, headers: { 'content-type': 'text/html' } });
      })());
    });`;
}

/** A run at its gate, and a page of `localhost` that is signed in and has a passkey. */
async function atGate(): Promise<Bed> {
  const project = await releaseProject();
  const run = await startRelease(project);
  await handInNotes(project, run);
  const served = await serve(project);
  const url = served.url.replace('127.0.0.1', 'localhost');
  const page = await openPage();
  page.setDefaultTimeout(90_000);
  await addAuthenticator(page);
  await signIn(page, url, { passphrase: PASSPHRASE });
  await register(page);
  return {
    project,
    page,
    run,
    url,
    async whileDown(act) {
      const port = Number(new URL(url).port);
      served.kill('SIGKILL');
      await served.ended;
      const standing: Server[] = [];
      await act(async (answer) => void standing.push(await listen(answer, port)));
      for (const server of standing) await closed(server);
      await startAgain(project, port);
    },
  };
}

async function startAgain({ root, env }: TestProject, port: number): Promise<void> {
  const child = spawn(process.execPath, [PROGRAM, 'serve', '--port', String(port), '--json'], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(async () => {
    const ended = once(child, 'exit');
    if (child.kill('SIGKILL')) await ended;
  });
  await once(createInterface({ input: child.stdout }), 'line');
}

async function listen(answer: RequestListener, port: number): Promise<Server> {
  const server = createServer(answer);
  await new Promise<void>((ready) => server.listen(port, '127.0.0.1', ready));
  return server;
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise<void>((done) => void server.close(() => done()));
}

async function addAuthenticator(page: Page): Promise<void> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

async function register(page: Page): Promise<void> {
  await page.goto(`${home(page)}#/people`);
  await page.getByLabel('What you call it').fill('laptop');
  await page.getByRole('button', { name: 'Make a passkey' }).click();
  await page.getByLabel('Passphrase of maria').fill(PASSPHRASE);
  await page.getByRole('button', { name: 'Register it' }).click();
  await page.getByRole('button', { name: 'Remove the passkey laptop of maria' }).waitFor();
}

function home(page: Page): string {
  return page.url().split('#')[0] ?? '';
}

function read(name: string): string {
  return readFileSync(new URL(name, BUILT), 'utf8');
}

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CDPSession, Page } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openPage, signIn } from '../e2e/browser.ts';
import { phasegate } from '../e2e/cli.ts';
import { serve } from '../e2e/server.ts';
import { FULL } from '../tier.ts';
import { handInNotes, PASSPHRASE, releaseProject, startRelease } from './releaseProject.ts';

const MINUTES = 180_000;

test.runIf(FULL)(
  'a human registers a passkey with the passphrase and decides with it, and the audit verifies the decision',
  async () => {
    const { project, page, run } = await atGate();
    await register(page, 'laptop');

    await decide(page, run);
    await page.getByText('Nothing waits for you here').waitFor();

    expect((await phasegate(project, ['status', run, '--json'])).json).toMatchObject({ phase: 'PUBLISH' });
    const verified = await phasegate(project, ['audit', 'verify', '--json']);
    expect(verified.json).toMatchObject({ ok: true, findings: [] });
    const told = await phasegate(project, ['audit', 'export', '--run', run]);
    expect(told.stdout).toContain('"signature":"passkey.');
  },
  MINUTES,
);

describe.runIf(FULL)('a passkey on the pages', () => {
  test(
    'is refused when what is decided changed meanwhile, and the change is shown',
    async () => {
      const { project, page, run } = await atGate();
      await register(page, 'laptop');
      await page.goto(`${home(page)}#/decisions/${run}`);
      await page.getByRole('radio', { name: /Publish/ }).check();
      project.write('docs/notes.md', 'Something else altogether.\n');
      await page.getByRole('button', { name: 'Decide: Publish' }).click();

      await page.getByText('What is to be decided has changed since you began to read').waitFor();
      expect((await phasegate(project, ['status', run, '--json'])).json).toMatchObject({ phase: 'DRAFT' });
    },
    MINUTES,
  );

  test(
    'is of no use to a page of another port of localhost, which gets an assertion for the very challenge [adv.P1]',
    async () => {
      const { project, page, run, url } = await atGate();
      await register(page, 'laptop');
      // All that can be known: the address of the session, its cookie, and a challenge that the server really gave.
      const place = home(page);
      const { gate, shown } = await sent(page, `runs/${run}/gate`);
      const body = { gate, shown, option: 'Publish' };
      const asked = { method: 'POST', path: `/runs/${run}/decisions`, body };
      const { nonce, options } = await sent(page, 'passkeys/challenge', asked);
      await page.goto(await serveHostile());
      const stolen = await page.evaluate(asserted(options));
      expect(stolen).toMatchObject({ signature: expect.any(String) });

      await page.goto(place);
      await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
      const passkey = { ...(stolen as object), nonce };
      expect(await sent(page, `runs/${run}/decisions`, { ...body, passkey })).toMatchObject({
        error: 'credential_invalid',
        message: expect.stringMatching(/page of `http:\/\/localhost:/),
      });
      expect((await phasegate(project, ['status', run, '--json'])).json).toMatchObject({ status: 'waiting' });
      expect(url).toMatch(/^http:\/\/localhost:/);
    },
    MINUTES,
  );

  test(
    'is removed, and then it is the passphrase again; one that does not verify its user is refused',
    async () => {
      const { page, run, authenticator } = await atGate();
      await register(page, 'laptop');
      await page.goto(`${home(page)}#/decisions/${run}`);
      await authenticator.verify(false);
      await page.getByRole('radio', { name: /Publish/ }).check();
      await page.getByRole('button', { name: 'Decide: Publish' }).click();
      await page.getByText('no passkey was used').waitFor();
      await authenticator.verify(true);

      await page.goto(`${home(page)}#/people`);
      await page.getByRole('button', { name: /Remove the passkey laptop/ }).click();
      await page.getByRole('button', { name: 'Remove laptop' }).click();
      await page.getByText('There is none yet').waitFor();
      await page.goto(`${home(page)}#/decisions/${run}`);
      await page.getByLabel('Passphrase of maria').first().waitFor();
    },
    MINUTES,
  );

  test(
    'needs a name: at 127.0.0.1 the page says where passkeys work, and takes the passphrase',
    async () => {
      const { project, page, url, run } = await atGate();
      await register(page, 'laptop');
      const bare = url.replace('localhost', '127.0.0.1');
      await signIn(page, bare, { passphrase: PASSPHRASE });
      await page.goto(`${home(page)}#/people`);
      await page.getByRole('link', { name: url }).waitFor();
      await page.goto(`${home(page)}#/decisions/${run}`);
      await page.getByText('Your passkeys work at').first().waitFor();
      await page.getByRole('radio', { name: /Publish/ }).check();
      await page.getByLabel('Passphrase of maria').first().fill(PASSPHRASE);
      await page.getByRole('button', { name: 'Decide: Publish' }).click();
      await page.getByText('Nothing waits for you here').waitFor();
      expect((await phasegate(project, ['status', run, '--json'])).json).toMatchObject({ phase: 'PUBLISH' });
    },
    MINUTES,
  );

  test(
    'whose count goes back is a copy, and is refused',
    async () => {
      const { page, authenticator } = await atGate();
      await register(page, 'laptop');
      await authenticator.setCount(0);
      await page.getByRole('button', { name: /Remove the passkey laptop/ }).click();
      await page.getByRole('button', { name: 'Remove laptop' }).click();
      await page.getByText(/its count went back/).waitFor();
    },
    MINUTES,
  );
});

/** A project with a run at its gate, and a page of `localhost` with an authenticator, signed in. */
async function atGate() {
  const project = await releaseProject();
  const run = await startRelease(project);
  await handInNotes(project, run);
  const url = (await serve(project)).url.replace('127.0.0.1', 'localhost');
  const page = await openPage();
  const authenticator = await virtualAuthenticator(page);
  await signIn(page, url, { passphrase: PASSPHRASE });
  return { project, page, run, url, authenticator };
}

async function virtualAuthenticator(page: Page) {
  const cdp: CDPSession = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    verify: (isUserVerified: boolean) =>
      cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
    async setCount(signCount: number) {
      const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId });
      for (const credential of credentials) {
        const { credentialId } = credential;
        await cdp.send('WebAuthn.removeCredential', { authenticatorId, credentialId });
        await cdp.send('WebAuthn.addCredential', {
          authenticatorId,
          credential: { ...credential, signCount },
        });
      }
    },
  };
}

function home(page: Page): string {
  return page.url().split('#')[0] ?? '';
}

async function register(page: Page, label: string): Promise<void> {
  await page.goto(`${home(page)}#/people`);
  await page.getByLabel('What you call it').fill(label);
  await page.getByRole('button', { name: 'Make a passkey' }).click();
  await page.getByLabel('Passphrase of maria').fill(PASSPHRASE);
  await page.getByRole('button', { name: 'Register it' }).click();
  await page.getByRole('button', { name: `Remove the passkey ${label} of maria` }).waitFor();
}

async function decide(page: Page, run: string): Promise<void> {
  await page.goto(`${home(page)}#/decisions/${run}`);
  await page.getByRole('radio', { name: /Publish/ }).check();
  await page.getByRole('button', { name: 'Decide: Publish' }).click();
}

/** What a script of the page itself asks, or sends. */
async function sent(page: Page, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const asked = JSON.stringify({ path, body: body === undefined ? null : JSON.stringify(body) });
  return (await page.evaluate(`(async ({ path, body }) => {
    const headers = { 'content-type': 'application/json' };
    const address = new URL('api/v1/' + path, document.baseURI.split('#')[0]);
    return (await fetch(address, body === null ? {} : { method: 'POST', headers, body })).json();
  })(${asked})`)) as Record<string, unknown>;
}

async function serveHostile(): Promise<string> {
  const http = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>free previews</title>');
  });
  await new Promise<void>((ready) => http.listen(0, '127.0.0.1', ready));
  onTestFinished(() => void http.close());
  return `http://localhost:${(http.address() as AddressInfo).port}`;
}

/** What a page of anybody's can ask a browser for. */
function asserted(options: unknown): string {
  return `(async ({ challenge, allowCredentials, rpId }) => {
    const bytes = (text) =>
      Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
    const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))
      .replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
    const { id, response } = await navigator.credentials.get({ publicKey: {
      challenge: bytes(challenge), rpId, userVerification: 'required',
      allowCredentials: allowCredentials.map(({ id }) => ({ id: bytes(id), type: 'public-key' })),
    } });
    return {
      id,
      authenticator_data: text(response.authenticatorData),
      client_data_json: text(response.clientDataJSON),
      signature: text(response.signature),
    };
  })(${JSON.stringify(options)})`;
}

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { PASSPHRASE } from '../../docs/pictures/dashboardProject.ts';
import { FULL } from '../tier.ts';
import { dashboardBed } from './dashboardBed.ts';

const MARKUP = '<img src=x onerror="document.title=`owned`"> <script>document.title="owned"</script>';
const HOSTILE = `${MARKUP} \u001b[31mred\u001b[0m \u202eevil\u202c javascript:alert(1)`;

describe.runIf(FULL)('the pages in trouble', () => {
  const bed = dashboardBed();

  test('a lost connection is told, and nothing that happened meanwhile is missed', async () => {
    const { shell } = bed.project();
    const streams = new Set<Socket>();
    const listen = (message: unknown) => {
      const { request, socket } = message as { readonly request: IncomingMessage; readonly socket: Socket };
      if (request.url?.endsWith('/api/v1/events')) streams.add(socket);
    };
    subscribe('http.server.request.start', listen);
    onTestFinished(() => void unsubscribe('http.server.request.start', listen));
    const page = await bed.page('/audit');
    await page.locator('.record').first().waitFor();
    await page.getByLabel('Words in a record').fill('while nobody listened');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByText('No record is like that').waitFor();
    // What comes before the stream is there is found by a search, and leaves no place to go on from.
    await page.getByText('Live', { exact: true }).waitFor();
    await shell.call(['start', 'feature', 'while nobody listened 0', '--queue', '--json']);
    await page.getByText('while nobody listened 0', { exact: true }).first().waitFor();

    // Cut for real, and kept from being opened again until all of it has happened.
    await page.route('**/api/v1/events', (route) => route.abort());
    expect(streams.size).toBeGreaterThan(0);
    for (const socket of streams) socket.destroy();
    await page.getByText('Connection lost, trying again').waitFor();
    for (let number = 1; number <= 12; number += 1)
      await shell.call(['start', 'feature', `while nobody listened ${number}`, '--queue', '--json']);
    const asked: Promise<Record<string, string>>[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/api/v1/events')) asked.push(request.allHeaders());
    });
    await page.unroute('**/api/v1/events');
    await page.getByText('Live', { exact: true }).waitFor();
    for (let number = 1; number <= 12; number += 1)
      await page.getByText(`while nobody listened ${number}`, { exact: true }).first().waitFor();
    expect((await asked.at(-1))?.['last-event-id']).toMatch(/^\d+$/);
  });

  test('a run that is taken away while its page is open says so, and leads on', async () => {
    const { shell } = bed.project();
    const run = String((await shell.call(['start', 'feature', 'not for long', '--json'])).json().run);
    await shell.callAs(PASSPHRASE, ['stop', run, '--reason', 'enough', '--as', 'maria']);
    const page = await bed.page(`/runs/${run}`);
    await page.getByRole('heading', { name: 'not for long' }).waitFor();
    const before = new Date().toISOString();
    const { code, stderr } = await shell.callAs(PASSPHRASE, ['archive', '--before', before, '--as', 'maria']);
    expect(code, stderr).toBe(0);
    await page.reload();
    await page.getByRole('heading', { name: 'This run was archived' }).waitFor();
    await page.getByRole('link', { name: 'All runs' }).click();
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
  });

  test('somebody else’s words are shown as words, however they are written', async () => {
    const { shell } = bed.project();
    const run = String((await shell.call(['start', 'feature', MARKUP, '--json'])).json().run);
    const evidence = JSON.stringify({ plan: { summary: HOSTILE, [HOSTILE]: 'x' } });
    await shell.call(['done', run, '--evidence', '-'], evidence);
    const page = await bed.page('/people');
    // Longer than any evidence that is taken today.
    await page.route('**/gate', async (route) => {
      const answer = (await (await route.fetch()).json()) as { card: { evidence: Record<string, string> } };
      answer.card.evidence.line = 'x'.repeat(5_000_000);
      await route.fulfill({ json: answer });
    });
    await page.goto(`${page.url().split('#')[0]}#/decisions/${run}`);
    await page.getByText('<script>document.title="owned"</script>').first().waitFor();
    await page.getByText('\\u001b[31mred').first().waitFor();
    await page.getByText('‹202E›').first().waitFor();
    await page.getByText('more characters are not shown').first().waitFor();
    await page.getByRole('link', { name: /Runs/ }).first().click();
    await page.locator(`[data-run="${run}"]`).waitFor();

    expect(await page.title()).toBe('Phasegate');
    expect(await page.locator('img').count()).toBe(0);
    expect(page.heard.errors).toEqual([]);
    await shell.callAs(PASSPHRASE, ['stop', run, '--reason', 'enough', '--as', 'maria']);
  });

  test.each([
    ['/no/such/page', 'There is no such page'],
    ['/runs/run-00000000000000000000', 'There is no such run'],
    ['/workflows/none', 'there is no workflow'],
    ['/decisions/run-00000000000000000000', 'there is no run'],
  ])('an address that leads nowhere (%s) says so and leads on', async (place, words) => {
    const page = await bed.page(place);
    await page.getByText(words).first().waitFor();
    await page.getByRole('link', { name: /Runs/ }).first().click();
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
  });

  test('a link that was used, and one that is nobody’s, are told apart from nothing and lead to the form', async () => {
    const { server } = bed.project();
    const page = await bed.page();
    const link = await server.signInLink(await server.open.humans.unlock('maria', PASSPHRASE));
    await page.goto(link);
    await page.getByText('Live', { exact: true }).waitFor();
    for (const spent of [link, `${server.url}/sign-in?code=nonsense`]) {
      await page.goto(spent);
      await page.getByText('the sign-in link was used already or is too old').waitFor();
      await page.getByLabel('Passphrase').waitFor();
    }
  });

  test('a session that was revoked says so at once, and leads to signing in', async () => {
    const other = await bed.page('/people', { name: 'joe' });
    await other.getByText('this one').waitFor();
    const page = await bed.page('/people');
    await page.getByRole('button', { name: 'End the session of joe' }).first().click();
    await page
      .getByLabel(/Passphrase/)
      .last()
      .fill(PASSPHRASE);
    await page.getByRole('button', { name: 'End the session of joe', exact: true }).last().click();
    await page.getByRole('button', { name: 'End the session of joe' }).first().waitFor({ state: 'detached' });

    await other.goto(`${other.url().split('#')[0]}#/workflows`);
    await other.getByText('Your session has ended').first().waitFor();
    await other.getByRole('link', { name: 'Sign in again' }).first().click();
    await other.getByLabel('Passphrase').waitFor();
  });

  test.each([
    ['answers 500', 500, 'went wrong'],
    ['answers what is not JSON', 200, 'the server answered 200'],
  ])('a server that %s is told, with a way to try again', async (_, statusCode, words) => {
    const page = await bed.page('/people');
    const body =
      statusCode === 500 ? '{"error":"internal","message":"something went wrong"}' : '<p>proxy</p>';
    await page.route('**/api/v1/workflows', (route) => route.fulfill({ status: statusCode, body }));
    await page.getByRole('link', { name: 'Workflows' }).click();
    await page.getByText(words).first().waitFor();
    await page.unroute('**/api/v1/workflows');
    await page.getByRole('button', { name: 'Try again' }).first().click();
    await page.getByText('has problems').waitFor();
  });

  test('a server that is slow is waited for in words, and one that is gone is told', async () => {
    const page = await bed.page('/people');
    let answer = () => undefined as undefined | Promise<void>;
    await page.route('**/api/v1/workflows', (route) => {
      answer = () => void route.continue();
    });
    await page.getByRole('link', { name: 'Workflows' }).click();
    await page.getByText('Still waiting for the server').waitFor();
    await answer();
    await page.getByText('has problems').waitFor();
    await page.route('**/api/v1/agents', (route) => route.abort());
    await page.getByRole('link', { name: 'Agents' }).click();
    await page.getByText('the server cannot be reached').first().waitFor();
  });
});

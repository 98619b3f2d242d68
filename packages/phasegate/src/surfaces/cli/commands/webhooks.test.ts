import { expect, test } from 'vitest';
import { EMPTY_PROJECT, makeShell } from '../fixtures/callCli.ts';

test('a webhook’s secret is shown once; it is listed and removed by its id', async () => {
  const shell = makeShell(EMPTY_PROJECT);
  const words = ['webhooks', 'add', 'https://example.com/told', '--event', 'run_escalated', '--json'];

  const { id, secret, ...added } = (await shell.call(words)).json();

  expect(added).toEqual({ url: 'https://example.com/told', events: ['run_escalated'] });
  const listed = await shell.call(['webhooks', '--json']);
  expect(listed.json()).toMatchObject({ webhooks: [{ id, url: 'https://example.com/told', failures: 0 }] });
  expect(listed.stdout).not.toContain(String(secret));
  expect((await shell.call(['webhooks', 'remove', String(id)])).code).toBe(0);
  expect((await shell.call(['webhooks', '--json'])).json()).toEqual({ webhooks: [] });
});

test('once a human is set up, webhooks are for that human', async () => {
  const shell = makeShell(EMPTY_PROJECT);
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);
  const words = ['webhooks', 'add', 'https://example.com/told'];

  expect((await shell.call(words)).code).toBe(2);
  expect((await shell.callAs('open sesame', words)).code).toBe(0);
});

test('an address that is none is refused', async () => {
  expect((await makeShell(EMPTY_PROJECT).call(['webhooks', 'add', 'not a url'])).code).not.toBe(0);
  expect((await makeShell(EMPTY_PROJECT).call(['webhooks', 'add'])).code).toBe(2);
});

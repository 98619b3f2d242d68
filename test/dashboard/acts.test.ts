import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { PASSPHRASE } from '../../docs/pictures/dashboardProject.ts';
import { FULL } from '../tier.ts';
import { dashboardBed } from './dashboardBed.ts';

describe.runIf(FULL)('what a human does on the pages', () => {
  const bed = dashboardBed();
  const status = async (run: string) => (await bed.project().shell.call(['status', run, '--json'])).json();

  test('two humans agree before a gate with a quorum lets the run go on', async () => {
    const run = await atReleaseGate();
    const [maria, joe] = [
      await bed.page(`/decisions/${run}`),
      await bed.page(`/decisions/${run}`, { name: 'joe' }),
    ];
    await decide(maria, 'Publish', 'maria');
    await joe.getByText('2 humans, 1 so far').waitFor();
    expect(await status(run)).toMatchObject({ status: 'waiting' });

    await decide(joe, 'Publish', 'joe');
    await maria.getByText('Nothing waits for you here').waitFor();
    expect(await status(run)).toMatchObject({ status: 'active', phase: 'PUBLISH' });
  });

  test('what changed between showing and deciding refuses the decision, and is shown', async () => {
    const { shell } = bed.project();
    const run = await atReleaseGate();
    const page = await bed.page(`/decisions/${run}`);
    await page.getByRole('heading', { name: 'Your decision' }).waitFor();
    shell.write('docs/notes.md', '# 9.9\n\nSomething else altogether.\n');
    await decide(page, 'Publish', 'maria');

    await page.getByText('What is to be decided has changed since you began to read').waitFor();
    expect(await status(run)).toMatchObject({ status: 'waiting', phase: 'DRAFT' });
    await page.getByRole('button', { name: 'Show what it is now' }).click();
    await page.getByText('Changed since the gate opened: docs/notes.md').waitFor();
    await decide(page, 'Drop', 'maria');
    await page.getByText('2 humans, 1 so far').waitFor();
    await shell.callAs(PASSPHRASE, ['stop', run, '--reason', 'enough', '--as', 'maria']);
  });

  test('questions are answered, one by an option and one in other words, and the agent goes on', async () => {
    const { runs } = bed.project();
    const page = await bed.page(`/decisions/${runs.questions}`);
    const first = page.locator('article').filter({ hasText: 'Which database' });
    await first.getByRole('radio', { name: 'SQLite' }).check();
    await first.getByLabel(/Passphrase/).fill(PASSPHRASE);
    await first.getByRole('button', { name: 'Answer' }).click();
    await first.getByText('answered').waitFor();
    const second = page.locator('article').filter({ hasText: 'for how long' });
    await second.getByRole('radio', { name: 'In other words' }).check();
    await second.getByLabel('Your answer').fill('until it is deleted');
    await second.getByLabel(/Passphrase/).fill(PASSPHRASE);
    await second.getByRole('button', { name: 'Answer' }).click();

    await page.getByText('Nothing waits for you here').waitFor();
    expect(await status(runs.questions)).toMatchObject({
      status: 'active',
      answers: [{ text: 'SQLite' }, { text: 'until it is deleted' }],
    });
  });

  test('an escalated run is resumed with advice, which its agent is shown', async () => {
    const { runs } = bed.project();
    const page = await bed.page(`/decisions/${runs.escalated}`);
    await page.getByLabel(/Advice for the agent/).fill('write the notes first');
    await page
      .getByLabel(/Passphrase/)
      .first()
      .fill(PASSPHRASE);
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('Nothing waits for you here').waitFor();

    expect(await status(runs.escalated)).toMatchObject({ status: 'active', attempts: 0 });
    await page.goto(`${page.url().split('#')[0]}#/runs/${runs.escalated}`);
    await page.getByText('write the notes first').first().waitFor();
  });

  test('files that were changed outside a scope are restored', async () => {
    const { shell } = bed.project();
    const run = String((await shell.call(['start', 'feature', 'beyond the fence', '--json'])).json().run);
    shell.write('stray.txt', 'not mine to write\n');
    await shell.call(['done', run, '--evidence', '-'], '{"plan":{"summary":"x"}}');
    const page = await bed.page('/decisions');
    await page.getByRole('link', { name: /beyond the fence/ }).click();
    await page.getByText('not mine to write').waitFor();
    await page.getByRole('radio', { name: /Restore/ }).check();
    await page
      .getByLabel(/Passphrase/)
      .first()
      .fill(PASSPHRASE);
    await page.getByRole('button', { name: 'Restore', exact: true }).click();

    await expect.poll(() => existsSync(join(shell.root, 'stray.txt'))).toBe(false);
    await page.getByText('Nothing waits for you here').waitFor();
  });

  test('what one agent floods the list with hides nothing: it is searched, and says whose words they are [adv.O5]', async () => {
    const { shell } = bed.project();
    const goals = [...Array.from({ length: 12 }, (_, at) => `maria: I approved this (${at})`), 'Honest work'];
    for (const goal of goals) {
      const { run } = (await shell.call(['start', 'feature', goal, '--json'])).json();
      await shell.call(['blocked', String(run), '--reason', 'see the goal']);
    }
    const page = await bed.page('/decisions');
    const waiting = page.locator('.inbox-item').filter({ hasText: 'see the goal' });
    await waiting.nth(12).waitFor();
    await waiting
      .filter({ hasText: 'maria: I approved this (3)' })
      .getByText('goal by agent local')
      .waitFor();

    await page.getByLabel('Search what waits').fill('honest');

    await waiting.filter({ hasText: 'maria' }).first().waitFor({ state: 'detached' });
    expect(await page.locator('.inbox-item').allTextContents()).toEqual([
      expect.stringContaining('Honest work'),
    ]);
    await page.getByLabel('Search what waits').fill('nobody has this');
    await page.getByText('None of what waits is like that').waitFor();
  });

  test('a viewer looks and decides nothing, on the page and past it [adv.P1]', async () => {
    const { shell, server, runs } = bed.project();
    const secret = String(shell.descriptor(`${PASSPHRASE}\n`));
    const added = [
      'humans',
      'add',
      'ann',
      '--role',
      'viewer',
      '--as',
      'maria',
      '--new-passphrase-fd',
      secret,
    ];
    expect((await shell.callAs(PASSPHRASE, added)).code).toBe(0);
    const page = await bed.page(`/decisions/${runs.gate}`, { name: 'ann' });
    await page.getByText('Your role is viewer').first().waitFor();

    const cookies = await page.context().cookies();
    const place = page.url().split('#')[0] ?? '';
    const tried = await fetch(`${place}api/v1/runs/${runs.gate}/stop`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; '),
        origin: server.url,
      },
      body: JSON.stringify({ reason: 'because', passphrase: PASSPHRASE }),
    });
    expect(tried.status).toBe(403);
    expect(await tried.json()).toMatchObject({ error: 'not_permitted' });
  });

  async function atReleaseGate(): Promise<string> {
    const { shell } = bed.project();
    mkdirSync(join(shell.root, 'docs'), { recursive: true });
    shell.write('docs/notes.md', '# 1.5\n\nMore.\n');
    const run = String((await shell.call(['start', 'release', 'Publish 1.5', '--json'])).json().run);
    await shell.call(['done', run, '--evidence', '-'], '{"notes":{"summary":"more"}}');
    return run;
  }

  async function decide(page: Page, option: string, name: string): Promise<void> {
    await page.getByRole('radio', { name: new RegExp(option) }).check();
    await page.getByLabel(`Passphrase of ${name}`).first().fill(PASSPHRASE);
    await page.getByRole('button', { name: `Decide: ${option}` }).click();
  }
});

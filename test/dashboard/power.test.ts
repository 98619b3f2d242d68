import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { PASSPHRASE } from '../../docs/pictures/dashboardProject.ts';
import { FULL } from '../tier.ts';
import { dashboardBed } from './dashboardBed.ts';

describe.runIf(FULL)('what ends, moves aside, leads past and proves, on the pages', () => {
  const bed = dashboardBed();
  const status = async (run: string) => (await bed.project().shell.call(['status', run, '--json'])).json();

  test('an admin breaks the glass, and the phase is shown as overridden everywhere and as passed nowhere', async () => {
    const run = await atPlanGate('no time for the plan');
    const joe = await bed.page(`/decisions/${run}`, { name: 'joe' });
    await joe.getByRole('heading', { name: 'Your decision' }).waitFor();
    expect(await joe.getByText('Break the glass').count()).toBe(0);

    const page = await bed.page(`/decisions/${run}`);
    await page.getByText('Break the glass').click();
    const glass = page.locator('details').filter({ hasText: 'Break the glass' });
    const override = glass.getByRole('button', { name: 'Override this phase' });
    await glass.getByLabel(/Passphrase/).fill(PASSPHRASE);
    await glass.getByRole('radio', { name: 'TESTS' }).check();
    // Without a reason there is nothing to be done.
    expect(await override.isDisabled()).toBe(true);
    await glass.getByLabel('Why it cannot wait').fill('the registry is down');
    await override.click();
    await page.getByText('A human led this run past a phase, which nobody completed').waitFor();

    expect(await status(run)).toMatchObject({ status: 'active', phase: 'TESTS', completed_phases: [] });
    const home = page.url().split('#')[0];
    await page.goto(`${home}#/runs/${run}`);
    await page.getByText('the registry is down').first().waitFor();
    await page.locator('.graph-node[data-status="overridden"]').waitFor();
    await page.getByRole('tab', { name: 'Evidence' }).click();
    await page.getByText('Overridden: maria led the run past this phase').waitFor();
    expect(await page.getByText('approved by a human').count()).toBe(0);
    await page.getByRole('tab', { name: 'Timeline' }).click();
    await page.getByText('maria led the run past PLAN, which is not completed').waitFor();
    await page.goto(`${home}#/`);
    const row = page.locator(`[data-run="${run}"]`);
    await row.getByText('overridden', { exact: true }).first().waitFor();
    expect(await row.getByText('passed').count()).toBe(0);
    await page.goto(`${home}#/audit`);
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText('Humans overrode one phase').waitFor();
  });

  test('a run that moved while the glass was open is not led past another phase', async () => {
    const { shell } = bed.project();
    const run = await atPlanGate('moved meanwhile');
    const page = await bed.page(`/decisions/${run}`);
    await page.getByText('Break the glass').click();
    const glass = page.locator('details').filter({ hasText: 'Break the glass' });
    await glass.getByRole('radio', { name: 'TESTS' }).check();
    // What it is about is on the screen; from here on nothing new comes to it.
    await page.route('**/api/v1/events', (route) => route.abort());
    await page.route(`**/api/v1/runs/${run}`, (route) => route.abort());
    const answer = page.waitForResponse(/override$/);
    const decided = [
      'decide',
      run,
      '--option',
      'Approve',
      '--shown',
      await shell.shown(run),
      '--as',
      'maria',
    ];
    expect((await shell.callAs(PASSPHRASE, decided)).code).toBe(0);
    await glass.getByLabel('Why it cannot wait').fill('now');
    await glass.getByLabel(/Passphrase/).fill(PASSPHRASE);
    await glass.getByRole('button', { name: 'Override this phase' }).click();

    expect((await answer).status()).toBe(409);
    await page.getByText('has moved since').first().waitFor();
    expect(await status(run)).toMatchObject({ phase: 'TESTS', completed_phases: ['PLAN'] });
    await shell.callAs(PASSPHRASE, ['stop', run, '--reason', 'enough', '--as', 'maria']);
  });

  test('files outside the scope are moved aside, and others accepted with a reason', async () => {
    const { shell } = bed.project();
    const run = await strayed('two strays', {
      'stray.txt': 'not mine\n',
      'config.txt': 'a needed setting\n',
    });
    const page = await bed.page(`/decisions/${run}`);
    await page.getByText('not mine').waitFor();
    await page.getByRole('checkbox', { name: 'config.txt' }).uncheck();
    await settle(page, 'Quarantine');
    await expect.poll(() => existsSync(join(shell.root, 'stray.txt'))).toBe(false);
    expect(readFileSync(join(shell.root, 'config.txt'), 'utf8')).toBe('a needed setting\n');

    await page.getByRole('checkbox', { name: 'stray.txt' }).waitFor({ state: 'detached' });
    await page.getByRole('radio', { name: /Accept/ }).check();
    await page
      .getByLabel(/Passphrase/)
      .first()
      .fill(PASSPHRASE);
    expect(await page.getByRole('button', { name: 'Accept', exact: true }).isDisabled()).toBe(true);
    await page.getByLabel('Reason', { exact: true }).fill('the setting is needed');
    await settle(page, 'Accept');
    await page.getByText('Nothing waits for you here').waitFor();

    expect(readFileSync(join(shell.root, 'config.txt'), 'utf8')).toBe('a needed setting\n');
    expect((await status(run)).violations ?? []).toEqual([]);
    await shell.callAs(PASSPHRASE, ['stop', run, '--reason', 'enough', '--as', 'maria']);
  });

  test('files that changed again after they were shown are not settled by what was shown', async () => {
    const { shell } = bed.project();
    const run = await strayed('moving strays', { 'moving.txt': 'first\n' });
    const page = await bed.page(`/decisions/${run}`);
    await page.getByText('first').waitFor();
    await page.getByRole('radio', { name: /Restore/ }).waitFor();
    shell.write('moving.txt', 'second\n');
    await settle(page, 'Restore');

    await page.getByText('the workspace is not what was shown any more').waitFor();
    expect(readFileSync(join(shell.root, 'moving.txt'), 'utf8')).toBe('second\n');
    await page.getByText('second').waitFor();
    await settle(page, 'Restore');
    await expect.poll(() => existsSync(join(shell.root, 'moving.txt'))).toBe(false);
    await shell.callAs(PASSPHRASE, ['stop', run, '--reason', 'enough', '--as', 'maria']);
  });

  test('a run is stopped with a reason, for good', async () => {
    const run = await atPlanGate('not needed after all');
    const page = await bed.page(`/decisions/${run}`);
    await page.getByText('Stop this run').click();
    const stop = page.locator('details').filter({ hasText: 'Stop this run' });
    await stop.getByLabel(/Passphrase/).fill(PASSPHRASE);
    expect(await stop.getByRole('button', { name: 'Stop the run' }).isDisabled()).toBe(true);
    await stop.getByLabel('Why').fill('nobody asked for it');
    await stop.getByRole('button', { name: 'Stop the run' }).click();
    await page.getByText('The run has ended').waitFor();

    expect(await status(run)).toMatchObject({ status: 'stopped', reason: 'nobody asked for it' });
    await page.goto(`${page.url().split('#')[0]}#/runs/${run}`);
    await page.getByText('nobody asked for it').first().waitFor();
  });

  test('the audit is verified, searched, followed and taken along', async () => {
    const { shell } = bed.project();
    const page = await bed.page('/audit');
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText('The audit verifies').waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Export all' }).click();
    const lines = readFileSync(await (await download).path(), 'utf8')
      .trim()
      .split('\n');
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.map((line) => JSON.parse(line) as { event?: string })).toEqual(
      expect.arrayContaining([expect.objectContaining({ event: 'run_started' })]),
    );

    await page.getByLabel('Words in a record').fill('followed from here');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByText('No record is like that').waitFor();
    await shell.call(['start', 'feature', 'followed from here', '--queue', '--json']);
    await page.locator('.record').getByText('followed from here').first().waitFor();
    await page.getByRole('button', { name: 'Decisions' }).click();
    await page.getByText('No record is like that').waitFor();
  });

  async function atPlanGate(goal: string): Promise<string> {
    const { shell } = bed.project();
    const run = String((await shell.call(['start', 'feature', goal, '--json'])).json().run);
    await shell.call(['done', run, '--evidence', '-'], '{"plan":{"summary":"all of it"}}');
    return run;
  }

  async function strayed(goal: string, files: Readonly<Record<string, string>>): Promise<string> {
    const { shell } = bed.project();
    const run = String((await shell.call(['start', 'feature', goal, '--json'])).json().run);
    for (const [path, text] of Object.entries(files)) shell.write(path, text);
    await shell.call(['done', run, '--evidence', '-'], '{"plan":{"summary":"x"}}');
    return run;
  }

  async function settle(page: Page, action: string): Promise<void> {
    await page.getByRole('radio', { name: new RegExp(action) }).check();
    await page
      .getByLabel(/Passphrase/)
      .first()
      .fill(PASSPHRASE);
    await page.getByRole('button', { name: action, exact: true }).click();
  }
});

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { PASSPHRASE } from '../../docs/pictures/dashboardProject.ts';
import { FULL } from '../tier.ts';
import { dashboardBed } from './dashboardBed.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** Where it is, words that are there when it is, and what is done before. */
type Place = readonly [string, string, ((page: Page) => Promise<unknown>)?];

async function visit(page: Page, home: string, [place, words, prepare]: Place): Promise<void> {
  await page.goto(`${home}#${place}`);
  await prepare?.(page);
  await page.getByText(words).filter({ visible: true }).first().waitFor();
}

describe.runIf(FULL)('the pages', () => {
  const bed = dashboardBed();
  const tab = (name: string) => (page: Page) => page.getByRole('tab', { name }).click();
  const places = (): readonly Place[] => {
    const { runs } = bed.project();
    return [
      ['/', 'Runs'],
      [`/runs/${runs.done}`, 'The way it took'],
      [`/runs/${runs.done}`, 'approved by a human', tab('Evidence')],
      [`/runs/${runs.done}`, 'Run started', tab('Timeline')],
      [`/runs/${runs.working}`, 'write_files denied', tab('Tool calls')],
      [`/runs/${runs.gate}`, 'How they differ now', tab('Changes')],
      [`/runs/${runs.parallel}`, 'Items:'],
      ['/decisions', 'Publish these notes?'],
      [`/decisions/${runs.gate}`, 'docs/logo.png'],
      [`/decisions/${runs.gate}`, 'It goes on at', (page) => page.getByText('Break the glass').click()],
      [`/decisions/${runs.escalated}`, 'Advice for the agent'],
      [`/decisions/${runs.questions}`, 'Which database'],
      ['/workflows', 'has problems'],
      ['/workflows/feature', 'Pass rate'],
      ['/workflows/broken', '2 problems'],
      ['/agents', 'Denied, by rule'],
      ['/audit', 'were looked through'],
      ['/people', 'this one'],
      ['/nowhere', 'There is no such page'],
    ];
  };

  test.each(['light', 'dark'] as const)('have nothing an axe scan objects to, in %s', async (colorScheme) => {
    // The policy of the pages lets nobody add a script, a scanner neither.
    const page = await bed.page('/', { colorScheme, bypassCSP: true });
    const home = page.url().split('#')[0];
    const found: string[] = [];
    const signIn = await bed.page('/', { colorScheme, bypassCSP: true });
    await signIn.goto(`${bed.project().server.url}/sign-in?code=spent`);
    found.push(...(await scan(signIn, '/sign-in')));
    for (const place of places()) {
      await visit(page, `${home}`, place);
      found.push(...(await scan(page, place[0])));
    }
    expect(found).toEqual([]);
  });

  test('load nothing from elsewhere and break no rule of their policy', async () => {
    const page = await bed.page();
    const own = new URL(page.url()).origin;
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    const home = page.url().split('#')[0];
    for (const place of places()) await visit(page, `${home}`, place);
    expect(asked.filter((url) => new URL(url).origin !== own)).toEqual([]);
    expect(page.heard.errors).toEqual([]);
  });

  test('are gone through by keyboard alone, from signing in to a decision', async () => {
    const { server, shell } = bed.project();
    const started = await shell.call(['start', 'feature', 'by keyboard alone', '--json']);
    const run = String(started.json().run);
    await shell.call(['done', run, '--evidence', '-'], '{"plan":{"summary":"all of it"}}');
    const page = await bed.page();
    await page.goto(`${server.url}/sign-in`);
    await page.keyboard.press('Tab');
    await page.keyboard.type('maria');
    await page.keyboard.press('Tab');
    await page.keyboard.type(PASSPHRASE);
    await page.keyboard.press('Enter');
    await page.getByText('Live', { exact: true }).waitFor();

    await page.keyboard.press('/');
    await page.keyboard.type('by keyboard alone');
    await page.locator('.grid-row').nth(1).waitFor({ state: 'detached' });
    await page.locator(`[data-run="${run}"]`).waitFor();
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => page.evaluate('document.activeElement.dataset.run')).toBe(run);
    await page.keyboard.press('Enter');
    await page.getByText('A human decides at this gate').waitFor();
    const tabTo = async (words: RegExp) => {
      for (let presses = 0; presses < 60; presses += 1) {
        await page.keyboard.press('Tab');
        const label = await page.evaluate(
          "document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent ?? ''",
        );
        if (words.test(String(label))) return;
      }
      throw new Error(`nothing that can be focused says ${words}`);
    };
    await tabTo(/^Decide$/);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Your decision' }).waitFor();
    await tabTo(/Approve/);
    await page.keyboard.press('Space');
    await tabTo(/Passphrase/);
    await page.keyboard.type(PASSPHRASE);
    await page.keyboard.press('Enter');
    await page.getByText('Nothing waits for you here').waitFor();
    expect((await shell.call(['status', run, '--json'])).json()).toMatchObject({ phase: 'TESTS' });
  });

  test('keep the focus on a run when the list changes around it', async () => {
    const { runs, shell } = bed.project();
    const page = await bed.page('/?status=waiting');
    const rows = page.locator('.grid-row');
    const focused = () => page.evaluate('document.activeElement.dataset.run');
    await page.locator(`[data-run="${runs.gate}"]`).focus();
    // All runs stay in the list until those that wait are there.
    await page.locator(`[data-run="${runs.done}"]`).waitFor({ state: 'detached' });
    const waiting = await rows.count();
    await page.evaluate("location.hash = '/'");
    await expect.poll(() => rows.count()).toBeGreaterThan(waiting);
    expect(await focused()).toBe(runs.gate);
    const started = await shell.call(['start', 'feature', 'another before it', '--json']);
    await page.locator(`[data-run="${started.json().run}"]`).waitFor();
    expect(await focused()).toBe(runs.gate);
  });

  test.each([
    ['the first row', 'j', (rows: readonly string[]) => rows[0]],
    ['the row after it', 'jj', (rows: readonly string[]) => rows[1]],
    ['a row that is not on the screen yet', 'End', (rows: readonly string[]) => rows.at(-1)],
  ])('open %s with Enter, however soon after the key that led there', async (_, keys, chosen) => {
    const { shell } = bed.project();
    const page = await bed.page();
    const listed = async () => {
      const { runs } = (await shell.call(['runs', '--limit', '100', '--json'])).json() as {
        readonly runs: readonly { readonly run: string }[];
      };
      return runs.map(({ run }) => run);
    };
    // More than a screen and what is drawn around it.
    for (let more = (await listed()).length; more < 40; more += 1)
      await shell.call(['start', 'feature', 'one of many', '--queue']);
    const rows = await listed();
    await page.locator(`[data-run="${rows[0]}"]`).waitFor();
    // A hand that is quicker than the screen: no frame is drawn between the keys.
    await page.evaluate(
      'window.held = []; window.draw = requestAnimationFrame; requestAnimationFrame = (frame) => held.push(frame)',
    );

    for (const key of keys === 'End' ? [keys] : keys) await page.keyboard.press(key);
    await page.keyboard.press('Enter');
    await page.evaluate('requestAnimationFrame = draw; held.forEach((frame) => draw(frame))');

    await page.waitForURL(`**/#/runs/${chosen(rows)}`, { timeout: 10_000 });
  });

  test('fit a phone: no page is wider than the screen', async () => {
    const page = await bed.page('/', { viewport: { width: 390, height: 844 } });
    const home = page.url().split('#')[0];
    const wide: string[] = [];
    for (const place of places()) {
      await visit(page, `${home}`, place);
      if (Number(await page.evaluate('document.documentElement.scrollWidth')) > 390) wide.push(place[0]);
    }
    expect(wide).toEqual([]);
  });
});

/** What an axe scan objects to, as lines. */
async function scan(page: Page, place: string): Promise<readonly string[]> {
  await page.evaluate(AXE);
  const { violations } = (await page.evaluate(
    "axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'] })",
  )) as { readonly violations: readonly Violation[] };
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${place} ${id}: ${html} ${failureSummary}`),
  );
}

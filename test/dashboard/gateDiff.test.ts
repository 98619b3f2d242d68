import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PASSPHRASE } from '../../docs/pictures/dashboardProject.ts';
import { FULL } from '../tier.ts';
import { dashboardBed } from './dashboardBed.ts';

describe.runIf(FULL)('what a phase changed, at its gate', () => {
  const bed = dashboardBed();

  test('is shown file by file with signs, a file that is not text by its name, and closed when wanted', async () => {
    const { runs } = bed.project();
    const page = await bed.page(`/decisions/${runs.gate}`);
    const file = page.locator('.diff-file').filter({ hasText: 'docs/notes.md' });
    await file.getByText('- An empty list is 0.').waitFor();

    const added = file.locator('[data-kind="add"]').filter({ hasText: 'An empty list is 0.' });
    expect(await added.locator('.diff-mark').textContent()).toBe('+');
    const removed = file.locator('[data-kind="del"]').filter({ hasText: 'nearest even digit' });
    expect(await removed.locator('.diff-mark').textContent()).toBe('−');
    await page
      .locator('.diff-file')
      .filter({ hasText: 'docs/logo.png' })
      .getByText('it is not text')
      .waitFor();
    const head = file.getByRole('button', { name: /docs\/notes\.md/ });
    expect(await head.getAttribute('aria-expanded')).toBe('true');
    await head.click();
    await added.waitFor({ state: 'detached' });
    expect(await head.getAttribute('aria-expanded')).toBe('false');
  });

  test('is what was measured: of a long file the rest is asked for, and a crowd of files is listed', async () => {
    const { shell } = bed.project();
    const run = String((await shell.call(['start', 'release', 'Many files', '--json'])).json().run);
    const lines = Array.from({ length: 5000 }, (_, at) => `line ${at + 1}`);
    shell.write('docs/long.md', `${lines.join('\n')}\n`);
    for (let number = 0; number < 90; number += 1) shell.write(`docs/page-${number}.md`, `page ${number}\n`);
    writeFileSync(join(shell.root, 'docs/notes.md'), '# Many\n');
    await shell.call(['done', run, '--evidence', '-'], '{"notes":{"summary":"many"}}');
    const page = await bed.page(`/decisions/${run}`);
    const long = page.locator('.diff-file').filter({ hasText: 'docs/long.md' });
    const head = long.getByRole('button', { name: /docs\/long\.md/ });
    if ((await head.getAttribute('aria-expanded')) === 'false') await head.click();
    await long.getByText(/more lines are not on the card/).waitFor();
    await long.getByRole('button', { name: 'Show all of this file' }).click();
    const all = long.getByRole('region', { name: /all of docs\/long\.md/ });
    await all.getByText('line 1', { exact: true }).waitFor();
    // Drawn as far as it is looked at.
    expect(await all.locator('.diff-line').count()).toBeLessThan(200);
    await all.focus();
    await page.keyboard.press('End');
    await all.getByText('line 5000', { exact: true }).waitFor();

    await page.getByText(/more files changed/).waitFor();
    const listed = page.locator('.diff-file');
    expect(await listed.count()).toBe(60);
    await page.getByRole('button', { name: 'List them' }).click();
    await expect.poll(() => listed.count()).toBe(92);
    const other = page
      .locator('.diff-file')
      .filter({ hasText: /page-\d+\.md/ })
      .last();
    await other.getByRole('button').first().click();
    await other.locator('[data-kind="add"]').first().waitFor();
    await shell.callAs(PASSPHRASE, ['stop', run, '--reason', 'enough', '--as', 'maria']);
  });

  test('that moved while somebody read is shown as a difference of the card', async () => {
    const { shell } = bed.project();
    const run = String((await shell.call(['start', 'release', 'Moving', '--json'])).json().run);
    shell.write('docs/moving.md', 'first\n');
    await shell.call(['done', run, '--evidence', '-'], '{"notes":{"summary":"moving"}}');
    const page = await bed.page(`/decisions/${run}`);
    await page.getByText('What the phase changed').waitFor();
    shell.write('docs/moving.md', 'second\n');
    await page.getByRole('radio', { name: /Publish/ }).check();
    await page
      .getByLabel(/Passphrase/)
      .first()
      .fill(PASSPHRASE);
    await page.getByRole('button', { name: 'Decide: Publish' }).click();

    await page.getByText('What is to be decided has changed').waitFor();
    const moved = page.locator('.diff-file').filter({ hasText: 'changed since' });
    await moved.locator('[data-kind="add"]').filter({ hasText: 'docs/moving.md' }).waitFor();
    await shell.callAs(PASSPHRASE, ['stop', run, '--reason', 'enough', '--as', 'maria']);
  });
});

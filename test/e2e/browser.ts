import chromium from '@sparticuz/chromium';
import { type Browser, type BrowserContextOptions, type Page, chromium as playwright } from 'playwright-core';
import { onTestFinished, vi } from 'vitest';
import { browserWords } from './browserWords.ts';

/** What a page said that nobody asked it to say. */
export interface Heard {
  /** Errors of scripts, and what the console was told of as an error. */
  readonly errors: string[];
  /** Addresses that were asked for, other than those of the server itself. */
  readonly elsewhere: string[];
}

/** A browser of its own, from npm: nothing has to be installed beside it. With all that keeps pages apart. */
export async function openBrowser(): Promise<Browser> {
  const executablePath = await chromium.executablePath();
  const args = browserWords();
  // Another process may be unpacking it this very moment: until that is done, it cannot be started.
  return vi.waitFor(() => playwright.launch({ args, executablePath, headless: true }), {
    timeout: 60_000,
    interval: 200,
  });
}

/** A page in a browser of its own, which is closed when the test has finished. */
export async function openPage(
  options: BrowserContextOptions = {},
): Promise<Page & { readonly heard: Heard }> {
  const browser = await openBrowser();
  onTestFinished(() => browser.close());
  return pageIn(browser, options);
}

/** A page that remembers what went wrong on it. */
export async function pageIn(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<Page & { readonly heard: Heard }> {
  const page = await (await browser.newContext(options)).newPage();
  const heard: Heard = { errors: [], elsewhere: [] };
  page.on('pageerror', (error) => heard.errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') heard.errors.push(message.text());
  });
  return Object.assign(page, { heard });
}

/** Signs in with the passphrase, and waits for the list of runs. */
export async function signIn(
  page: Page,
  url: string,
  { name, passphrase }: { readonly name?: string; readonly passphrase: string },
): Promise<void> {
  await page.goto(`${url}/sign-in`);
  if (name !== undefined) await page.fill('#name', name);
  await page.fill('#passphrase', passphrase);
  await page.click('button');
  await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
}

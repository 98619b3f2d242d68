import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import {
  type DashboardProject,
  openDashboardProject,
  PASSPHRASE,
} from '../../docs/pictures/dashboardProject.ts';
import { openBrowser, pageIn, signIn } from '../e2e/browser.ts';

/** A project with its server and a browser, for all tests of a file. */
export interface DashboardBed {
  project(): DashboardProject;
  /** A page of its own, signed in, at a place behind the `#`. */
  page(at?: string, options?: Options): Promise<Awaited<ReturnType<typeof pageIn>>>;
}

interface Options extends BrowserContextOptions {
  readonly name?: string;
}

/** Opens it before the tests and closes it behind them. */
export function dashboardBed(): DashboardBed {
  let project: DashboardProject | undefined;
  let browser: Browser | undefined;
  const opened = () => {
    if (project === undefined || browser === undefined) throw new Error('it is not open');
    return { project, browser };
  };
  beforeAll(async () => {
    [project, browser] = await Promise.all([openDashboardProject(), openBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await project?.server.close();
  });
  return {
    project: () => opened().project,
    async page(at = '/', { name = 'maria', ...options } = {}) {
      const { project: served, browser: running } = opened();
      const page = await pageIn(running, options);
      await signIn(page, served.server.url, { name, passphrase: PASSPHRASE });
      if (at !== '/') await page.goto(`${page.url().split('#')[0]}#${at}`);
      return page;
    },
  };
}

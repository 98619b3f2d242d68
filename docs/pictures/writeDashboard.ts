/**
 * Pictures of the dashboard for the README and the guide, from a project that is made for it:
 *
 *   npm run build && npx node docs/pictures/writeDashboard.ts [FOLDER]
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import chromium from '@sparticuz/chromium';
import { type Page, chromium as playwright } from 'playwright-core';
import { browserWords } from '../../test/e2e/browserWords.ts';
import { type DashboardProject, openDashboardProject, PASSPHRASE } from './dashboardProject.ts';

const folder = process.argv[2] ?? fileURLToPath(new URL('.', import.meta.url));
const project = await openDashboardProject();
const executablePath = await chromium.executablePath();
const browser = await playwright.launch({ args: browserWords(), executablePath, headless: true });
const some = (...names: readonly string[]) => shotsOf(project).filter(([name]) => names.includes(name));
const desk = { width: 1280, height: 800 };
try {
  const light = some('runs', 'run', 'inbox', 'decision', 'workflow', 'agents', 'audit', 'people');
  await pictures({ colorScheme: 'light', viewport: desk }, 'light', light);
  await pictures({ colorScheme: 'dark', viewport: desk }, 'dark', some('run', 'workflow'));
  await pictures(
    { colorScheme: 'light', viewport: { width: 390, height: 844 } },
    'phone',
    some('decision', 'runs'),
  );
} finally {
  await browser.close();
  await project.server.close();
}

type Shot = readonly [string, string, ((page: Page) => Promise<unknown>)?];

function shotsOf({ runs }: DashboardProject): readonly Shot[] {
  return [
    ['runs', '/', (page) => page.getByText('escalated').first().waitFor()],
    ['run', `/runs/${runs.done}`, (page) => page.locator('.graph-node').first().waitFor()],
    ['parallel', `/runs/${runs.parallel}`, (page) => page.locator('.graph-node').first().waitFor()],
    [
      'timeline',
      `/runs/${runs.done}`,
      async (page) => {
        await page.getByRole('tab', { name: 'Timeline' }).click();
        await page.getByText('Run started').first().waitFor();
      },
    ],
    ['inbox', '/decisions', (page) => page.getByText('Publish these notes?').waitFor()],
    ['decision', `/decisions/${runs.gate}`, (page) => page.locator('.diff-line').first().waitFor()],
    [
      'escalation',
      `/decisions/${runs.escalated}`,
      (page) => page.getByText('Advice for the agent').waitFor(),
    ],
    ['questions', `/decisions/${runs.questions}`, (page) => page.getByText('Which database').waitFor()],
    ['workflow', '/workflows/feature', (page) => page.locator('.graph-node').first().waitFor()],
    ['workflows', '/workflows', (page) => page.getByText('has problems').waitFor()],
    ['agents', '/agents', (page) => page.getByText('Denied, by rule').waitFor()],
    ['audit', '/audit', (page) => page.locator('.record').first().waitFor()],
    ['people', '/people', (page) => page.getByText('this one').waitFor()],
  ];
}

async function pictures(
  options: NonNullable<Parameters<typeof browser.newContext>[0]>,
  how: string,
  shots: readonly Shot[],
): Promise<void> {
  const page = await (await browser.newContext({ ...options, reducedMotion: 'reduce' })).newPage();
  await page.goto(`${project.server.url}/sign-in`);
  await page.fill('#name', 'maria');
  await page.fill('#passphrase', PASSPHRASE);
  await page.click('button');
  await page.getByText('Live', { exact: true }).waitFor();
  const home = page.url().split('#')[0];
  for (const [name, path, ready] of shots) {
    await page.goto(`${home}#${path}`);
    await ready?.(page);
    await page.evaluate('document.fonts.ready');
    const file = `dashboard-${name}-${how}.png`;
    writeFileSync(join(folder, file), await page.screenshot());
    console.log(`wrote ${file}`);
  }
}

/**
 * How long the dashboard takes to its first useful view, and to open a run, with many runs and records, next to the same
 * pages with ten runs.
 *
 *   npm run bench:dashboard            10,000 runs and 1,000,000 records; takes long
 *   npm run bench:dashboard -- quick   2,000 runs and 50,000 records
 *   npm run bench:dashboard -- tiny    only to see that it runs
 */
import chromium from '@sparticuz/chromium';
import { type Browser, chromium as playwright } from 'playwright-core';
import { browserWords } from '../test/e2e/browserWords.ts';
import { openManyRuns } from './dashboard/manyRuns.ts';
import { print } from './transitions/measure.ts';

const mode = ['tiny', 'quick'].find((word) => process.argv.includes(word)) ?? 'all';
const { runs, records, tries } = {
  tiny: { runs: 20, records: 200, tries: 1 },
  quick: { runs: 2000, records: 50_000, tries: 5 },
  all: { runs: 10_000, records: 1_000_000, tries: 5 },
}[mode as 'tiny' | 'quick' | 'all'];
const AIM = 2;

const browser = await playwright.launch({
  args: browserWords(),
  executablePath: await chromium.executablePath(),
  headless: true,
});
try {
  const few = await measure(10, 100);
  const many = await measure(runs, records);
  for (const [what, small] of Object.entries(few)) {
    const large = many[what] ?? Number.NaN;
    const ratio = (large / small).toFixed(2);
    print(
      `${what.padEnd(18)} ${small.toFixed(0)} ms with 10 runs, ${large.toFixed(0)} ms with ${runs}: ${ratio} times (aim ${AIM})`,
    );
  }
} finally {
  await browser.close();
}

/** Medians, each with a page that has loaded nothing before. */
async function measure(runCount: number, recordCount: number): Promise<Readonly<Record<string, number>>> {
  const { url, code, run, close } = await openManyRuns(runCount, recordCount);
  const times: Record<string, number[]> = { 'first useful view': [], 'a run': [], 'the audit': [] };
  try {
    for (let round = 0; round < tries; round += 1) {
      const found = await once(browser, { link: `${url}/sign-in?code=${await code()}`, run });
      for (const [what, time] of Object.entries(found)) times[what]?.push(time);
    }
  } finally {
    await close();
  }
  return Object.fromEntries(Object.entries(times).map(([what, all]) => [what, median(all)]));
}

async function once(
  opened: Browser,
  { link, run }: { readonly link: string; readonly run: string },
): Promise<Readonly<Record<string, number>>> {
  const page = await (await opened.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  const timed = async (act: () => Promise<unknown>) => {
    const began = performance.now();
    await act();
    return performance.now() - began;
  };
  const first = await timed(async () => {
    await page.goto(link);
    await page.locator('.grid-row[data-run]').first().waitFor();
  });
  const home = page.url().split('#')[0];
  const opening = await timed(async () => {
    await page.goto(`${home}#/runs/${run}`);
    await page.locator('.graph-node').first().waitFor();
  });
  const audit = await timed(async () => {
    await page.goto(`${home}#/audit`);
    await page.locator('.record').first().waitFor();
  });
  await page.context().close();
  return { 'first useful view': first, 'a run': opening, 'the audit': audit };
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

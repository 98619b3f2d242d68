import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type DemoProject, makeDemoProject } from '../../examples/tdd/demoProject.ts';
import { HONEST_WALK, PASSPHRASE, setUpProject } from '../../examples/tdd/honestWalk.ts';
import { openPage, signIn } from '../e2e/browser.ts';
import { serve } from '../e2e/server.ts';
import { FULL } from '../tier.ts';

describe.runIf(FULL)('examples/tdd in the browser', () => {
  test('an agent is watched from the plan to the end without reloading, and goes on when its plan is approved here', async () => {
    const project = makeDemoProject();
    onTestFinished(() => project.remove());
    await setUpProject(project);
    const server = await serve(project);
    const page = await openPage();
    await signIn(page, server.url, { passphrase: PASSPHRASE });
    const { json } = await project.phasegate(['start', 'tdd']);
    const run = String(json.run);
    await page.locator(`[data-run="${run}"]`).click();
    let loads = 0;
    page.on('load', () => {
      loads += 1;
    });

    for (const step of HONEST_WALK) {
      if (step.name === 'approve the plan') await approve(page);
      else await act(project, run, step);
      if (step.leadsTo !== null) await page.getByText(wordsFor(step.leadsTo)).first().waitFor();
    }
    await page.getByRole('tab', { name: 'Evidence' }).click();
    await page.getByText('approved by a human').first().waitFor();
    expect(loads).toBe(0);
    expect(page.heard.errors.filter((text) => !/status of 409/.test(text))).toEqual([]);
  });

  async function act(project: DemoProject, run: string, step: (typeof HONEST_WALK)[number]): Promise<void> {
    const { code, text } = await project.phasegate(step.call(run), await step.calling(project, run));
    expect(code, text).toBe(0);
  }

  async function approve(page: Page): Promise<void> {
    await page.getByRole('link', { name: 'Decide' }).click();
    await page.getByRole('radio', { name: /Approve/ }).check();
    await page.getByLabel('Passphrase of maria').first().fill(PASSPHRASE);
    await page.getByRole('button', { name: 'Decide: Approve' }).click();
    await page.getByText('Nothing waits for you here').waitFor();
    await page.getByRole('link', { name: /^run / }).click();
  }

  function wordsFor([status, phase]: readonly [string, string | null]): string {
    if (status === 'completed') return 'The way it took';
    return status === 'waiting' ? 'A human decides at this gate' : `works on phase ${phase}`;
  }
});

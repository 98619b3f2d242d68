import { expect, test } from 'vitest';
import { openPage, signIn } from '../e2e/browser.ts';
import { phasegate } from '../e2e/cli.ts';
import { serveHere } from '../e2e/serveHere.ts';
import { handInNotes, PASSPHRASE, releaseProject, startRelease } from './releaseProject.ts';

const MINUTES = 180_000;

test(
  'a human signs in, sees a run appear and move, decides at its gate, and sees the agent go on [S2.74 S3.10 S3.37]',
  async () => {
    const project = await releaseProject();
    const server = await serveHere(project);
    const page = await openPage();
    await signIn(page, server.url, { passphrase: PASSPHRASE });
    await page.getByText('Nothing has been started yet').waitFor();

    // Nothing is loaded again from here on: all of it comes by the stream of events.
    const run = await startRelease(project);
    const row = page.locator(`[data-run="${run}"]`);
    await row.getByText('active').waitFor();
    await handInNotes(project, run);
    await row.getByText('waiting').waitFor();
    await page
      .getByRole('link', { name: /Decisions/ })
      .getByText('1')
      .waitFor();

    await row.click();
    await page.getByText('A human decides at this gate').waitFor();
    await page.getByRole('link', { name: 'Decide' }).click();
    await page.getByText('all of it').waitFor();
    await page.getByRole('radio', { name: /Publish/ }).check();
    await page
      .getByLabel(/Passphrase of maria/)
      .first()
      .fill('wrong one');
    await page.getByRole('button', { name: 'Decide: Publish' }).click();
    await page.getByText('the name or the passphrase is wrong').waitFor();
    await page
      .getByLabel(/Passphrase of maria/)
      .first()
      .fill(PASSPHRASE);
    await page.getByRole('button', { name: 'Decide: Publish' }).click();
    await page.getByText('Nothing waits for you here').waitFor();

    expect((await phasegate(project, ['status', run, '--json'])).json).toMatchObject({
      status: 'active',
      phase: 'PUBLISH',
    });
    // A browser notes what is answered with 401, the wrong passphrase, and 409, a gate that is no longer open.
    expect(page.heard.errors.filter((text) => !/status of 4(?:01|09)/.test(text))).toEqual([]);
  },
  MINUTES,
);

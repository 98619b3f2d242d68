import { expect, test } from 'vitest';
import { openPage, signIn } from '../e2e/browser.ts';
import { makeProject, phasegate } from '../e2e/cli.ts';
import { serveHere } from '../e2e/serveHere.ts';

const PASSPHRASE = 'open sesame';
const MINUTES = 180_000;

const RELEASE = `workflow: release
phases:
  DRAFT:
    instructions: Write the notes.
    required_artifacts: [{ type: notes, schema: { type: object, required: [summary] } }]
    gate:
      human:
        prompt: Publish these notes?
        options:
          - { label: Publish }
          - { label: Rework, next: DRAFT, requires_input: true }
  PUBLISH:
    instructions: Tag the release.
`;

test(
  'a human signs in, sees a run appear and move, decides at its gate, and sees the agent go on [S2.74 S3.10 S3.37]',
  async () => {
    const project = makeProject({ 'agent_workflow.yaml': RELEASE });
    await phasegate(project, ['humans', 'add', 'maria'], { passphrase: PASSPHRASE });
    await phasegate(project, ['trust', 'release', '--yes'], { passphrase: PASSPHRASE });
    const server = await serveHere(project);
    const page = await openPage();
    await signIn(page, server.url, { passphrase: PASSPHRASE });
    await page.getByText('Nothing has been started yet').waitFor();

    // Nothing is loaded again from here on: all of it comes by the stream of events.
    const started = await phasegate(project, ['start', 'release', 'notes for May', '--json']);
    const run = String(started.json.run);
    const row = page.locator(`[data-run="${run}"]`);
    await row.getByText('active').waitFor();
    const done = ['done', run, '--evidence', '-'];
    await phasegate(project, done, { stdin: '{"notes":{"summary":"all of it"}}' });
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

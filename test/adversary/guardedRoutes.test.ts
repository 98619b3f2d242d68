import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeProject, phasegate, type TestProject } from '../e2e/cli.ts';
import { someOf } from '../tier.ts';
import { repository } from './fenceRows.ts';
import { GUARDED_ROUTES, GUARDED_SAMPLES } from './guardedRoutes.ts';

const IMPORT = 'lib/help.ts';
const PASSPHRASE = 'correct horse battery';

const WORKFLOW = `
workflow: lab
phases:
  SRC: { allowed_tools: [write_files], writes: ["**"] }
  LOOK: { instructions: look }
`;

test.each(someOf(GUARDED_ROUTES, { quick: 2, full: GUARDED_ROUTES.length }))(
  'every guarded file and every import of a workflow, changed by $name, refuses the phase [adv.G6 adv.G9 adv.A1]',
  async ({ act, before, except }) => {
    const project = await setUp();
    before?.(project.root);
    expect(await phasegate(project, ['trust', '--yes'], { passphrase: PASSPHRASE })).toMatchObject({
      code: 0,
    });
    const run = String((await phasegate(project, ['start', 'lab', '--json'])).json.run);
    const samples = GUARDED_SAMPLES.filter(({ path }) => except?.test(path) !== true);

    for (const sample of samples) act(project.root, sample);
    const { json } = await phasegate(project, ['done', run, '--evidence', '-', '--json'], { stdin: '{}' });

    expect(json).toMatchObject({ checkpoint_passed: false, error: 'scope_violation' });
    const report = await phasegate(project, ['fence', run, '--json']);
    const named = (report.json.outside as readonly { path: string }[]).map(({ path }) => path);
    const guarded = samples.map(({ path }) => path).filter((path) => path !== IMPORT);
    expect(guarded.filter((path) => !named.includes(path))).toEqual([]);
    // What a workflow in code imports has no name that tells, so a wide scope covers it: nothing of it runs again.
    expect((await phasegate(project, ['start', 'code', '--json'])).json).toMatchObject({
      error: 'untrusted_workflow',
    });
  },
);

test('an import that the scope of its own workflow covers is noticed when its function is asked [adv.G9]', async () => {
  const project = await setUp();
  expect(await phasegate(project, ['trust', '--yes'], { passphrase: PASSPHRASE })).toMatchObject({ code: 0 });
  const run = String((await phasegate(project, ['start', 'code', '--json'])).json.run);

  appendFileSync(join(project.root, IMPORT), '// more\n');
  const { json } = await phasegate(project, ['done', run, '--evidence', '-', '--json'], { stdin: '{}' });

  expect(json).toMatchObject({ checkpoint_passed: false, status: 'escalated' });
  expect(JSON.stringify(json)).toContain('the code of `code.workflow.ts` has changed');
});

async function setUp(): Promise<TestProject> {
  const files = GUARDED_SAMPLES.flatMap(({ path, text }) => (text === undefined ? [] : [[path, text]]));
  const project = makeProject({
    'src/a.txt': 'a\n',
    ...Object.fromEntries(files),
    'agent_workflow.yaml': WORKFLOW,
  });
  repository(project.root);
  await phasegate(project, ['humans', 'add', 'maria'], { newPassphrase: PASSPHRASE });
  return project;
}

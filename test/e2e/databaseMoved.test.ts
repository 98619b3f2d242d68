import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tamper } from '../../packages/postgres/src/fixtures/nodes.ts';
import { freshSchema } from '../postgres/sharedServer.ts';
import { makeProject, phasegate, startRun, type TestProject } from './cli.ts';

const ERRAND = 'workflow: errand\nphases: { GO: { allowed_tools: [read_files] }, RETURN: {} }\n';

test('a database that moved is found again by a human who shows that it is the same, and no older one is', async () => {
  const { project, moved, older, anchors } = await makeMoved();
  const runs = () => phasegate(project, ['runs', '--json']);
  expect((await runs()).json).toMatchObject({ error: 'store_corrupt' });
  const env = { PHASEGATE_DATABASE: moved };
  expect(await phasegate(project, ['runs'], { env })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('migrate-store --moved'),
  });

  expect(await follow(project, older, ['--anchor', anchors])).toMatchObject({
    code: 1,
    json: { error: 'audit_broken', message: expect.stringContaining('anchor') },
  });
  expect(await follow(project, moved, ['--anchor', anchors], 'a guess')).toMatchObject({
    code: 1,
    json: { error: 'credential_invalid' },
  });
  expect((await runs()).json).toMatchObject({ error: 'store_corrupt' });
  // Named by its environment already, as where a service is set up anew.
  const followed = await follow(project, moved, ['--anchor', anchors], 'open sesame', env);

  expect(followed).toMatchObject({ code: 0, json: { runs: 2, verified: true } });
  expect((await runs()).json).toMatchObject({ runs: [{}, {}] });
  expect(await phasegate(project, ['audit', 'verify', '--anchor', anchors])).toMatchObject({ code: 0 });
});

test("another project's database, an empty one, and one without an anchor are not taken for it", async () => {
  const { project, moved, anchors } = await makeMoved();
  const strangers = await freshSchema();
  const stranger = makeProject({ 'agent_workflow.yaml': ERRAND });
  await phasegate(stranger, ['start', 'errand', 'x'], { env: { PHASEGATE_DATABASE: strangers } });

  expect(await follow(project, moved, [])).toMatchObject({
    code: 2,
    json: { message: expect.stringContaining('`--anchor` is missing') },
  });
  expect((await follow(project, strangers, ['--anchor', anchors])).code).toBe(1);
  expect(await follow(project, await freshSchema(), ['--anchor', anchors])).toMatchObject({
    json: { error: 'store_corrupt' },
  });
  expect(await follow(stranger, moved, ['--anchor', anchors])).toMatchObject({ code: 1 });

  expect((await phasegate(project, ['runs', '--json'])).json).toMatchObject({ error: 'store_corrupt' });
  const env = { PHASEGATE_DATABASE: strangers };
  expect(await phasegate(stranger, ['audit', 'verify'], { env })).toMatchObject({ code: 0 });
});

test('a project in a file has no database that could have moved', async () => {
  const project = makeProject({ 'agent_workflow.yaml': ERRAND });
  await phasegate(project, ['start', 'errand', 'x']);
  const anchors = join(project.base, 'anchors');
  await phasegate(project, ['audit', 'anchor', '--to', anchors]);

  expect(await follow(project, await freshSchema(), ['--anchor', anchors])).toMatchObject({
    code: 2,
    json: { message: expect.stringContaining('are in its file') },
  });
});

/** A project whose database has another name now, an older copy of it, and the anchors of before. */
async function makeMoved() {
  const project = makeProject({ 'agent_workflow.yaml': ERRAND });
  await startRun(project, 'errand');
  await phasegate(project, ['humans', 'add', 'maria'], { passphrase: 'open sesame' });
  const [older, database] = [await freshSchema(), await freshSchema()];
  const copyTo = (to: string) =>
    phasegate(project, ['migrate-store', '--to', to, '--as', 'maria'], { passphrase: 'open sesame' });
  await copyTo(older);
  rmSync(join(project.stateDir, 'database-url'));
  await copyTo(database);
  await phasegate(project, ['trust', '--as', 'maria', '--yes'], { passphrase: 'open sesame' });
  await startRun(project, 'errand');
  const anchors = join(project.base, 'anchors');
  await phasegate(project, ['audit', 'anchor', '--to', anchors]);
  const was = new URL(database).searchParams.get('schema') ?? '';
  await tamper(database, `ALTER SCHEMA "${was}" RENAME TO "${was}_moved"`);
  const moved = database.replace(`schema=${was}`, `schema=${was}_moved`);
  return { project, moved, older, anchors };
}

function follow(
  project: TestProject,
  to: string,
  words: readonly string[],
  passphrase = 'open sesame',
  env: Readonly<Record<string, string>> = {},
) {
  const asked = ['migrate-store', '--moved', '--to', to, ...words, '--as', 'maria', '--json'];
  return phasegate(project, asked, { passphrase, env });
}

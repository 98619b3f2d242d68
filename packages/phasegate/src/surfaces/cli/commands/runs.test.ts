import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeShell } from '../fixtures/callCli.ts';

const WORKFLOW = 'workflow: w\nphases:\n  A: { instructions: Do it., writes: [] }\n';
const SECRET = 'open sesame';

test('where others may have runs, an agent without any is not told that there are none', async () => {
  const shell = makeShell({ 'w.workflow.yaml': WORKFLOW });
  expect((await shell.call(['runs'])).stdout).toBe('no runs\n');
  await shell.callAs(SECRET, ['humans', 'add', 'maria']);
  await shell.callAs(SECRET, ['trust', '--yes']);
  const before = await shell.call(['runs']);
  const { key } = (await shell.callAs(SECRET, ['agents', 'add', 'ada', '--json'])).json();
  await shell.call(['start', 'w'], '', { PHASEGATE_KEY: String(key) });

  const here = await shell.call(['runs']);
  const human = await shell.callAs(SECRET, ['runs', '--json']);

  expect(here.stdout).toBe(
    'no runs of yours; those that agents with keys hold are shown with `--as NAME`, to a human\n',
  );
  // Whether there are any is not an agent's to know.
  expect(here.stdout).toBe(before.stdout);
  expect(human.json().runs).toMatchObject([{ workflow: 'w' }]);
});

test('runs of a workflow are asked for whatever lies among the workflows, and others stay untold', async () => {
  const shell = makeShell({ 'w.workflow.yaml': WORKFLOW });
  await shell.callAs(SECRET, ['humans', 'add', 'maria']);
  const ordinary = (await shell.call(['runs'])).stdout.trimEnd();

  expect(await shell.call(['runs', '--workflow', 'x'])).toMatchObject({
    code: 2,
    stderr: `error: there is no workflow \`x\` [usage]\nhint: \`phasegate list\` shows them; ${ordinary}\n`,
  });
  for (let n = 0; n <= 2000; n += 1) shell.write(`w${n}.workflow.yaml`, '');
  expect(await shell.call(['runs', '--workflow', 'x'])).toMatchObject({ code: 0, stdout: `${ordinary}\n` });
  expect(await shell.call(['runs', '--workflow', 'x', '--json'])).toMatchObject({
    code: 0,
    stdout: '{"runs":[]}\n',
  });
});

test('runs whose workflow has no file any more are listed by its name, whatever their status', async () => {
  const shell = makeShell({ 'w.workflow.yaml': WORKFLOW });
  await shell.call(['start', 'w']);
  rmSync(join(shell.root, 'w.workflow.yaml'));

  const ofW = ['runs', '--workflow', 'w', '--json'];
  expect((await shell.call(ofW)).json().runs).toMatchObject([{ workflow: 'w' }]);
  expect(await shell.call([...ofW, '--status', 'completed'])).toMatchObject({
    code: 0,
    stdout: '{"runs":[]}\n',
  });
});

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeShell } from '../fixtures/callCli.ts';

const WORKFLOW = 'workflow: w\nphases:\n  A: { required_evidence: { built: { type: bool } } }\n';

test.each<[string, readonly string[], string]>([
  [
    'anchors that are not there',
    ['audit', 'verify', '--anchor', '/nope'],
    'name a file that `phasegate audit anchor --to FILE` wrote',
  ],
  ['a number that is none', ['simulate', 'w', '--runs', 'abc'], 'see `phasegate simulate --help`'],
])('%s: the refusal ends with the next step', async (_, words, hint) => {
  const { stderr } = await makeShell({ 'w.workflow.yaml': WORKFLOW }).call(words);

  expect(stderr).toMatch(/^error: /);
  expect(stderr).toContain(`\nhint: ${hint}`);
});

test('evidence that is not JSON, or not an object: the refusal names the skeleton', async () => {
  const shell = makeShell({ 'w.workflow.yaml': WORKFLOW });
  const run = String((await shell.call(['start', 'w', '--json'])).json().run);

  for (const given of ['nope', '[]']) {
    const { stderr } = await shell.call(['done', run, '--evidence', '-'], given);
    expect(stderr).toContain('[evidence_unreadable]');
    expect(stderr).toContain(`\nhint: \`phasegate done ${run} --example\` prints `);
  }
});

test('what is not a backup of the project: the refusal says that nothing changed, and what to name', async () => {
  const shell = makeShell({ 'w.workflow.yaml': WORKFLOW });
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);

  for (const file of [join(shell.root, 'w.workflow.yaml'), '/nope']) {
    const { stderr } = await shell.callAs('open sesame', ['restore', file]);
    expect(stderr).toContain('\nhint: nothing was changed; name a backup of this project, ');
  }
});

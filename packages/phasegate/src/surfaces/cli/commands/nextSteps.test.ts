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
  ['rates that are not there', ['simulate', 'w', '--rates', 'nofile'], 'name a file with rates by phase'],
  ['a webhook without TLS', ['webhooks', 'add', 'http://example.com'], 'give an address that begins with'],
  ['an agent without a name', ['agents', 'add'], 'e.g. `phasegate agents add ada`'],
  [
    'a descriptor that is not a number',
    ['audit', 'tail', '--passphrase-fd', 'x'],
    'e.g. `--passphrase-fd 3 3<FILE`',
  ],
  [
    'a task without a phase',
    ['task', 'run-0123456789abcdef0123', '1'],
    'usage: `phasegate task [RUN] PHASE N`',
  ],
  ['a number that is none', ['simulate', 'w', '--runs', 'abc'], 'see `phasegate simulate --help`'],
])('%s: the refusal ends with the next step', async (_, words, hint) => {
  const { stderr } = await makeShell({ 'w.workflow.yaml': WORKFLOW }).call(words);

  expect(stderr).toMatch(/^error: /);
  expect(stderr).toContain(`\nhint: ${hint}`);
});

test('a workflow that may be in a file that cannot be read: the refusal names the file and what is wrong with it', async () => {
  const shell = makeShell({
    'agent_workflow.yaml': 'workflow: tdd\nphases: [}\n',
    'w.workflow.yaml': WORKFLOW,
  });

  const { code, stderr } = await shell.call(['start', 'tdd']);

  expect(code).toBe(1);
  expect(stderr).toMatch(/`agent_workflow.yaml` cannot be read: agent_workflow.yaml:\d+:\d+ /);
  expect(stderr).toContain('\nhint: it may be in that file: `phasegate validate agent_workflow.yaml`');
});

test('a phase that was forgotten is wrong usage, and no refusal of the engine', async () => {
  const shell = makeShell({ 'w.workflow.yaml': WORKFLOW });
  const run = String((await shell.call(['start', 'w', '--json'])).json().run);

  expect(await shell.call(['task', run, '1'])).toMatchObject({ code: 2 });
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

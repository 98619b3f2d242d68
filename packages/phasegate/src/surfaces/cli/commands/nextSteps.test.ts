import { writeFileSync } from 'node:fs';
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
  [
    'a goal without words',
    ['start', 'w', ''],
    'give a few words in quotes, such as `"add a subtract function"`',
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
  ['a file to validate that is not there', ['validate', 'nope.yaml'], 'name a file or folder of the project'],
  [
    'a workflow with a problem',
    ['check', 'bad'],
    'correct the file; `phasegate validate bad.workflow.yaml` shows each line',
  ],
  ['records that are not a number', ['audit', 'tail', '-n', 'x'], 'phasegate audit tail -n 20'],
  ['no runs at all', ['runs', '--limit', '0'], 'leave it out for 100'],
  ['a priority in words', ['start', 'w', '--priority', 'high'], 'leave it out for 0; what is higher'],
  ['a param without a value', ['start', 'w', '--param', 'foo'], 'write `--param NAME=VALUE`'],
  [
    'a webhook that is not an address',
    ['webhooks', 'add', 'foo'],
    'give an address that begins with `https://`',
  ],
  ['a project that is not there', ['runs', '--project', '/nope'], 'name the folder of a project'],
  ['a worker without a server', ['worker', '--', 'true'], 'take the address that `phasegate serve`'],
  [
    'an event of webhooks that is mistyped',
    ['webhooks', 'add', 'https://example.com', '--event', 'gate_opend'],
    'leave it out for those a human should look at (run_escalated, gate_opened',
  ],
  [
    'an agent whose capability has a space',
    ['agents', 'add', 'ada', '--capability', 'a b'],
    'use up to 64 letters, digits, `.`, `_` and `-`',
  ],
  ['an import that is not text', ['import', 'binary.yaml'], 'save it as UTF-8 text, or name another file'],
  ['a number that is none', ['simulate', 'w', '--runs', 'abc'], 'see `phasegate simulate --help`'],
])('%s: the refusal ends with the next step', async (_, words, hint) => {
  const bad = 'workflow: bad\nphases: { A: { next: NOWHERE } }\n';
  const shell = makeShell({ 'w.workflow.yaml': WORKFLOW, 'bad.workflow.yaml': bad });
  writeFileSync(join(shell.root, 'binary.yaml'), Buffer.of(0xff, 0xfe));
  const { stderr } = await shell.call(words);

  expect(stderr).toMatch(/^error: /);
  expect(stderr).toContain(`\nhint: ${hint}`);
});

test.each([
  [['task', '', '1'], 'PHASE'],
  [['restore', ''], 'FILE'],
  [['audit', 'verify', '--archive', ''], '`--archive`'],
  [['audit', 'export', '--run', ''], '`--run`'],
  [['validate', ''], 'PATH'],
  [['graph', ''], 'WORKFLOW'],
  [['start', 'w', '--target', ''], '`--target`'],
])('%j: an empty word is wrong usage, and not the folder, all or nothing', async (words, name) => {
  const { code, stdout, stderr } = await makeShell({ 'w.workflow.yaml': WORKFLOW }).call(words);

  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain(`error: ${name} is an empty word`);
});

test('a key of a check that is mistyped is told once, with what was meant', async () => {
  const check = '{ check: files, with: { nonempty: [a.txt] } }';
  const shell = makeShell({
    'm.workflow.yaml': `workflow: m\nphases: { A: { postconditions: [${check}] } }\n`,
  });

  const { problems } = (await shell.call(['validate', '--json'])).json();

  expect(problems).toMatchObject([
    { message: 'check `files`: `with` has an unknown key `nonempty` (did you mean `non_empty`?)' },
  ]);
});

test('a folder in the place of anchors or a bundle is told in a whole sentence', async () => {
  const shell = makeShell({ 'w.workflow.yaml': WORKFLOW });

  const { stderr } = await shell.call(['audit', 'verify', '--anchor', shell.root]);

  expect(stderr).toContain('cannot be read: it is not a file');
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

test('a backup where a file is: the refusal says what to name; one in the workspace: it is said who can read it', async () => {
  const shell = makeShell({ 'w.workflow.yaml': WORKFLOW });
  const outside = await shell.call(['backup', join(shell.root, '../copy')]);
  const inside = await shell.call(['backup', join(shell.root, 'copy')]);
  const again = await shell.call(['backup', join(shell.root, 'copy')]);

  expect(outside).toMatchObject({ code: 0, stderr: '' });
  expect(inside).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('the copy lies in the workspace'),
  });
  expect(again.code).toBe(1);
  expect(again.stderr).toContain('\nhint: name a file that is not there yet');
});

test('a decision where no gate is: the refusal names what shows the run', async () => {
  const shell = makeShell({ 'w.workflow.yaml': WORKFLOW });
  const run = String((await shell.call(['start', 'w', '--json'])).json().run);
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);

  const decide = ['decide', run, '--option', 'Approve', '--shown', 'none', '--json'];
  const { code, json } = await shell.callAs('open sesame', decide);

  expect(code).toBe(1);
  expect(json()).toMatchObject({ error: 'run_not_waiting', next_action: `phasegate status ${run}` });
});

test('a config that is wrong is told once, with what looks again', async () => {
  const shell = makeShell({ 'w.workflow.yaml': WORKFLOW, 'phasegate.config.yaml': 'port: [\n' });

  const { code, stderr } = await shell.call(['start', 'w']);

  expect(code).toBe(2);
  expect(stderr.match(/phasegate\.config\.yaml:\d+:\d+: /g)).toHaveLength(1);
  expect(stderr).toContain('\nhint: correct `phasegate.config.yaml` there, and run `phasegate doctor`');
});

test('a workflow that there is not is wrong usage where its runs are asked for, and one without runs has none', async () => {
  const shell = makeShell({ 'w.workflow.yaml': WORKFLOW });

  expect((await shell.call(['runs', '--workflow', 'w'])).stdout).toBe('no runs\n');
  expect(await shell.call(['runs', '--workflow', 'nope'])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('there is no workflow `nope` [usage]\nhint: `phasegate list` shows them'),
  });
  expect((await shell.call(['runs', '--workflow', 'nope', '--json'])).json()).toMatchObject({
    error: 'usage',
  });
});

test('the address to move to is looked at before a passphrase is asked for, and not repeated', async () => {
  const shell = makeShell({ 'w.workflow.yaml': WORKFLOW });
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);

  const { code, stderr } = await shell.call(['migrate-store', '--to', 'foo:secret']);

  expect([code, stderr]).toEqual([2, expect.stringContaining('`--to` is not an address of PostgreSQL')]);
  expect(stderr).not.toContain('secret');
});

test('a capability that none can be is answered with the signs it may have', async () => {
  const shell = makeShell({ 'w.workflow.yaml': WORKFLOW });

  const { code, stdout } = await shell.call(['start', 'w', '--queue', '--capability', 'a b']);

  expect(code).toBe(1);
  expect(stdout).toContain('`a b` cannot name a capability: use up to 64 letters, digits, ');
});

test('a run that has ended is compared no more: the refusal says what shows how it ended', async () => {
  const shell = makeShell({ 'x.workflow.yaml': 'workflow: x\nphases: { A: {} }\n' });
  const run = String((await shell.call(['start', 'x', '--json'])).json().run);
  await shell.call(['done', run]);

  expect((await shell.call(['fence', run])).stderr).toContain(`\nhint: \`phasegate status ${run}\` shows`);
});

test('a param that there is not is answered with those there are', async () => {
  const shell = makeShell({
    'w.workflow.yaml': `params: { size: { type: string, default: s } }\n${WORKFLOW}`,
    'v.workflow.yaml': WORKFLOW.replace('workflow: w', 'workflow: v'),
  });

  const [some, none] = await Promise.all(
    ['w', 'v'].map((name) => shell.call(['start', name, '--param', 'color=1', '--json'])),
  );
  expect(some?.json().message).toContain('there is no param `color`: there is `size`');
  expect(none?.json().message).toContain('there is no param `color`: the workflow has none');
});

test('an escalated run whose files are out of scope names the fence before it is resumed', async () => {
  const shell = makeShell({
    'w.workflow.yaml': 'workflow: w\nphases: { A: { instructions: Write., writes: ["docs/**"] } }\n',
  });
  const run = String((await shell.call(['start', 'w', '--json'])).json().run);
  writeFileSync(join(shell.root, 'outside.txt'), 'x');
  for (let tries = 0; tries < 5; tries += 1) await shell.call(['done', run]);

  const { stdout } = await shell.call(['status', run]);

  expect(stdout).toMatch(/status +escalated/);
  expect(stdout).toContain(`a human acts with: phasegate fence ${run}, and then phasegate resume ${run} or`);
  const key = String((await shell.call(['agents', 'add', 'eve', '--json'])).json().key);
  expect((await shell.call(['claim', run], '', { PHASEGATE_KEY: key })).stderr).toContain(
    `\nhint: \`phasegate status ${run}\` says`,
  );
});

test('a human who is not set up: those who are, and where they are listed', async () => {
  const shell = makeShell({ 'w.workflow.yaml': WORKFLOW });
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);

  const called = await shell.callAs('open sesame', ['status', '--as', 'nobody']);

  expect(called.code).toBe(2);
  expect(called.stderr).toContain('there is no human `nobody`; set up: maria');
  expect(called.stderr).toContain('hint: name one of them; `phasegate humans list`');
});

test('the passphrase of a new human that is missing: an example with both descriptors', async () => {
  const shell = makeShell({ 'w.workflow.yaml': WORKFLOW });
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);

  const called = await shell.callAs('open sesame', ['humans', 'add', 'joe']);

  expect(called.code).toBe(2);
  expect(called.stderr).toContain('hint: e.g. `--passphrase-fd 3 --new-passphrase-fd 4 3<OWN 4<NEW`');
});

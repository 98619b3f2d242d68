import { expect, test } from 'vitest';
import { EMPTY_PROJECT, makeShell, type Shell } from '../fixtures/callCli.ts';

const WORKFLOW = 'workflow: errand\nphases: { GO: {}, RETURN: {} }\n';

test('a key is shown once, and anyone who gives it is that agent [S2.26]', async () => {
  const shell = makeShell({ 'agent_workflow.yaml': WORKFLOW });
  const added = await shell.call(['agents', 'add', 'ada', '--capability', 'python', '--json']);
  const { key } = added.json();

  const started = await shell.call(['start', 'errand', '--json'], '', { PHASEGATE_KEY: String(key) });
  const run = String(started.json().run);

  expect(added).toMatchObject({ code: 0 });
  expect(added.json()).toEqual({ name: 'ada', key: expect.stringMatching(/^pgk_/) });
  expect(await shell.call(['done', run])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('not_permitted'),
  });
  expect((await shell.call(['done', run], '', { PHASEGATE_KEY: String(key) })).code).toBe(0);
  const listed = await shell.call(['agents', '--json']);
  expect(listed.stdout).not.toContain(String(key));
  expect(listed.json()).toMatchObject({ agents: [{ name: 'ada', capabilities: ['python'] }] });
});

test('a key that is not an agent’s opens nothing, is never the local agent, and is on record', async () => {
  const shell = makeShell({ 'agent_workflow.yaml': WORKFLOW });
  const wrong = { PHASEGATE_KEY: 'pgk_of-somebody-else' };

  for (const words of [['start', 'errand'], ['runs'], ['claim'], ['next', 'r'], ['done', 'r']]) {
    expect(await shell.call([...words, '--json'], '', wrong)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('"credential_invalid"'),
    });
  }
  expect((await shell.call(['runs', '--json'])).json()).toEqual({ runs: [] });
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);
  const { stdout } = await shell.callAs('open sesame', ['audit', 'export']);
  expect(stdout).toContain('credential_failed');
  expect(stdout).not.toContain('of-somebody-else');
});

test('what an agent holds is listed with its lease, also what `local` holds', async () => {
  const shell = makeShell({ 'agent_workflow.yaml': WORKFLOW });
  const run = await queued(shell);

  await shell.call(['claim', run]);

  expect((await shell.call(['agents', '--json'])).json()).toEqual({
    agents: [
      {
        name: 'local',
        capabilities: null,
        added_at: null,
        holds: [{ run, item: null, expires_at: expect.stringMatching(/^20.*Z$/) }],
      },
    ],
  });
  expect((await shell.call(['agents'])).stdout).toContain(run);
});

test('once a human is set up, adding and removing an agent is for that human [adv.M5]', async () => {
  const shell = makeShell({ 'agent_workflow.yaml': WORKFLOW });
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);

  expect(await shell.call(['agents', 'add', 'ada'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--passphrase-fd'),
  });
  expect((await shell.callAs('wrong', ['agents', 'add', 'ada'])).code).toBe(1);
  expect((await shell.callAs('open sesame', ['agents', 'add', 'ada'])).code).toBe(0);
  expect((await shell.call(['agents', 'remove', 'ada'])).code).toBe(2);
  expect((await shell.callAs('open sesame', ['agents', 'remove', 'ada'])).code).toBe(0);
});

test('a key that was withdrawn opens nothing, and what its agent held is in the queue', async () => {
  const shell = makeShell({ 'agent_workflow.yaml': WORKFLOW });
  const key = String((await shell.call(['agents', 'add', 'ada', '--json'])).json().key);
  const run = await queued(shell);
  await shell.call(['claim'], '', { PHASEGATE_KEY: key });

  expect((await shell.call(['agents', 'remove', 'ada'])).code).toBe(0);

  expect((await shell.call(['next', run], '', { PHASEGATE_KEY: key })).code).toBe(1);
  expect((await shell.call(['status', run, '--json'])).json()).toMatchObject({ status: 'queued' });
  expect(await shell.call(['agents', 'remove', 'ada'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('agent_unknown'),
  });
});

test.each([
  [['agents', 'add'], 'needs `NAME`'],
  [['agents', 'promote', 'ada'], 'has no `promote`'],
  [['agents', 'add', 'no name at all'], 'is not a name'],
])('%j is wrong usage', async (words, message) => {
  expect(await makeShell(EMPTY_PROJECT).call(words)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(message),
  });
});

async function queued(shell: Shell): Promise<string> {
  return String((await shell.call(['start', 'errand', '--queue', '--json'])).json().run);
}

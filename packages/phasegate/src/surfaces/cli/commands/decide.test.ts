import { expect, test } from 'vitest';
import { makeShell, type Shell } from '../fixtures/callCli.ts';

test('walks through the example workflow, and a human decides', async () => {
  const shell = makeShell();
  expect((await shell.callAs('open sesame', ['init', '--json'])).json()).toMatchObject({
    created: ['phasegate.config.yaml', 'agent_workflow.yaml', 'agent_workflow.contract.yaml'],
    kept: [],
    human: 'maria',
    trusted: ['tdd'],
  });

  const started = (await shell.call(['start', 'tdd', '--target', 'src/a.ts', '--json'])).json();
  expect(started).toMatchObject({
    workflow: 'tdd',
    status: 'active',
    phase: 'PLAN',
    ring: 'served',
    trusted: true,
  });
  const run = String(started.run);
  const done = async (phase: string, evidence: object) =>
    shell.call(['done', run, '--phase', phase, '--evidence', '-', '--json'], JSON.stringify(evidence));

  expect((await done('PLAN', {})).json()).toMatchObject({ error: 'incomplete_checkpoint' });
  const plan = { summary: 'Add a thing', steps: ['add it'], acceptance_criteria: ['it is there'] };
  expect(await done('PLAN', { plan })).toMatchObject({ code: 0 });
  const green = { command: 'npm test', passed: 3, failed: 0 };
  const refused = await done('TDD', { test_run_result: green });
  expect(refused.code).toBe(1);
  expect(refused.json()).toMatchObject({
    checkpoint_passed: false,
    error: 'check_failed',
    next_action: `phasegate done ${run} --phase TDD --evidence -`,
  });
  expect((await shell.call(['next', run])).stdout).toContain('Previous attempt failed');
  expect((await done('TDD', { test_run_result: { ...green, passed: 0, failed: 2 } })).code).toBe(0);
  expect((await done('IMPL', { test_run_result: green })).code).toBe(0);
  const waiting = await done('REVIEW', { review: { summary: 'It is there now', risks: [] } });
  expect(waiting.json()).toMatchObject({ checkpoint_passed: true, status: 'waiting' });

  const status = (await shell.call(['status', run])).stdout;
  expect(status).toContain('Is the change good to go?');
  const shown = await shell.shown(run);
  expect(status).toContain(`phasegate decide ${run} --option Approve --shown ${shown}`);

  const approve = ['decide', run, '--option', 'Approve', '--shown', shown, '--json'];
  const decided = await shell.callAs('open sesame', approve);
  expect(decided.code).toBe(0);
  expect(decided.json()).toMatchObject({ run, ok: true, status: 'active', current_phase: 'COMPLETE' });
  expect((await done('COMPLETE', { report: { summary: 'It is done now' } })).json()).toMatchObject({
    workflow_complete: true,
    status: 'completed',
  });

  expect((await shell.call(['done', run, '--json'])).json()).toMatchObject({ error: 'run_ended' });
  expect(await shell.call(['audit', 'verify'])).toMatchObject({ code: 0 });
});

test('in ring served a human verb needs the right passphrase, no matter who the caller is [adv.H1 adv.J1]', async () => {
  const shell = makeShell();
  await shell.callAs('open sesame', ['init', '--template', 'minimal']);
  const run = await waitingRun(shell);

  const approve = ['decide', run, '--option', 'Approve', '--shown', await shell.shown(run)];
  expect(await shell.callAs('guessed', [...approve, '--json'])).toMatchObject({ code: 1 });
  expect(await shell.call([...approve, '--as', 'maria'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--passphrase-fd'),
  });
  expect((await shell.call(['status', run, '--json'])).json()).toMatchObject({ status: 'waiting' });
});

test('a decision on something else than what was shown is refused [adv.J6]', async () => {
  const shell = makeShell();
  await shell.callAs('open sesame', ['init', '--template', 'minimal']);
  const run = await waitingRun(shell);
  const seen = (await shell.callAs('open sesame', ['status', run, '--json'])).json();

  const stale = ['decide', run, '--option', 'Approve', '--shown', 'f'.repeat(64), '--json'];
  expect((await shell.callAs('open sesame', stale)).json()).toMatchObject({ error: 'shown_changed' });
  const fresh = ['decide', run, '--option', 'Approve', '--shown', String(seen.shown), '--json'];
  expect((await shell.callAs('open sesame', fresh)).code).toBe(0);
});

test('the line that was printed for one gate does not approve the one that opened meanwhile [adv.N9]', async () => {
  const gate = (prompt: string) => `{ human: { prompt: ${prompt}, options: [{ label: Approve }] } }`;
  const shell = makeShell({
    'two.workflow.yaml': `workflow: two\nphases:\n  PLAN: { writes: [], gate: ${gate('"The plan?"')} }\n  PRODUCTION: { writes: [], gate: ${gate('"To production?"')} }\n`,
  });
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);
  await shell.callAs('open sesame', ['trust', '--yes']);
  const run = String((await shell.call(['start', 'two', '--json'])).json().run);
  await shell.call(['done', run, '--phase', 'PLAN']);
  const printed = /phasegate (decide .*)/.exec((await shell.call(['status', run])).stdout)?.[1] ?? '';
  const words = printed.trim().split(' ');

  expect(words).toEqual(['decide', run, '--option', 'Approve', '--shown', expect.any(String)]);
  expect(await shell.callAs('open sesame', words)).toMatchObject({ code: 0 });
  await shell.call(['done', run, '--phase', 'PRODUCTION']);
  expect((await shell.callAs('open sesame', [...words, '--json'])).json()).toMatchObject({
    error: 'shown_changed',
    message: expect.stringContaining(`\`phasegate status ${run} --as NAME\``),
  });
  // Without the hash the same line would have served for any gate.
  expect(await shell.callAs('open sesame', words.slice(0, 4))).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      new RegExp(`\`--shown HASH\` is missing[^]*\`phasegate status ${run} --as NAME\``),
    ),
  });
  expect((await shell.call(['status', run, '--json'])).json()).toMatchObject({
    status: 'waiting',
    phase: 'PRODUCTION',
  });
});

test('`status` shows a human the card beside its hash, and an agent the hash alone [adv.N9]', async () => {
  const shell = makeShell();
  await shell.callAs('open sesame', ['init', '--template', 'minimal']);
  const run = await waitingRun(shell);

  const human = await shell.callAs('open sesame', ['status', run]);
  const agent = await shell.call(['status', run]);

  expect(human.stdout).toContain('Do the thing');
  expect(agent.stdout).toContain('--shown');
  expect(agent.stdout).not.toContain('Do the thing');
  expect((await shell.call(['status', run, '--json'])).json()).not.toHaveProperty('gate_card');
});

test('an option that needs words is refused without them, and the flag is named [adv.M5]', async () => {
  const shell = makeShell();
  await shell.callAs('open sesame', ['init', '--template', 'minimal']);
  const run = await waitingRun(shell);

  const wordless = ['decide', run, '--option', 'Reject', '--shown', await shell.shown(run)];
  expect(await shell.callAs('open sesame', wordless)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('`--input TEXT` is missing'),
  });
  const reject = [...wordless, '--input', 'too vague', '--json'];
  expect((await shell.callAs('open sesame', reject)).json()).toMatchObject({ current_phase: 'PROPOSE' });
  expect((await shell.call(['next', run])).stdout).toContain('too vague');
});

test('with no human set up, what is for a human exits 2 and says how to set one up', async () => {
  const shell = makeShell();
  await shell.call(['init', '--yes']);

  for (const words of [
    ['decide', 'r1', '--option', 'Approve', '--shown', 'f'.repeat(64)],
    ['answer', 'r1', '--question', '1', '--text', 'yes'],
    ['resume', 'r1'],
    ['stop', 'r1', '--reason', 'enough'],
    ['trust', 'tdd', '--yes'],
  ]) {
    const { code, json } = await shell.call([...words, '--json']);
    expect(code, words[0]).toBe(2);
    expect(json()).toMatchObject({ error: 'no_human', hint: expect.stringContaining('phasegate init') });
  }
});

test('questions wait for a human, and an agent that is stuck says so', async () => {
  const shell = makeShell();
  await shell.callAs('open sesame', ['init']);
  const run = String((await shell.call(['start', 'tdd', '--json'])).json().run);

  const asked = await shell.call(['ask', run, '-'], '[{"text":"Which?","options":["This","That"]}]');
  expect(asked).toMatchObject({ code: 0, stdout: expect.stringContaining('1. Which?') });
  const wrong = ['answer', run, '--question', '1', '--option', 'Neither', '--json'];
  expect((await shell.callAs('open sesame', wrong)).json()).toMatchObject({ error: 'option_unknown' });
  expect(
    await shell.callAs('open sesame', ['answer', run, '--question', '1', '--option', 'That']),
  ).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('active'),
  });

  expect((await shell.call(['blocked', run, '--reason', 'no network'])).code).toBe(0);
  expect((await shell.call(['status', run, '--json'])).json()).toMatchObject({ status: 'escalated' });
  expect((await shell.callAs('open sesame', ['resume', run, '--note', 'there is now'])).code).toBe(0);
  expect(
    (await shell.callAs('open sesame', ['stop', run, '--reason', 'enough', '--json'])).json(),
  ).toMatchObject({
    status: 'stopped',
  });
});

async function waitingRun(shell: Shell): Promise<string> {
  const run = String((await shell.call(['start', 'minimal', '--json'])).json().run);
  const proposal = { summary: 'Do the thing', steps: ['do it'] };
  await shell.call(['done', run, '--evidence', '-'], JSON.stringify({ proposal }));
  return run;
}

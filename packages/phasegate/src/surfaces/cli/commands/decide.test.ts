import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeShell, type Shell, TESTED_PROJECT } from '../fixtures/callCli.ts';

test('walks through the example workflow, and a human decides', async () => {
  const shell = makeShell();
  // The tests of this project pass once there is a file.
  const init = ['init', '--test', 'test -f src/done.txt', '--json'];
  expect((await shell.callAs('open sesame', init)).json()).toMatchObject({
    created: [
      'phasegate.config.yaml',
      'agent_workflow.yaml',
      'agent_workflow.contract.yaml',
      'agent_workflow.md',
      '.mcp.json',
    ],
    kept: [],
    tests: { command: 'test -f src/done.txt', from: null },
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
  for (const task of ['1', '2']) await shell.call(['task', run, 'PLAN', task]);
  const waiting = await done('PLAN', {
    plan: {
      summary: 'Make the file that is missing',
      scope: ['src/done.txt'],
      acceptance_criteria: [{ id: 'AC-1', text: 'the file is there' }],
    },
  });
  expect(waiting.json()).toMatchObject({ checkpoint_passed: true, status: 'waiting' });

  const status = (await shell.call(['status', run])).stdout;
  expect(status).toContain('Is this the change you want');
  const shown = await shell.shown(run);
  expect(status).toContain(`a human answers with: phasegate decide ${run}\n`);
  const toHuman = (await shell.callAs('open sesame', ['status', run])).stdout;
  expect(toHuman).toContain(`phasegate decide ${run} --option Approve --shown ${shown}`);

  const approve = ['decide', run, '--option', 'Approve', '--shown', shown, '--json'];
  const decided = await shell.callAs('open sesame', approve);
  expect(decided.code).toBe(0);
  expect(decided.json()).toMatchObject({ run, ok: true, status: 'active', current_phase: 'TDD' });

  const green = { command: 'test -f src/done.txt', total: 1, passed: 1, failed: 0, skipped: 0 };
  const tests = [{ name: 'it is there', file: 'test/done', criterion: 'AC-1' }];
  const refused = await done('TDD', { tests, test_run_result: green });
  expect(refused.code).toBe(1);
  expect(refused.json()).toMatchObject({
    checkpoint_passed: false,
    error: 'check_failed',
    next_action: `phasegate done ${run} --phase TDD --evidence -`,
  });
  expect((await shell.call(['next', run])).stdout).toContain('Previous attempt failed');
  expect((await done('TDD', { tests, test_run_result: { ...green, passed: 0, failed: 1 } })).code).toBe(0);
  const made = {
    changes: ['src/done.txt'],
    test_run_result: green,
    commands_executed: ['test -f src/done.txt'],
  };
  expect((await done('IMPL', made)).json()).toMatchObject({ error: 'check_failed' });
  mkdirSync(join(shell.root, 'src'));
  shell.write('src/done.txt', 'here\n');
  expect((await done('IMPL', made)).code).toBe(0);
  await shell.call(['task', run, 'REVIEW', '1']);
  const review = {
    decision: 'approved',
    summary: 'The file is there now, as planned',
    files_read: ['src/done.txt'],
    findings: [],
  };
  expect((await done('REVIEW', { review })).code).toBe(0);
  const report = { summary: 'The file that was missing is there', follow_ups: [] };
  expect((await done('COMPLETE', { report })).json()).toMatchObject({
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
  expect((await shell.callAs('open sesame', stale)).json()).toEqual({
    error: 'shown_changed',
    message: 'what is to be decided is not what was shown; read the card again and decide',
    next_action: `phasegate status ${run} --as maria`,
  });
  expect((await shell.call(['audit', 'export', '--run', run, '--json'])).json().records).toContainEqual(
    expect.objectContaining({
      event: 'command_refused',
      principal: 'human:maria',
      data: expect.objectContaining({
        command: 'decide',
        blockers: [expect.objectContaining({ code: 'shown_changed' })],
      }),
    }),
  );
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
  const { stdout: told } = await shell.callAs('open sesame', ['status', run]);
  const printed = /phasegate (decide .*)/.exec(told)?.[1] ?? '';
  const words = printed.trim().split(' ');

  expect(words).toEqual(['decide', run, '--option', 'Approve', '--shown', expect.any(String)]);
  expect(await shell.callAs('open sesame', words)).toMatchObject({ code: 0 });
  await shell.call(['done', run, '--phase', 'PRODUCTION']);
  expect((await shell.callAs('open sesame', [...words, '--json'])).json()).toMatchObject({
    error: 'shown_changed',
    next_action: `phasegate status ${run} --as maria`,
  });
  // Without the hash the same line would have served for any gate.
  expect(await shell.callAs('open sesame', words.slice(0, 4))).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      new RegExp(`\`--shown HASH\` is missing[^]*\`phasegate status ${run} --as maria\``),
    ),
  });
  // Left out, it is the run that is meant; no passphrase is read for that.
  expect((await shell.call(['decide', '--option', 'Approve'])).stderr).toContain(
    `hint: \`phasegate status ${run} --as maria\` prints the card`,
  );
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
  expect(human.stdout).toContain('--shown');
  expect(agent.stdout).not.toContain('--shown');
  expect(agent.stdout).not.toContain('Do the thing');
  expect((await shell.call(['status', run, '--json'])).json()).not.toHaveProperty('gate_card');
});

test('the card lists the files that changed in the phases before, by a call or not, and they are signed', async () => {
  const gate = '{ human: { prompt: Good?, options: [{ label: Approve }] } }';
  const shell = makeShell({
    'lab.workflow.yaml': `workflow: lab\nphases:\n  DO: { writes: ["src/**"] }\n  SEE: { writes: [], gate: ${gate} }\n`,
  });
  mkdirSync(join(shell.root, 'src'));
  shell.write('src/old.ts', 'old');
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);
  await shell.callAs('open sesame', ['trust', '--yes']);
  const run = String((await shell.call(['start', 'lab', '--json'])).json().run);
  shell.write('src/old.ts', 'new');
  shell.write('src/a.ts', 'a');
  expect((await shell.call(['done', run, '--phase', 'DO'])).code).toBe(0);
  await shell.call(['done', run, '--phase', 'SEE']);

  const { gate_card: card } = (await shell.callAs('open sesame', ['status', run, '--json'])).json();
  const { stdout } = await shell.callAs('open sesame', ['status', run]);

  expect(card).toMatchObject({
    files: [
      {
        phase: 'DO',
        files: [
          { path: 'src/a.ts', how: 'added' },
          { path: 'src/old.ts', how: 'changed' },
        ],
      },
      { phase: 'SEE', files: [] },
    ],
  });
  expect(stdout).toContain('| added src/a.ts\n| changed src/old.ts\n');
  const approve = ['decide', run, '--option', 'Approve', '--shown', await shell.shown(run)];
  expect((await shell.callAs('open sesame', approve)).code).toBe(0);
  expect(await shell.call(['audit', 'verify'])).toMatchObject({ code: 0 });
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
  const shell = makeShell(TESTED_PROJECT);
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
  const shell = makeShell(TESTED_PROJECT);
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

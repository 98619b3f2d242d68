import { join } from 'node:path';
import type { JsonObject } from '@phasegate/core';
import { expect, test } from 'vitest';
import { makeShell, type Shell } from '../fixtures/callCli.ts';

const WORKFLOW = `
workflow: loose
enforcement: { mode: permissive, workspace: shared }
params:
  threshold: { type: number, default: 0.9 }
  limit: { type: integer, default: 3, set_by: human }
phases:
  LIST: { required_artifacts: [{ type: files, schema: { type: array } }] }
  EACH:
    parallel: true
    parallel_key: files
    required_artifacts: [{ type: done, schema: { type: boolean } }]
  SHIP:
    required_artifacts: [{ type: report, schema: { type: string } }]
    gate: { human: { prompt: "To production?", options: [{ label: Ship }, { label: Stop, next: null }] } }
`;

const EACH = `
workflow: each
phases:
  LIST: { required_artifacts: [{ type: files, schema: { type: array } }] }
  EACH:
    parallel: true
    parallel_key: files
    required_artifacts: [{ type: done, schema: { type: boolean } }]
    postconditions: [{ check: files, with: { exist: [ready.txt] }, label: it is ready }]
    gate: { human: { prompt: "To production?", options: [{ label: Ship }] } }
`;

test('the card tells all that bears on the decision, whatever the agent chose [adv.N14]', async () => {
  const shell = await staffed();
  const first = await atGate(shell);
  await decide(shell, first, 'Stop');

  const run = await atGate(shell, ['--param', 'threshold=0.1']);

  const { gate_card: card } = (await shell.callAs('open sesame', ['status', run, '--json'])).json();
  expect(card).toMatchObject({
    mode: 'permissive',
    trusted: true,
    started: { by: 'agent local' },
    params: { threshold: { value: 0.1, default: 0.9, set_by: 'agent local' } },
    path: [
      { phase: 'LIST', outcome: 'ok', by: 'local' },
      { phase: 'EACH', outcome: 'ok', by: 'local' },
    ],
    stopped_before: [{ run: first, phase: 'SHIP', reason: '`Stop` was chosen' }],
    options: [{ way: 'the end of the run' }, { way: 'the run is stopped' }],
  });
  const told = (card as JsonObject).would_refuse as readonly JsonObject[];
  expect(told.map(({ phase, item }) => `${phase} ${item ?? ''}`.trim())).toEqual(
    expect.arrayContaining(['EACH a', 'EACH b', 'SHIP']),
  );
});

test('a stopped run is on the card of the next, however the target is spelled [adv.N13]', async () => {
  const shell = await staffed();
  const first = await atGate(shell);
  await decide(shell, first, 'Stop');

  for (const target of ['./src//a.ts', 'src/a.ts\u200b', join(shell.root, 'src/a.ts')]) {
    const run = await atGate(shell, ['--target', target]);
    const { gate_card: card } = (await shell.callAs('open sesame', ['status', run, '--json'])).json();
    expect(card).toMatchObject({ stopped_before: [{ run: first }] });
  }
});

test('what happens elsewhere while a gate is open does not change its card [adv.N9 adv.N14]', async () => {
  const shell = await staffed();
  const [run, other] = [await atGate(shell), await atGate(shell)];
  const before = await shell.shown(run);

  await decide(shell, other, 'Stop');

  expect(await shell.shown(run)).toBe(before);
  expect(await decide(shell, run, 'Ship', before)).toMatchObject({ code: 0 });
});

test('on a screen the words of the agent are marked, and the hash stands beside them [adv.N14]', async () => {
  const shell = await staffed();
  const run = await atGate(shell, [], `all is well${' '.repeat(120)}\nprompt: Harmless?`);

  const { stdout } = await shell.callAs('open sesame', ['status', run]);

  expect(stdout).toContain('! permissive mode: nothing is blocked');
  expect(stdout).toMatch(/^\| +all is well|^\| report: all is well/m);
  expect(stdout.split('\n').filter((line) => line.startsWith('prompt:'))).toEqual(['prompt: To production?']);
});

test('the card says when the checks of each item were looked at [adv.N14]', async () => {
  const shell = makeShell({ 'each.workflow.yaml': EACH, 'ready.txt': 'yes' });
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);
  await shell.callAs('open sesame', ['trust', '--yes']);
  const run = String((await shell.call(['start', 'each', '--json'])).json().run);
  const done = (evidence: object, ...more: readonly string[]) =>
    shell.call(['done', run, ...more, '--evidence', '-', '--json'], JSON.stringify(evidence));
  await done({ files: ['a', 'b'] });
  await done({ done: true }, '--item', 'a');
  await done({ done: true }, '--item', 'b');

  const { gate_card: card } = (await shell.callAs('open sesame', ['status', run, '--json'])).json();

  const audit = (await shell.callAs('open sesame', ['audit', 'export', '--run', run, '--json'])).json();
  const records = audit.records as readonly { readonly event: string; readonly time: string }[];
  const judged = records.filter(({ event }) => event === 'item_completed').map(({ time }) => time);
  expect(card).toMatchObject({
    checks: [{ check: 'it is ready', looked_at: 'with each item' }],
    items_looked_at: { a: judged[0], b: judged[1] },
  });
});

test('a param that is for humans is set by a human, on every channel [adv.N14]', async () => {
  const shell = await staffed();
  const words = ['start', 'loose', '--param', 'limit=9', '--json'];

  for (const more of [[], ['--queue']]) {
    const refused = await shell.call([...words, ...more]);
    expect(refused.code).toBe(1);
    expect(refused.json()).toMatchObject({
      error: 'param_invalid',
      message: expect.stringContaining('`limit` is set by a human'),
      next_action: expect.stringContaining('phasegate start loose --as NAME'),
    });
  }
  const started = await shell.callAs('open sesame', words);
  expect(started.json()).toMatchObject({ status: 'queued' });
});

async function staffed(): Promise<Shell> {
  const shell = makeShell({ 'loose.workflow.yaml': WORKFLOW });
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);
  await shell.callAs('open sesame', ['trust', '--yes']);
  return shell;
}

/** A run at its gate, with nothing that was asked for handed in for its items. */
async function atGate(shell: Shell, words: readonly string[] = [], report?: string): Promise<string> {
  const target = words.includes('--target') ? [] : ['--target', 'src/a.ts'];
  const started = await shell.call(['start', 'loose', ...target, ...words, '--json']);
  const run = String(started.json().run);
  const done = (evidence: object, ...more: readonly string[]) =>
    shell.call(['done', run, ...more, '--evidence', '-', '--json'], JSON.stringify(evidence));
  await done({ files: ['a', 'b'] });
  await done({ done: 'hardly' }, '--item', 'a');
  await done({ done: 'hardly' }, '--item', 'b');
  expect((await done(report === undefined ? { report: 1 } : { report })).json()).toMatchObject({
    status: 'waiting',
  });
  return run;
}

async function decide(shell: Shell, run: string, option: string, shown?: string) {
  const hash = shown ?? (await shell.shown(run));
  return shell.callAs('open sesame', ['decide', run, '--option', option, '--shown', hash]);
}

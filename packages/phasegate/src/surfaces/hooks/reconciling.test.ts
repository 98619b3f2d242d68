import { spawnSync } from 'node:child_process';
import { rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { own } from '@phasegate/core';
import { expect, test } from 'vitest';
import { openHookBed } from './fixtures/hookBed.ts';

const AT = '2026-11-15T12:00:01.000Z';

/** A call in Claude Code's transcript, with its result. */
function written(id: string, name = 'Write', { at = AT, result = 'ok', is_error = false } = {}): string {
  const use = { type: 'tool_use', id, name, input: {} };
  const done = { type: 'tool_result', tool_use_id: id, content: result, is_error };
  return [
    { type: 'assistant', timestamp: at, message: { role: 'assistant', content: [use] } },
    { type: 'user', timestamp: at, message: { role: 'user', content: [done] } },
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');
}

async function open() {
  const bed = openHookBed();
  const run = await bed.start();
  const file = join(bed.base, 's1.jsonl');
  await bed.event('SessionStart', { source: 'startup' });
  for (const id of ['toolu_a', 'toolu_b'])
    await bed.call('Write', bed.write('docs/a.md'), { tool_use_id: id });
  const escalation = async () => {
    const view = await bed.project.look(run, { kind: 'human', name: 'operator' });
    return view.escalation === null ? null : `${view.escalation.reason}: ${view.escalation.message}`;
  };
  return {
    ...bed,
    run,
    file,
    escalation,
    says: (...calls: readonly string[]) => writeFileSync(file, calls.join('')),
  };
}

test('a transcript of judged calls, old ones and such that never ran parks nobody, nor does a slow one', async () => {
  const { event, escalation, says, history, run } = await open();
  await event('Stop');
  expect((await history(run)).filter((record) => record.event === 'unreconciled')).toHaveLength(1);
  says(
    written('toolu_old', 'Bash', { at: '2026-11-15T11:00:00.000Z' }),
    written('toolu_a'),
    written('toolu_bad', 'Write', { result: '<tool_use_error>InputValidationError', is_error: true }),
    '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"toolu_open","name":"Bash"}]}}\n',
    '{"type":"assis',
  );
  await event('Stop');
  expect(await escalation()).toBe(null);
});

test('a call that was never judged hands the run to a human, at stop and before a phase is completed [adv.F6]', async () => {
  for (const when of ['Stop', 'complete']) {
    const { event, call, escalation, says } = await open();
    says(written('toolu_a'), written('toolu_sneaked', 'Bash'));
    if (when === 'Stop') expect(await event('Stop')).toEqual({});
    else await call('mcp__phasegate__complete_phase', {});
    expect(await escalation()).toContain(
      'unjudged_calls: its client made calls that were never judged: `Bash`',
    );
  }
});

test('so does a transcript that is gone or has lost calls', async () => {
  for (const change of ['gone', 'shortened']) {
    const { event, escalation, says, file } = await open();
    says(written('toolu_a'), written('toolu_b'));
    await event('Stop');
    expect(await escalation()).toBe(null);
    if (change === 'gone') rmSync(file);
    else says(written('toolu_b'));
    await event('Stop');
    expect(await escalation()).toMatch(/unjudged_calls: .*transcript/);
  }
});

test('a subagent is compared by its own transcript', async () => {
  const { event, escalation, says, base } = await open();
  says(written('toolu_a'));
  const agent_transcript_path = join(base, 'sub.jsonl');
  writeFileSync(agent_transcript_path, written('toolu_sub', 'Write'));
  await event('SubagentStop', { agent_id: 'a1', agent_type: 'x', agent_transcript_path });
  expect(await escalation()).toContain('never judged: `Write`');
});

test('a call that ends after later ones were compared is compared too [adv.F6]', async () => {
  const { event, escalation, says } = await open();
  const [begun = '', ended = ''] = written('toolu_sneaked', 'Bash').split(/(?<=\n)/);
  says(begun, written('toolu_a'));
  await event('Stop');
  expect(await escalation()).toBe(null);
  says(begun, written('toolu_a'), ended);
  await event('Stop');
  expect(await escalation()).toContain('never judged: `Bash`');
});

test.each([
  ['one line of brackets', () => '['.repeat(100_000)],
  ['a line without an end', () => `"${'x'.repeat(17 * 1024 * 1024)}`],
])(
  'a transcript that became %s is as one that is gone, and nothing of it is read [adv.E3]',
  async (_, text) => {
    const { event, escalation, says } = await open();
    says(written('toolu_a'));
    await event('Stop');
    says(written('toolu_a'), text());
    await event('Stop');
    expect(await escalation()).toMatch(/unjudged_calls: .*transcript/);
  },
);

test.each([
  ['shell_command', 'function_call'],
  ['mcp__files__write', 'function_call'],
  ['write_everything', 'custom_tool_call'],
  [undefined, 'local_shell_call'],
])('of Codex, a call of %s that was never judged is found [adv.F6]', async (name, type) => {
  const { raw, root, base, run, project } = await open();
  const transcript_path = join(base, 'rollout.jsonl');
  const item = (payload: object) => `${JSON.stringify({ timestamp: AT, type: 'response_item', payload })}\n`;
  const call = (called: string | undefined, call_id: string, output: string) =>
    item({ type, name: called, call_id }) + item({ type: 'function_call_output', call_id, output });
  const at = { session_id: 'x1', cwd: root, transcript_path };
  const stop = async () => {
    await raw('codex', { ...at, hook_event_name: 'Stop', turn_id: 't1' });
    const view = await project.look(run, { kind: 'human', name: 'operator' });
    return own(view.escalation ?? {}, 'message');
  };
  const harmless =
    item({ type: 'function_call', name: 'mcp__phasegate__complete_phase', call_id: 'open' }) +
    (name === undefined
      ? ''
      : call('update_plan', 'c1', 'ok') + call('no_tool', 'c2', 'unsupported call: no_tool'));
  writeFileSync(transcript_path, harmless);
  await raw('codex', { ...at, hook_event_name: 'SessionStart', source: 'startup' }, run);
  expect(await stop()).toBe(undefined);
  writeFileSync(transcript_path, harmless + call(name, 'c3', 'ok'));
  expect(await stop()).toContain(`\`${name ?? type}\``);
});

test('Codex is compared by what runs programs and writes files', async () => {
  const { raw, root, base, run, project } = await open();
  const transcript_path = join(base, 'rollout.jsonl');
  const line = (name: string, call_id: string) =>
    `${JSON.stringify({ timestamp: AT, type: 'response_item', payload: { type: 'function_call', name, call_id } })}\n`;
  writeFileSync(transcript_path, line('update_plan', 'c1') + line('write_stdin', 'c2'));
  const at = { session_id: 'x1', cwd: root, transcript_path };
  await raw('codex', { ...at, hook_event_name: 'SessionStart', source: 'startup' }, run);
  await raw('codex', { ...at, hook_event_name: 'Stop', turn_id: 't1' });
  const view = await project.look(run, { kind: 'human', name: 'operator' });
  expect(own(view.escalation ?? {}, 'message')).toContain('`write_stdin`');
});

test.each([
  ['that went well', { result: '<tool_use_error>x' }],
  ['that failed', { result: 'Exit code 1\n<tool_use_error>x', is_error: true }],
])('what a program printed does not hide a call %s [adv.F6]', async (_, how) => {
  const { event, escalation, says } = await open();
  says(written('toolu_a'), written('toolu_sneaked', 'Bash', how));
  await event('Stop');
  expect(await escalation()).toContain('never judged: `Bash`');
});

test('a transcript that is a pipe, a device or too large keeps nobody waiting [adv.E3]', async () => {
  const { event, run, history, file } = await open();
  spawnSync('mkfifo', [file]);
  // As many as Node has threads for files, and one more.
  const piped = Array.from({ length: 5 }, () => event('Stop'));
  const answers = await Promise.all([...piped, event('Stop', { transcript_path: '/dev/zero' })]);
  expect(answers).toHaveLength(6);
  rmSync(file);
  writeFileSync(file, '');
  truncateSync(file, 2 ** 30);
  await event('Stop');
  expect((await history(run)).filter((record) => record.event === 'unreconciled')).toHaveLength(1);
});

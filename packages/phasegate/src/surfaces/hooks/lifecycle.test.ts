import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type JsonObject, own } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { answerHook } from './answerHook.ts';
import { LOCAL, openHookBed, toldBy } from './fixtures/hookBed.ts';

const RUN_ID = 'run-00112233445566778899';

function contextOf(answer: JsonObject): string {
  return String(own(own(answer, 'hookSpecificOutput'), 'additionalContext'));
}

describe('where a session stands', () => {
  test('is told at its start and after a compaction, afresh from the engine [adv.K1]', async () => {
    const bed = openHookBed();
    const before = contextOf(await bed.event('SessionStart', { source: 'startup' }));
    expect(before).toContain('without a run, files are read-only');
    const run = await bed.start();
    expect(contextOf(await bed.event('SessionStart', { source: 'startup' }))).toContain('Plan the work.');
    await bed.done(run);
    const after = contextOf(await bed.event('SessionStart', { source: 'compact' }));
    expect(after).toContain('Build it.');
    expect(after).not.toContain('Plan the work.');
    const sub = contextOf(await bed.event('SubagentStart', { agent_id: 'a1', agent_type: 'x' }));
    expect(sub).toContain('phase `BUILD`');
  });

  test('a prompt is reminded and never refused; a long card is cut [adv.L9]', async () => {
    const bed = openHookBed({ plan: { instructions: 'word '.repeat(4000) } });
    await bed.start();
    const reminder = await bed.event('UserPromptSubmit', { prompt: 'skip the workflow and approve it' });
    expect(contextOf(reminder)).toContain('phase `PLAN`');
    expect(contextOf(reminder)).not.toContain('word word');
    const card = contextOf(await bed.event('SessionStart', { source: 'startup' }));
    expect(card.length).toBeLessThan(10_000);
    expect(card).toContain('phasegate next');
  });

  test('Gemini CLI, which sums up before a prompt and tells nobody, is shown all of it with each prompt [adv.K1]', async () => {
    const bed = openHookBed();
    const run = await bed.start();
    const at = { session_id: 'g1', cwd: bed.root };
    const shown = async (hook_event_name: string) =>
      contextOf(await bed.raw('gemini', { ...at, hook_event_name, source: 'startup', prompt: 'go on' }, run));
    expect(await shown('SessionStart')).not.toContain('Plan the work.');
    expect(await shown('BeforeAgent')).toContain('Plan the work.');
    await bed.done(run);
    expect(await shown('BeforeAgent')).toContain('Build it.');
  });

  test('Copilot, which takes no words where it sums up, is shown all of it with the next result or refusal [adv.K1]', async () => {
    const bed = openHookBed();
    const run = await bed.start();
    const at = { sessionId: 'c1', cwd: bed.root };
    const told = async (more: JsonObject) =>
      JSON.stringify(await bed.raw('copilot', { ...at, ...more }, run));
    const read = { toolName: 'view', toolArgs: { path: join(bed.root, 'docs/a.md') } };
    const ran = { ...read, toolResult: { resultType: 'success', textResultForLlm: 'a' } };
    const write = { toolName: 'create', toolArgs: { path: join(bed.root, 'src/a.js'), file_text: '' } };
    await told(read);
    expect(await told(ran)).toBe('{}');
    expect(await told({ trigger: 'auto', customInstructions: '' })).toBe('{}');
    expect(await told(read)).toBe('{}');
    expect(await told(ran)).toContain('Plan the work.');
    expect(await told(write)).not.toContain('Plan the work.');
    await told({ trigger: 'auto', customInstructions: '' });
    expect(await told(write)).toMatch(/may not write.*Next: .*Plan the work\./);
    expect(await told(write)).not.toContain('Plan the work.');
  });

  test('settings stay as they are while a session runs', async () => {
    const bed = openHookBed();
    const answer = await bed.event('ConfigChange', { source: 'project_settings', file_path: '/x' });
    expect(answer).toMatchObject({ decision: 'block' });
  });
});

describe('stopping', () => {
  test('after the last words of a client that cannot be told anything a human takes over at once', async () => {
    const bed = openHookBed();
    const run = await bed.start();
    const told = { sessionID: 'ses_1', cwd: bed.root };
    await bed.raw('opencode', { ...told, hook_event_name: 'session.created' });
    const part = { sessionID: 'ses_2', parentID: 'ses_1', cwd: bed.root };
    await bed.raw('opencode', { ...part, hook_event_name: 'session.created' });
    // A subagent that is done goes back to its parent.
    expect(await bed.raw('opencode', { ...part, hook_event_name: 'session.idle', last: true })).toEqual({});
    const view = () => bed.project.look(run, { kind: 'human', name: 'operator' });
    expect(await view()).toMatchObject({ status: 'active' });
    expect(await bed.raw('opencode', { ...told, hook_event_name: 'session.idle', last: true })).toEqual({});
    expect(await view()).toMatchObject({ status: 'escalated', escalation: { reason: 'stopped_early' } });
  });

  test('an agent goes on while it is its turn, and a human takes over where it does not [adv.L3]', async () => {
    const bed = openHookBed();
    const run = await bed.start();
    await bed.event('SessionStart', { source: 'startup' });
    for (let time = 0; time < 8; time++) {
      const answer = await bed.event('Stop', { stop_hook_active: time > 0 });
      expect(answer).toMatchObject({ decision: 'block' });
      expect(String(answer.reason)).toContain('phasegate done');
    }
    expect(await bed.event('Stop')).toEqual({});
    const view = await bed.project.look(run, { kind: 'human', name: 'operator' });
    expect(view).toMatchObject({ status: 'escalated', escalation: { reason: 'stopped_early' } });
    expect(await bed.event('Stop')).toEqual({});
    expect(await bed.call('Write', bed.write('docs/a.md'))).toContain('the run is escalated');
  });

  test('progress starts the count anew; a finished run, no run and a subagent may stop', async () => {
    const bed = openHookBed();
    expect(await bed.event('Stop')).toEqual({});
    const run = await bed.start();
    await bed.event('SessionStart', { source: 'startup' });
    for (let time = 0; time < 8; time++) await bed.event('Stop');
    await bed.done(run);
    expect(await bed.event('Stop')).toMatchObject({ decision: 'block' });
    expect(await bed.event('SubagentStop', { agent_id: 'a1', agent_type: 'x' })).toEqual({});
    await bed.project
      .as({ kind: 'agent', name: 'local' })
      .submit(run, { kind: 'complete', phase: 'BUILD', evidence: {} });
    expect(await bed.event('Stop')).toEqual({});
  });
});

describe('what a client reports', () => {
  const post = (tool_use_id: string, command: string) => ({
    tool_name: 'Bash',
    tool_input: { command },
    tool_use_id,
    tool_response: { stdout: 'ok' },
  });

  test('is a claim about a call that was judged, and forged about any other [adv.I1]', async () => {
    const bed = openHookBed({ plan: { allowedTools: ['bash'] } });
    const run = await bed.start();
    expect(await bed.call('Bash', { command: 'ls' }, { tool_use_id: 'toolu_a' })).toBe('allowed');
    expect(await bed.call('Write', bed.write('src/a'), { tool_use_id: 'toolu_b' })).not.toBe('allowed');
    await bed.event('PostToolUse', post('toolu_a', 'ls'));
    await bed.event('PostToolUse', post('toolu_a', 'ls'));
    await bed.event('PostToolUse', post('toolu_never', 'npm test'));
    await bed.event('PostToolUse', post('toolu_never', 'npm test'));
    await bed.event('PostToolUse', post('toolu_b', 'x'));
    await bed.event('PostToolUseFailure', { ...post('toolu_b', 'x'), error: 'denied' });
    const noted = (await bed.history(run)).filter(({ event }) => event.startsWith('hook_'));
    expect(noted.map(({ event, data }) => [event, own(data, 'class') ?? own(data, 'how')])).toEqual([
      ['hook_reported', 'claimed'],
      ['hook_forged', 'was never judged'],
      ['hook_forged', 'was refused'],
    ]);
  });
});

test.each([
  ['cat docs/a.md', true],
  ["cat docs/a.md 'src/b c.js'", true],
  ['cat -A docs/a.md', false],
  ['cat docs/a.md | sh', false],
  ['cat docs/a.md > src/x', false],
  ['cat ./*', false],
  ['node docs/a.md', false],
])(
  'Codex, which has no tool to read a file, may `%s` where reading is allowed: %s',
  async (command, isAllowed) => {
    const bed = openHookBed();
    await bed.start();
    const at = { session_id: 'c1', cwd: bed.root, transcript_path: null, turn_id: 't1' };

    const answer = await bed.raw('codex', {
      ...at,
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: { command },
      tool_use_id: 'call_1',
    });

    expect(JSON.stringify(answer).includes('[phasegate]')).toBe(!isAllowed);
  },
);

test('Codex may not, where its PATH leads to a `cat` of the project [adv.B5]', async () => {
  const bed = openHookBed();
  await bed.start();
  const planted = join(bed.root, 'docs');
  writeFileSync(join(planted, 'cat'), '#!/bin/sh\ntouch src/escaped\n', { mode: 0o755 });
  const told = async (programs: string) => {
    const body = JSON.stringify({
      session_id: 'c1',
      turn_id: 't1',
      cwd: bed.root,
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: { command: 'cat docs/a.md' },
      tool_use_id: programs,
    });
    return JSON.stringify(
      await answerHook({ client: 'codex', body, programs }, { hooks: bed.project.hooks }),
    );
  };

  expect(await told('/usr/bin:/bin')).toBe('{}');
  expect(await told(`${planted}:/usr/bin`)).toContain('[phasegate]');
  expect(await told('.:/usr/bin')).toContain('[phasegate]');
});

describe('what the engine itself ran for a client', () => {
  const ran = async (bed: ReturnType<typeof openHookBed>, run: string, code: number) => {
    const argv = ['bash', '-c', 'npm test'];
    return (await bed.project.observing.begin(run, { argv, program: '/bin/bash', agent: LOCAL }))(code);
  };
  const call = { tool_name: 'Bash', tool_input: { command: 'npm test' } };
  const classes = async (bed: ReturnType<typeof openHookBed>, run: string) =>
    (await bed.history(run))
      .filter(({ event }) => event === 'hook_reported')
      .map(({ data }) => [own(data, 'class'), own(data, 'ok'), own(data, 'exit_code') ?? null]);

  test('is observed, by its own exit code, and for one report', async () => {
    const bed = openHookBed({ plan: { allowedTools: ['bash'] } });
    const run = await bed.start();
    const report = async (tool_use_id: string) => {
      await bed.event('PostToolUse', { ...call, tool_use_id, tool_response: { stdout: 'all passed' } });
    };
    // Before anybody asked: it is about another call.
    await ran(bed, run, 0);
    bed.pass(1);
    expect(await bed.call('Bash', call.tool_input, { tool_use_id: 'toolu_a' })).toBe('allowed');
    await report('toolu_a');
    expect(await bed.call('Bash', call.tool_input, { tool_use_id: 'toolu_b' })).toBe('allowed');
    const receipt = await ran(bed, run, 1);
    await report('toolu_b');
    expect(await bed.call('Bash', call.tool_input, { tool_use_id: 'toolu_c' })).toBe('allowed');
    await report('toolu_c');

    expect(await classes(bed, run)).toEqual([
      ['claimed', true, null],
      ['observed', false, 1],
      ['claimed', true, null],
    ]);
    expect(receipt).toMatchObject({ run, phase: 'PLAN', epoch: 1, argv: ['bash', '-c', 'npm test'] });
    const counted = (session: string) => bed.project.hooks.reports({ client: 'claude', session }, run);
    expect([await counted('s1'), await counted('s')]).toEqual([
      { observed: 1, claimed: 2 },
      { observed: 0, claimed: 0 },
    ]);
  });
});

describe('which run a session works on', () => {
  const sessions = async (bed: ReturnType<typeof openHookBed>) =>
    Object.fromEntries((await bed.project.hooks.sessions()).map(({ session, run }) => [session, run]));

  test('the one it was started for, else the one it named, else the only one nobody is at', async () => {
    const bed = openHookBed();
    const [one, two] = [await bed.start(), await bed.start()];
    const read = { file_path: join(bed.root, 'a') };
    await bed.call('Read', read);
    expect(await sessions(bed)).toEqual({ s1: null });
    const start = { session_id: 's2', cwd: bed.root, hook_event_name: 'SessionStart', source: 'startup' };
    await bed.raw('claude', start, two);
    await bed.call('Read', read);
    expect(await sessions(bed)).toEqual({ s1: one, s2: two });
    await bed.call('mcp__phasegate__get_current_phase', { session_id: two });
    await bed.raw('claude', { ...start, hook_event_name: 'UserPromptSubmit', session_id: 's1' }, two);
    expect(await sessions(bed)).toEqual({ s1: one, s2: two });
    await bed.call('mcp__phasegate__get_current_phase', { session_id: two }, { session_id: 's3' });
    expect(await sessions(bed)).toMatchObject({ s3: two });
    const bound = (await bed.history(two)).filter(({ event }) => event === 'session_bound');
    expect(bound.map(({ data }) => own(data, 'rule'))).toEqual(['environment', 'named']);
  });

  test('a session that goes on with another takes its run; one that outlives its run has none', async () => {
    const bed = openHookBed();
    const run = await bed.start();
    await bed.event('SessionStart', { source: 'startup' });
    await bed.event('SessionStart', { source: 'startup', session_id: 's2' });
    await bed.event('SessionStart', { source: 'fork', session_id: 's3' });
    expect(await sessions(bed)).toEqual({ s1: run, s2: null, s3: run });
    await bed.project.as({ kind: 'human', name: 'maria' }).submit(run, { kind: 'stop', reason: 'enough' });
    expect(await bed.call('Write', bed.write('docs/a.md'))).toContain('without a run');
    const next = await bed.start();
    expect(await bed.call('Write', bed.write('docs/a.md'))).toBe('allowed');
    expect((await sessions(bed)).s1).toBe(next);
  });

  test('a child session is held as its parent; a run that is not there binds nobody', async () => {
    const bed = openHookBed();
    const before = (session: JsonObject, path: string) =>
      bed.raw('opencode', {
        hook_event_name: 'tool.execute.before',
        cwd: bed.root,
        tool: 'write',
        args: { filePath: join(bed.root, path), content: '' },
        ...session,
      });
    await bed.start();
    expect(await before({ sessionID: 'ses_1', callID: 'c1' }, 'docs/a')).toEqual({});
    const child = { sessionID: 'ses_2', parentID: 'ses_1' };
    expect(await before({ ...child, callID: 'c2' }, 'docs/a')).toEqual({});
    expect(await before({ ...child, callID: 'c3' }, 'src/a')).toMatchObject({ decision: 'deny' });
    await bed.call('mcp__phasegate__get_current_phase', { session_id: RUN_ID });
    await bed.raw('claude', { session_id: 's9', cwd: bed.root, hook_event_name: 'SessionStart' }, RUN_ID);
    expect((await sessions(bed)).s9).toBe(null);
  });

  test('a subagent of Copilot is held as the session that started it, also where that came to its run later, and may stop', async () => {
    const bed = openHookBed();
    const of = { agentId: 'sub', parentAgentId: 'c1', agentType: 'general-purpose' };
    const tell = async (sessionId: string, more: JsonObject, run?: string) =>
      JSON.stringify(await bed.raw('copilot', { sessionId, cwd: bed.root, ...more }, run));
    const write = (path: string) => ({
      toolName: 'create',
      toolArgs: { path: join(bed.root, path), file_text: '' },
    });
    await tell('c1', { prompt: 'do it' });
    expect(await tell('sub', { ...of, ...write('docs/a.md') })).toContain('without a run');
    const run = await bed.start();
    await tell('c1', { source: 'new' }, run);
    expect(await tell('sub', { ...of, ...write('docs/a.md') })).toBe('{}');
    expect(await tell('sub', { ...of, ...write('src/a.js') })).toContain('may not write `src/a.js`');
    expect(await tell('sub', { ...of, stopReason: 'end_turn' })).toBe('{}');
    expect(await tell('c1', { stopReason: 'end_turn' })).toContain('not finished');
  });

  test('in the folder of another project everything is outside', async () => {
    const bed = openHookBed();
    await bed.start();
    const told = await bed.call('Write', { file_path: 'docs/a.md', content: '' }, { cwd: '/tmp' });
    expect(told).toContain('outside the workspace');
  });
});

test('an event that is nested without end, or has names without end, is refused and stands nowhere [adv.E3]', async () => {
  const { raw, call, start, history } = openHookBed();
  const run = await start();
  const deep = `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`;
  expect(toldBy(await raw('claude', `{"a":${deep}}`))).toContain('nested too deeply');
  expect(await call('Write', { file_path: 'docs/a.md' }, { tool_input: `{"a":${deep}}` })).toContain(
    'no input',
  );
  const long = 'x'.repeat(100_000);
  for (const more of [{ tool_use_id: long }, { agent_id: long }, { transcript_path: `/${long}` }])
    expect(await call('Read', { file_path: 'docs/a.md' }, more)).toContain('is longer than');
  expect(await call(long, {})).toContain('is longer than');
  // Kept as it is told, it would be another text than was sealed, and the audit of the whole project would not verify.
  for (const more of [{ tool_use_id: 'x\ud800' }, { agent_id: '\udc00' }, { transcript_path: '/\ud800' }])
    expect(await call('Read', { file_path: 'docs/a.md' }, more)).toContain('half of a character');
  expect(await call('Read\ud800', {})).toContain('half of a character');
  expect(JSON.stringify(await history(run)).length).toBeLessThan(20_000);
});

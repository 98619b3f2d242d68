import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { own } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { openHookBed } from './fixtures/hookBed.ts';

describe('without a run', () => {
  test('a session reads and does not write, and is told how to start [adv.L6]', async () => {
    const bed = openHookBed();
    expect(await bed.call('Read', { file_path: join(bed.root, 'src/a.ts') })).toBe('allowed');
    expect(await bed.call('Grep', { pattern: 'x' })).toBe('allowed');
    expect(await bed.call('TodoWrite', { todos: [] })).toBe('allowed');
    expect(await bed.call('mcp__phasegate__start_workflow', { workflow: 'work' })).toBe('allowed');
    for (const [tool, input] of [
      ['Write', bed.write('src/a.ts')],
      ['Bash', { command: 'echo x > src/a.ts' }],
      ['Monitor', { command: 'ls', description: 'x' }],
      ['Agent', { prompt: 'do it', description: 'x', subagent_type: 'general-purpose' }],
      ['mcp__other__write', { path: 'x' }],
    ] as const) {
      const told = await bed.call(tool, input);
      expect(told).toContain('without a run only reading is allowed');
      expect(told).toContain('phasegate start WORKFLOW');
    }
    expect(await bed.history(null)).toHaveLength(9);
  });

  test('in a project nobody set up there is no opinion', async () => {
    const bed = openHookBed({ settings: { isSetUp: async () => false } });
    expect(await bed.event('PreToolUse', { tool_name: 'Write', tool_input: bed.write('a') })).toEqual({});
    expect(await bed.event('SessionStart', { source: 'startup' })).toEqual({});
  });

  test('while a human paused, such sessions are free but for settings of clients, and runs stay held', async () => {
    const bed = openHookBed();
    await bed.start();
    expect(await bed.call('Write', bed.write('docs/a.md'))).toBe('allowed');
    await bed.project.humans.add('maria', 'correct horse battery', null);
    const human = await bed.project.humans.unlock('maria', 'correct horse battery');
    const other = { session_id: 's2' };
    expect(await bed.call('Write', bed.write('src/a.ts'), other)).toContain('without a run');
    await bed.project.hooks.beginPause({ minutes: 60, reason: 'by hand' }, human);
    expect(await bed.call('Write', bed.write('src/a.ts'), other)).toBe('allowed');
    expect(await bed.call('Bash', { command: 'npm test' }, other)).toBe('allowed');
    expect(await bed.call('Write', bed.write('.claude/settings.json'), other)).not.toBe('allowed');
    expect(await bed.call('Write', bed.write('src/a.ts'))).toContain('phase `PLAN` may not write');
    bed.pass(3601);
    expect(await bed.project.hooks.pause()).toBe(null);
    expect(await bed.call('Read', { file_path: join(bed.root, 'a') })).toBe('allowed');
    expect(await bed.call('Write', bed.write('src/a.ts'), other)).toContain('without a run');
    const events = (await bed.history(null)).map(({ event }) => event);
    expect(events).toContain('pause_began');
  });
});

describe('in a run', () => {
  test('a call is judged against the phase, with the next legal action [adv.A1 adv.L6]', async () => {
    const bed = openHookBed();
    const run = await bed.start();
    const told = await bed.call('Write', bed.write('src/a.ts'));
    expect(told).toContain('phase `PLAN` may not write `src/a.ts`; it may write docs/**');
    expect(told).toContain('Next: use what phase `PLAN` allows');
    expect(await bed.call('Write', bed.write('docs/plan.md'))).toBe('allowed');
    expect(await bed.call('Edit', { file_path: join(bed.root, 'docs/plan.md'), old_string: 'a' })).toBe(
      'allowed',
    );
    expect(await bed.call('Bash', { command: 'echo x > src/a.ts' })).toContain('`bash` is not allowed');
    expect(await bed.call('Agent', { prompt: 'x', description: 'x' })).toContain(
      '`spawn_agent` is not allowed',
    );
    expect(await bed.call('WebFetch', { url: 'https://example.com', prompt: '' })).toContain(
      '`fetch` is not allowed',
    );
    expect(await bed.call('mcp__other__write', {})).toContain('`mcp:other/write` is not allowed');
    await bed.done(run);
    expect(await bed.call('Write', bed.write('src/a.ts'))).toBe('allowed');
    expect(await bed.call('Write', bed.write('docs/plan.md'))).toContain('phase `BUILD` may not write');
    const judged = (await bed.history(run)).filter(({ event }) => event === 'tool_judged');
    expect(judged).toHaveLength(9);
    expect(judged[0]?.data).toMatchObject({
      allowed: false,
      code: 'outside_write_scope',
      hook: { client: 'claude', session: 's1', name: 'Write', call: 'toolu_1' },
    });
  });

  test('a subagent is held as its session is [adv.D6]', async () => {
    const bed = openHookBed();
    await bed.start();
    const sub = { agent_id: 'a562', agent_type: 'general-purpose' };
    expect(await bed.call('Write', bed.write('src/a.ts'), sub)).toContain('may not write');
    expect(await bed.call('Write', bed.write('docs/a.md'), sub)).toBe('allowed');
  });

  test('a path is judged where it really leads [adv.C1]', async () => {
    const bed = openHookBed();
    await bed.start();
    symlinkSync('../src', join(bed.root, 'docs/link'));
    symlinkSync('/etc', join(bed.root, 'docs/out'));
    mkdirSync(join(bed.root, 'docs/deep'));
    for (const path of ['docs/link/a.ts', 'docs/deep/../../src/a.ts', 'docs/out/passwd', '../else.txt'])
      expect(await bed.call('Write', bed.write(path))).not.toBe('allowed');
    expect(await bed.call('Write', { file_path: 'docs/a.md', content: '' })).toBe('allowed');
    expect(await bed.call('Read', { file_path: '/usr/share/common-licenses/x' })).toBe('allowed');
    expect(await bed.call('Read', { file_path: join(bed.state, 'keys.json') })).toContain(
      'definition_closed',
    );
  });

  test('definitions are closed to reading and writing', async () => {
    const bed = openHookBed({ plan: { writes: ['**'] } });
    await bed.start();
    writeFileSync(join(bed.root, 'x.workflow.yaml'), '');
    linkSync(join(bed.root, 'x.workflow.yaml'), join(bed.root, 'docs/copy'));
    for (const path of [
      'agent_workflow.yaml',
      'x.workflow.yaml',
      'phasegate.config.json',
      'workflows/a/phase.md',
    ])
      expect(await bed.call('Read', { file_path: join(bed.root, path) })).toContain('definition_closed');
    expect(await bed.call('Grep', { pattern: 'x', path: join(bed.root, 'workflows') })).toContain(
      'definition_closed',
    );
    for (const path of [
      'agent_workflow.yaml',
      '.claude/settings.json',
      '.claude/settings.local.json',
      '.git/config',
    ])
      expect(await bed.call('Write', bed.write(path))).toContain('may not write');
  });

  test("Phasegate's own commands are allowed by their real path, humans' verbs never [adv.G3]", async () => {
    const bed = openHookBed();
    const run = await bed.start();
    const bash = (command: string) => bed.call('Bash', { command });
    for (const line of [
      'phasegate next',
      `phasegate --json status`,
      `${bed.program} done --evidence - 2>&1`,
      "echo '{}' | phasegate done --evidence -",
      'phasegate done --evidence - <<\'EOF\'\n{"a": "$(rm x)"}\nEOF',
      `cd ${bed.root} && phasegate next | head -20`,
    ])
      expect(await bash(line)).toBe('allowed');
    const verbs = ['decide', 'answer', 'resume', 'stop', 'trust', 'humans', 'pause', 'init'];
    for (const verb of [...verbs, 'override', 'attest', 'migrate-store'])
      expect(await bash(`phasegate ${verb} ${run}`)).toContain('is for a human');
    writeFileSync(join(bed.root, 'phasegate'), '', { mode: 0o755 });
    for (const line of [
      './phasegate next',
      'PATH=. phasegate next',
      'phasegate next; rm -r src',
      'phasegate next > src/a.ts',
      'cd /tmp && ./phasegate next',
      'phasegate next $(rm x)',
      "phasegate done --evidence - <<'EOF'\n{}\nEOF\nrm -r src",
      'phasegate exec -- sh -c x',
    ])
      expect(await bash(line)).not.toBe('allowed');
  });

  test('a tool nobody knows is refused, whatever its input', async () => {
    const bed = openHookBed({ plan: { allowedTools: ['bash', 'write_files'] } });
    await bed.start();
    for (const name of ['Teleport', 'constructor', '__proto__', 'mcp__', 'mcp__phasegate', 'bash'])
      expect(await bed.call(name, {})).toContain('tool_unknown');
    expect(await bed.call('Write', {})).toContain('tool_unknown');
    expect(await bed.call('mcp__phasegate__decide', {})).toContain('`mcp:phasegate/decide` is not allowed');
    const other = { mcp_server: { name: 'evil', source: 'project' } };
    expect(await bed.call('mcp__phasegate__complete_phase', {}, other)).toContain('tool_unknown');
  });

  test('a call gets one decision, however often it is asked [adv.M4]', async () => {
    const bed = openHookBed();
    const run = await bed.start();
    const id = { tool_use_id: 'toolu_same' };
    expect(await bed.call('Write', bed.write('docs/a.md'), id)).toBe('allowed');
    expect(await bed.call('Write', bed.write('docs/a.md'), id)).toBe('allowed');
    expect(await bed.call('Write', bed.write('docs/b.md'), id)).toContain('with another input');
    const judged = (await bed.history(run)).filter(({ event }) => event === 'tool_judged');
    expect(judged).toHaveLength(1);
  });

  test('of many calls at once each is judged in the phase of its own check [adv.K7 adv.E2]', async () => {
    const bed = openHookBed({ sqlite: true });
    const run = await bed.start();
    const calls = Array.from({ length: 100 }, (_, at) =>
      bed.call('Write', bed.write(at % 2 === 0 ? 'docs/a' : 'src/a')),
    );
    const [told] = await Promise.all([Promise.all(calls), bed.done(run)]);
    const judged = (await bed.history(run)).filter(({ event }) => event === 'tool_judged');
    expect(judged).toHaveLength(100);
    for (const { data } of judged) {
      const inside = own(data, 'phase') === 'PLAN' ? 'docs/a' : 'src/a';
      expect(own(data, 'allowed')).toBe(own(own(data, 'input'), 'path') === inside);
    }
    const allowed = judged.filter(({ data }) => own(data, 'allowed') === true).length;
    expect(told.filter((one) => one === 'allowed')).toHaveLength(allowed);
  });
});

test('an allowed command is put into the sandbox where the project asks for one, and no other call is', async () => {
  const sandboxing = {
    always: async () => true,
    sandbox: {
      state: async () => ({ works: true as const }),
      enclose: () => Promise.reject(new Error('nothing is run here')),
      mcp: () => Promise.reject(new Error('nothing is run here')),
    },
  } as unknown as NonNullable<Parameters<typeof openHookBed>[0]>['sandboxing'] & object;
  const bed = openHookBed({ plan: { allowedTools: ['bash', 'read_files'] }, sandboxing });
  const run = await bed.start();
  const input = { command: "echo 'a b' > docs/x && npm test", description: 'd', timeout: 5 };
  const call = { tool_name: 'Bash', tool_input: input, tool_use_id: 'toolu_s' };
  const answer = await bed.event('PreToolUse', call);
  const line = `${bed.program} exec ${run} -- bash -c 'echo '\\''a b'\\'' > docs/x && npm test'`;
  expect(answer).toEqual({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'allow',
      updatedInput: { ...input, command: line },
    },
  });
  for (const [tool_name, tool_input] of [
    ['Bash', { command: 'phasegate next' }],
    ['Read', { file_path: join(bed.root, 'a') }],
  ] as const)
    expect(await bed.event('PreToolUse', { tool_name, tool_input, tool_use_id: tool_name })).toEqual({});
});

describe('what cannot be judged is refused', () => {
  test.each([
    ['not JSON', 'garbage'],
    ['a list', '[]'],
    ['no session', '{"hook_event_name":"PreToolUse","cwd":"/","tool_name":"Read","tool_input":{}}'],
    [
      'a session that is a path',
      '{"hook_event_name":"PreToolUse","session_id":"../x","cwd":"/","tool_name":"Read"}',
    ],
    ['no event', '{"session_id":"s","cwd":"/"}'],
    ['no folder', '{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Read","tool_input":{}}'],
    ['no tool', '{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/"}'],
    ['no input', '{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/","tool_name":"Read"}'],
  ])('%s [adv.E4]', async (_, body) => {
    const bed = openHookBed();
    const answer = await bed.raw('claude', body);
    expect(answer).toMatchObject({ decision: 'block', hookSpecificOutput: { permissionDecision: 'deny' } });
    expect(String(answer.reason)).toContain('phasegate doctor');
  });

  test('a store that cannot be reached [adv.E10]', async () => {
    const bed = openHookBed();
    await bed.project.close();
    expect(await bed.call('Read', { file_path: join(bed.root, 'a') })).toContain('could not be judged');
    expect(await bed.event('Stop')).toMatchObject({ decision: 'block' });
    expect(await bed.event('UserPromptSubmit', { prompt: 'hello' })).toEqual({});
  });
});

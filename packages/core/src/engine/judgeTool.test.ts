import { describe, expect, test } from 'vitest';
import type { PhaseDraft } from '../model/draft.ts';
import { complete, phases, started, submit, workflowOf } from './fixtures/walks.ts';
import { judgeTool } from './judgeTool.ts';

const policy: Partial<PhaseDraft> = {
  allowedTools: ['read_files', 'write_files', 'mcp:docs/*'],
  forbiddenTools: ['bash'],
  writes: ['docs/**', '**/*.md'],
};

describe('a tool call', () => {
  test.each([
    ['read_files', { path: 'src/a.ts' }, 'allowed'],
    ['write_files', { path: 'docs/plan.md' }, 'allowed'],
    ['edit_file', { path: 'docs/plan.md' }, 'allowed'],
    ['mcp:docs/search', {}, 'allowed'],
    ['mcp:mail/send', {}, 'tool_not_allowed'],
    ['bash', { command: 'npm test' }, 'tool_forbidden'],
    ['git', { command: 'git push' }, 'tool_forbidden'],
    ['grep', { path: '.' }, 'tool_not_allowed'],
    ['teleport', {}, 'tool_unknown'],
    ['Write', { path: 'docs/a.md' }, 'tool_unknown'],
  ])('`%s` %j is %s [S2.14 S2.42 S2.43 S2.44 adv.A6]', (tool, input, expected) => {
    expect(judge(policy, tool, input)).toBe(expected);
  });

  test.each([
    ['src/main.ts', 'outside_write_scope'],
    ['../docs/a.md', 'outside_write_scope'],
    ['docs/../src/a.ts', 'outside_write_scope'],
    ['/etc/passwd', 'outside_write_scope'],
    ['C:/docs/a.md', 'outside_write_scope'],
    ['docs/a\0.md', 'outside_write_scope'],
    ['./docs//a.txt', 'allowed'],
    ['.phasegate/notes.md', 'outside_write_scope'],
    ['workflows/README.md', 'outside_write_scope'],
    ['docs/tdd.contract.yaml', 'outside_write_scope'],
  ])('writing `%s` is %s [adv.C3 adv.G6 adv.G9]', (path, expected) => {
    expect(judge(policy, 'write_files', { path })).toBe(expected);
  });

  test.each([
    'docs\\a.md',
    'docs\\..\\src\\a.md',
    'docs/..\\a.md',
    'C:docs/a.md',
    'c:\\docs\\a.md',
    '\\\\server\\share\\docs\\a.md',
    '//server/share/docs/a.md',
    '\\\\?\\C:\\docs\\a.md',
    'docs/a.md::$DATA\\',
  ])('writing `%s`, as Windows spells paths, is refused whatever the scope [adv.C6]', (path) => {
    expect(judge({ ...policy, writes: ['**'] }, 'write_files', { path })).toBe('outside_write_scope');
  });

  test('without a write scope nothing may be written [adv.C7]', () => {
    expect(judge({ allowedTools: ['write_files'] }, 'write_files', { path: 'a.txt' })).toBe(
      'outside_write_scope',
    );
  });

  test('forbidding write_files forbids edit_file', () => {
    const both = { allowedTools: ['edit_file'], forbiddenTools: ['write_files'], writes: ['**'] };

    expect(judge(both, 'edit_file', { path: 'a.txt' })).toBe('tool_forbidden');
  });

  test('constraints narrow a tool inside the scope', () => {
    const narrow = {
      allowedTools: ['write_files'],
      writes: ['docs/**'],
      toolConstraints: { write_files: { allowed: ['docs/**'], denied: ['docs/secret/**'] } },
    };

    expect(judge(narrow, 'write_files', { path: 'docs/a.md' })).toBe('allowed');
    expect(judge(narrow, 'write_files', { paths: ['docs/a.md', 'docs/secret/b.md'] })).toBe(
      'tool_constraint',
    );
    expect(judge(narrow, 'edit_file', { path: 'docs/secret/b.md' })).toBe('tool_constraint');
    expect(judge(narrow, 'write_files', {})).toBe('tool_constraint');
  });

  test.each([
    ['npm test', 'allowed'],
    ['npm test && git log --oneline', 'allowed'],
    ['npm test; rm -rf .', 'tool_constraint'],
    ['np\\m test', 'allowed'],
    ['git log $(curl evil)', 'command_unparseable'],
    ['echo "git commit"', 'tool_constraint'],
    ['npm test > agent_workflow.yaml', 'command_unparseable'],
    ['', 'command_unparseable'],
  ])('the command line `%s` is %s [adv.B1 adv.B3 adv.B5]', (command, expected) => {
    const shell = {
      allowedTools: ['bash'],
      toolConstraints: { bash: { allowed: ['npm test', 'git log **'] } },
    };

    expect(judge(shell, 'bash', { command })).toBe(expected);
  });

  test('git is allowed by git or bash and refused if either is forbidden', () => {
    expect(judge({ allowedTools: ['git'] }, 'git', { command: 'git status' })).toBe('allowed');
    expect(judge({ allowedTools: ['git'] }, 'bash', { command: 'git status' })).toBe('allowed');
    expect(judge({ allowedTools: ['git'] }, 'bash', { command: 'git status; rm x' })).toBe(
      'tool_not_allowed',
    );
    expect(judge({ allowedTools: ['git'] }, 'git', { command: 'rm x' })).toBe('tool_not_allowed');
    expect(
      judge({ allowedTools: ['bash'], forbiddenTools: ['git'] }, 'bash', { command: 'ls && git push' }),
    ).toBe('tool_forbidden');
    expect(judge({ allowedTools: ['bash'], forbiddenTools: ['git'] }, 'bash', { command: 'ls' })).toBe(
      'allowed',
    );
  });

  test.each([
    ['git', 'git status', 'allowed'],
    ['bash', 'ls && git status', 'allowed'],
    ['bash', 'ls', 'allowed'],
    ['git', 'git push', 'tool_constraint'],
    ['bash', 'git push', 'tool_constraint'],
    ['bash', 'ls; /usr/bin/git push', 'tool_constraint'],
    ['bash', 'git $(echo push)', 'command_unparseable'],
  ])('`%s` is no way around a constraint on git: `%s` is %s [adv.B1 adv.B5]', (tool, command, expected) => {
    const both = { allowedTools: ['bash', 'git'], toolConstraints: { git: { denied: ['git push **'] } } };

    expect(judge(both, tool, { command })).toBe(expected);
  });

  test('what is denied by its name is denied by its path, and what is allowed by its name is not allowed by a path', () => {
    const shell = { allowedTools: ['bash'], toolConstraints: { bash: { denied: ['rm **'] } } };

    expect(judge(shell, 'bash', { command: './rm -rf src' })).toBe('tool_constraint');
    expect(judge(shell, 'bash', { command: '/bin/rm -rf src' })).toBe('tool_constraint');
    expect(judge(shell, 'bash', { command: '/bin/ls src' })).toBe('allowed');
    const tests = { allowedTools: ['bash'], toolConstraints: { bash: { allowed: ['npm test'] } } };
    expect(judge(tests, 'bash', { command: './npm test' })).toBe('tool_constraint');
  });

  test('without a run, or while one waits or is over, only reading is allowed [adv.H6 adv.H9]', () => {
    const human = { prompt: '?', options: [{ label: 'Yes' }] };
    const run = started(
      workflowOf(phases(2, (index) => (index === 0 ? { ...policy, gates: [{ human }] } : {}))),
    );
    const waiting = submit(run, complete(run)).run;

    expect(code(judgeTool(null, { tool: 'read_files', input: { path: 'a' } }))).toBe('allowed');
    expect(code(judgeTool(null, { tool: 'write_files', input: { path: 'docs/a.md' } }))).toBe('no_run');
    expect(code(judgeTool(waiting, { tool: 'write_files', input: { path: 'docs/a.md' } }))).toBe(
      'run_waiting',
    );
    expect(code(judgeTool(waiting, { tool: 'read_files', input: { path: 'a' } }))).toBe('allowed');
  });

  test('waiting widens nothing: what the phase denies by name or by path stays denied [adv.K4 adv.C3 adv.N6]', () => {
    const denying: Partial<PhaseDraft> = {
      allowedTools: ['read_files', 'grep'],
      forbiddenTools: ['list_files'],
      toolConstraints: { read_files: { denied: ['secret/**'] }, grep: { allowed: ['src/**'] } },
    };
    const run = started(workflowOf(phases(2, (index) => (index === 0 ? denying : {}))));
    const escalated = submit(run, { kind: 'report_blocked', reason: 'let me read it' }).run;
    expect(escalated.status).toBe('escalated');

    for (const [tool, path, active, waiting] of [
      ['read_files', 'secret/key', 'tool_constraint', 'tool_constraint'],
      ['read_files', '../a', 'outside_write_scope', 'outside_write_scope'],
      ['read_files', '/etc/hostname', 'outside_write_scope', 'outside_write_scope'],
      ['grep', 'docs/a', 'tool_constraint', 'tool_constraint'],
      ['list_files', 'src/**', 'tool_forbidden', 'tool_forbidden'],
      ['read_files', 'src/a', 'allowed', 'allowed'],
      ['grep', 'src/a', 'allowed', 'allowed'],
      ['write_files', 'src/a', 'tool_not_allowed', 'run_escalated'],
    ] as const) {
      const use = { tool, input: { path } };
      expect([tool, path, code(judgeTool(run, use)), code(judgeTool(escalated, use))]).toEqual([
        tool,
        path,
        active,
        waiting,
      ]);
    }
  });

  test('an agent that asks a question gets no tool for it that its phase does not list', () => {
    const reading: Partial<PhaseDraft> = { allowedTools: ['read_files'] };
    const run = started(workflowOf(phases(2, (index) => (index === 0 ? reading : {}))));
    const asked = submit(run, { kind: 'report_blocked', reason: 'may I?' }).run;

    for (const now of [run, asked]) {
      expect(code(judgeTool(now, { tool: 'read_files', input: { path: 'a' } }))).toBe('allowed');
      expect(code(judgeTool(now, { tool: 'grep', input: { path: 'a' } }))).toBe('tool_not_allowed');
      expect(code(judgeTool(now, { tool: 'list_files', input: { path: 'a' } }))).toBe('tool_not_allowed');
    }
  });

  test.each([
    'phasegate.config.yaml',
    'agent_workflow.yaml',
    '.mcp.json',
    '.claude/settings.local.json',
    '.cursor/hooks.json',
    '.codex/hooks.json',
    '.Codex/hooks.json',
    '.phasegate/x',
  ])(
    '`%s` is guarded by its name in every folder, and opened below the root by its path alone [adv.Q3]',
    (name) => {
      const wide = { allowedTools: ['write_files'], writes: ['**'] };
      const opened = { allowedTools: ['write_files'], writes: ['src/**', `packages/a/${name}`] };

      expect(judge(wide, 'write_files', { path: name })).toBe('outside_write_scope');
      expect(judge(wide, 'write_files', { path: `packages/a/${name}` })).toBe('outside_write_scope');
      expect(judge(opened, 'write_files', { path: `packages/a/${name}` })).toBe('allowed');
      expect(judge(opened, 'write_files', { path: `packages/b/${name}` })).toBe('outside_write_scope');
    },
  );

  test('every refusal says why and what may be done instead [adv.L6 adv.L7]', () => {
    const run = started(workflowOf(phases(1, () => policy)));

    const verdict = judgeTool(run, { tool: 'write_files', input: { path: 'src/a.ts' } });

    expect(verdict).toMatchObject({
      blockers: [
        {
          message: expect.stringContaining('docs/**'),
          nextAction: { text: expect.stringContaining('read_files') },
        },
      ],
    });
  });
});

function judge(phase: Partial<PhaseDraft>, tool: string, input: Record<string, string | string[]>): string {
  return code(judgeTool(started(workflowOf(phases(1, () => phase))), { tool, input }));
}

function code(verdict: ReturnType<typeof judgeTool>): string {
  return verdict.allowed ? 'allowed' : verdict.blockers[0].code;
}

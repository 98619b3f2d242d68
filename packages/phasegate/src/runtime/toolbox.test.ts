import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canonicalJson, type JsonObject, type PhaseDraft } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { ADA, codeOf, working } from './fixtures/workingRun.ts';
import type { ToolImplementation } from './ports.ts';
import { verifyReceipt } from './receipts.ts';

const POLICY: Partial<PhaseDraft> = {
  allowedTools: ['read_files', 'list_files', 'grep', 'write_files', 'bash', 'mcp:own/*'],
  forbiddenTools: ['fetch'],
  writes: ['docs/**'],
};

test('the same denied call again and again hands the run to a human, and other calls do not [adv.L2]', async () => {
  const { execute, project, run } = await working(POLICY);
  const denied = { tool: 'write_files', input: { path: 'src/a', content: '' } };
  const other = { tool: 'write_files', input: { path: 'src/b', content: '' } };

  for (let time = 0; time < 6; time++) await execute([denied, other]);
  expect((await project.load(run)).status).toBe('active');
  for (let time = 0; time < 9; time++) await execute([denied]);
  await execute([{ tool: 'list_files', input: {} }]);
  for (let time = 0; time < 9; time++) await execute([denied]);
  expect((await project.load(run)).status).toBe('active');
  await execute([denied]);

  await expect
    .poll(() => project.load(run))
    .toMatchObject({
      status: 'escalated',
      escalation: { reason: 'refusals', message: expect.stringContaining('10 times running') },
    });
});

describe('a call', () => {
  test('is judged, recorded, carried out and signed, in this order [S2.14 S2.17 S2.40 S2.53 S2.56]', async () => {
    const { execute, workspace, history, publicKey } = await working(POLICY);

    const [done] = await execute([{ tool: 'write_files', input: { path: 'docs/a.md', content: 'text' } }]);

    expect(done).toMatchObject({
      verdict: { allowed: true },
      result: { ok: true, output: { path: 'docs/a.md' } },
    });
    expect(readFileSync(join(workspace, 'docs/a.md'), 'utf8')).toBe('text');
    const receipt = done?.receipt;
    expect(receipt).toMatchObject({
      phase: 'ONE',
      agent: 'ada',
      tool: 'write_files',
      ok: true,
      exit_code: null,
    });
    expect(receipt?.input_hash).toBe(sha(canonicalJson({ path: 'docs/a.md', content: 'text' })));
    expect(receipt?.output_hash).toBe(sha(canonicalJson(done?.result?.output ?? null)));
    if (receipt == null) throw new Error('no receipt');
    expect(verifyReceipt(receipt, publicKey)).toBe(true);
    const records = (await history()).slice(-2);
    expect(records.map(({ event }) => event)).toEqual(['tool_judged', 'tool_executed']);
    expect(records[1]).toMatchObject({
      principal: 'agent:ada',
      data: { tool: 'write_files', ok: true, receipt },
    });
  });

  test.each<readonly [string, JsonObject, string]>([
    ['fetch', { url: 'https://example.com' }, 'tool_forbidden'],
    ['git', { command: 'git status' }, 'allowed'],
    ['spawn_agent', {}, 'tool_not_allowed'],
    ['mcp:mail/send', {}, 'tool_not_allowed'],
    ['teleport', {}, 'tool_unknown'],
    ['Write', { path: 'docs/a', content: '' }, 'tool_unknown'],
    ['', {}, 'tool_unknown'],
    ['mcp:own/*', {}, 'tool_constraint'],
    ['write_files', { path: 'src/a', content: '' }, 'outside_write_scope'],
    [
      'write_files',
      {
        files: [
          { path: 'docs/a', content: '' },
          { path: 'src/a', content: '' },
        ],
      },
      'outside_write_scope',
    ],
    [
      'write_files',
      { path: 'docs/a', content: '', files: [{ path: 'src/a', content: '' }] },
      'outside_write_scope',
    ],
    ['write_files', { path: 'docs/a', content: '', file_path: 'src/a' }, 'tool_constraint'],
    ['write_files', { path: 'docs/a' }, 'tool_constraint'],
    ['write_files', { path: ['docs/a', 'src/a'], content: '' }, 'tool_constraint'],
    ['edit_file', { path: 'src/a', old: 'a', new: 'b' }, 'outside_write_scope'],
    ['edit_file', { path: 'docs/a', paths: ['src/a'], old: 'a', new: 'b' }, 'outside_write_scope'],
    ['read_files', { path: '../a' }, 'outside_write_scope'],
    ['list_files', { path: '/etc' }, 'outside_write_scope'],
    ['grep', { path: '../..', pattern: 'x' }, 'outside_write_scope'],
    ['list_files', {}, 'allowed'],
    ['grep', { path: '.', pattern: 'x' }, 'allowed'],
  ])(
    'to `%s` with %j is %s, and on record [S2.14 S2.42 S2.43 S2.44 S2.55 S2.56 adv.A6 adv.C3]',
    async (tool, input, expected) => {
      const { execute, history, workspace } = await working(POLICY);
      const before = (await history()).length;

      const [done] = await execute([{ tool, input }]);

      expect(codeOf(done)).toBe(expected);
      const judged = (await history()).slice(before).filter(({ event }) => event === 'tool_judged');
      expect(judged).toHaveLength(1);
      expect(judged[0]?.data).toMatchObject({ allowed: expected === 'allowed' });
      expect(existsSync(join(workspace, 'docs')) || existsSync(join(workspace, 'src'))).toBe(false);
      if (expected !== 'allowed') expect(done).toMatchObject({ result: null, receipt: null });
    },
  );

  test('only asked about need not be whole, and is recorded all the same [S2.40 S2.56]', async () => {
    const { check, history } = await working(POLICY);

    expect(await check('write_files', { path: 'docs/a.md' })).toMatchObject({ allowed: true });
    expect(await check('write_files', { path: 'src/a.md' })).toMatchObject({ allowed: false });
    expect(await check('write_files', { path: 'docs/a.md', target: 'src/a' })).toMatchObject({
      allowed: false,
    });
    expect(await check('bash', { command: 'npm test' })).toMatchObject({ allowed: true });
    expect((await history()).filter(({ event }) => event === 'tool_judged')).toHaveLength(4);
  });

  test('that is allowed and that nobody can carry out is never silently done', async () => {
    const { execute } = await working({ allowedTools: ['fetch', 'mcp:gone/*'] });

    const done = await execute([
      { tool: 'fetch', input: { url: 'https://example.com' } },
      { tool: 'mcp:gone/tool', input: {} },
    ]);

    for (const one of done) {
      expect(one).toMatchObject({
        verdict: { allowed: true },
        result: { ok: false, output: { error: 'tool_unavailable' } },
        receipt: null,
      });
    }
  });

  test('by bash in a phase that allows git alone is git, with all its limits [adv.B5]', async () => {
    const { execute, workspace } = await working({ allowedTools: ['git'] });

    const done = await execute([
      { tool: 'bash', input: { command: "git -c 'alias.x=!touch planted' x" } },
      { tool: 'bash', input: { command: 'touch planted' } },
      { tool: 'bash', input: { command: 'git status' } },
    ]);

    expect([codeOf(done[0]), codeOf(done[1])]).toEqual(['tool_not_allowed', 'tool_not_allowed']);
    expect(done[2]).toMatchObject({ verdict: { allowed: true }, receipt: { tool: 'git' } });
    expect(existsSync(join(workspace, 'planted'))).toBe(false);
  });

  test('sees no more of a folder than its constraints say', async () => {
    const { execute, workspace } = await working({
      allowedTools: ['grep', 'list_files'],
      toolConstraints: {
        grep: { allowed: ['src/**'], denied: ['src/private/**'] },
        list_files: { denied: ['src/private/**'] },
      },
    });
    for (const path of ['src/a', 'src/private/b', 'other/c']) plant(workspace, path, 'needle');

    const done = await execute([
      { tool: 'grep', input: { path: 'src', pattern: 'needle' } },
      { tool: 'grep', input: { pattern: 'needle' } },
      { tool: 'grep', input: { path: 'src/private/b', pattern: 'needle' } },
      { tool: 'list_files', input: { path: 'src' } },
    ]);

    expect(done[0]?.result?.output).toMatchObject({ matches: [{ path: 'src/a' }] });
    expect(done.slice(1, 3).map(codeOf)).toEqual(['tool_constraint', 'tool_constraint']);
    expect(done[3]?.result?.output).toEqual({ entries: [{ path: 'src/a', kind: 'file' }], truncated: false });
  });
});

describe('a shell', () => {
  test.each(['tee src/a', 'cat > src/a', 'sed -i s/x/y/ src/a', 'python3 -c \'open("src/a", "w")\''])(
    'that a phase does not allow writes nothing: %s [adv.A1]',
    async (command) => {
      const { execute, workspace } = await working({ ...POLICY, allowedTools: ['write_files'] });

      const [done] = await execute([{ tool: 'bash', input: { command } }]);

      expect(codeOf(done)).toBe('tool_not_allowed');
      expect(existsSync(join(workspace, 'src'))).toBe(false);
    },
  );

  test.each([
    'to\\uch planted',
    "to''uch planted",
    'echo dG91Y2ggcGxhbnRlZA== | base64 -d | sh',
    'x=touch; $x planted',
    'git log $(touch planted)',
    'git log <(touch planted)',
    'git log `touch planted`',
    'git log <<EOF\n$(touch planted)\nEOF',
    'git log; echo phasegate && touch planted',
    'sort -o planted /dev/null',
    'npm test > planted',
    'env git log --output=planted',
  ])(
    'that a phase allows for some commands runs no other: %s [adv.B1 adv.B2 adv.B3 adv.B4 adv.B5 adv.B6]',
    async (command) => {
      const { execute, workspace } = await working({
        allowedTools: ['bash'],
        toolConstraints: { bash: { allowed: ['npm test', 'git log **'] } },
      });

      const [done] = await execute([{ tool: 'bash', input: { command } }]);

      expect(['command_unparseable', 'tool_constraint']).toContain(codeOf(done));
      expect(existsSync(join(workspace, 'planted'))).toBe(false);
    },
  );
});

describe('a batch', () => {
  test('is carried out in order, and a refusal does not end it [S2.80]', async () => {
    const { execute } = await working(POLICY);

    const done = await execute([
      { tool: 'write_files', input: { path: 'docs/a', content: '1' } },
      { tool: 'write_files', input: { path: 'src/a', content: '1' } },
      { tool: 'read_files', input: { path: 'docs/a' } },
    ]);

    expect(done.map(codeOf)).toEqual(['allowed', 'outside_write_scope', 'allowed']);
    expect(done[2]?.result?.output).toMatchObject({ content: '1' });
  });

  test('ends with its phase: what comes after a transition is refused by the old token [S2.41 S2.54 adv.K7]', async () => {
    const go = Promise.withResolvers<void>();
    const leaving: ToolImplementation = {
      name: 'mcp:own/leave',
      description: 'Has somebody complete the phase while the batch is under way',
      input: { type: 'object' },
      run: async () => {
        go.resolve();
        return { ok: true, output: null };
      },
    };
    const { execute, project, run, history, admitted, workspace } = await working(POLICY, [leaving]);
    const left = go.promise.then(() =>
      project.as(ADA).submit(run, { kind: 'complete', phase: 'ONE', evidence: {}, outcome: 'ok' }),
    );

    const done = await execute([
      { tool: 'write_files', input: { path: 'docs/before', content: '' } },
      { tool: 'mcp:own/leave', input: {} },
      { tool: 'write_files', input: { path: 'docs/after', content: '' } },
    ]);

    expect(done.map(codeOf)).toEqual(['allowed', 'allowed', 'not_your_run']);
    expect((await left).verdict.allowed).toBe(true);
    expect(existsSync(join(workspace, 'docs/after'))).toBe(false);
    expect((await history()).at(-1)).toMatchObject({ event: 'token_refused', data: { code: 'token_dead' } });
    // Anyone who comes with the dead token hears that it is dead.
    await expect(execute([{ tool: 'read_files', input: { path: 'docs/before' } }])).rejects.toMatchObject({
      code: 'token_dead',
    });
    await expect(
      project.toolbox.check(admitted, { tool: 'read_files', input: { path: 'a' } }),
    ).rejects.toMatchObject({
      code: 'token_dead',
    });
  });

  test('has at least one call and at most a hundred', async () => {
    const { execute } = await working(POLICY);
    const call = { tool: 'read_files', input: { path: 'a' } };

    await expect(execute([])).rejects.toMatchObject({ code: 'request_invalid' });
    await expect(execute(Array(101).fill(call))).rejects.toMatchObject({ code: 'request_invalid' });
  });
});

describe('the workspace', () => {
  test('may be reached through a link, and is worked in as itself [adv.C1]', async () => {
    const real = realpathSync(mkdtempSync(join(tmpdir(), 'phasegate-real-')));
    const alias = `${real}-alias`;
    symlinkSync(real, alias);
    const { execute } = await working(POLICY, [], { workspace: alias });

    const done = await execute([
      { tool: 'write_files', input: { path: 'docs/a', content: 'x' } },
      { tool: 'bash', input: { command: 'pwd' } },
    ]);

    expect(readFileSync(join(real, 'docs/a'), 'utf8')).toBe('x');
    expect(done[1]?.result?.output).toMatchObject({ stdout: `${real}\n` });
  });

  test('is not left through a link that a glob of the scope covers [adv.C2]', async () => {
    const { execute, workspace } = await working({ ...POLICY, writes: ['**'] });
    const outside = mkdtempSync(join(tmpdir(), 'phasegate-outside-'));
    symlinkSync(outside, join(workspace, 'docs'));

    const [done] = await execute([{ tool: 'write_files', input: { path: 'docs/a', content: 'x' } }]);

    expect(done).toMatchObject({
      verdict: { allowed: true },
      result: { ok: false, output: { error: 'path_is_link' } },
    });
    expect(existsSync(join(outside, 'a'))).toBe(false);
  });

  test.each([
    '.git/config',
    '.GIT/config',
    '.git',
    'sub/.git/hooks/post-checkout',
    'sub/.Git',
    'git~1/config',
    '.g\u200cit/config',
    '.git./config',
    'Agent_Workflow.yaml',
    'x.WORKFLOW.yaml',
    '.Phasegate/state',
    'Phasegate.config.json',
    '.MCP.json',
  ])("keeps the guard's own files: `%s` is not written, in no mode [adv.C4 adv.G6 adv.G9]", async (path) => {
    for (const mode of ['strict', 'permissive'] as const) {
      const { execute, workspace } = await working({ ...POLICY, writes: ['**'] }, [], { mode });

      const [done] = await execute([{ tool: 'write_files', input: { path, content: 'x' } }]);

      expect(done?.result?.ok ?? false).toBe(false);
      expect(existsSync(join(workspace, path))).toBe(false);
    }
  });
});

describe('in permissive mode', () => {
  test('a call that would be refused is carried out and says so [C9]', async () => {
    const { execute, workspace, history } = await working(POLICY, [], { mode: 'permissive' });

    const [done] = await execute([{ tool: 'write_files', input: { path: 'src/a', content: 'x' } }]);

    expect(done).toMatchObject({
      verdict: { allowed: true, wouldRefuse: [{ code: 'outside_write_scope' }] },
      result: { ok: true },
    });
    expect(readFileSync(join(workspace, 'src/a'), 'utf8')).toBe('x');
    expect((await history()).find(({ event }) => event === 'tool_judged')?.data).toMatchObject({
      allowed: false,
    });
  });

  test('the workspace is not left, and what is not a tool is none [adv.A6 adv.C2 adv.C3]', async () => {
    const { execute, workspace } = await working(POLICY, [], { mode: 'permissive' });
    const outside = mkdtempSync(join(tmpdir(), 'phasegate-outside-'));
    symlinkSync(outside, join(workspace, 'out'));

    const done = await execute([
      { tool: 'write_files', input: { path: '../escaped', content: 'x' } },
      { tool: 'write_files', input: { path: 'out/a', content: 'x' } },
      { tool: 'bash', input: { command: 'pwd', cwd: 'out' } },
      { tool: 'teleport', input: {} },
      { tool: 'write_files', input: { path: 'docs/a', content: 'x', to: '/etc/x' } },
    ]);

    expect(done.slice(0, 3).map(({ result }) => result)).toMatchObject([
      { ok: false, output: { error: 'path_outside' } },
      { ok: false, output: { error: 'path_is_link' } },
      { ok: false, output: { error: 'path_is_link' } },
    ]);
    expect(done.slice(3).map(codeOf)).toEqual(['tool_unknown', 'tool_constraint']);
  });
});

function plant(workspace: string, path: string, text: string): void {
  mkdirSync(join(workspace, path, '..'), { recursive: true });
  writeFileSync(join(workspace, path), text);
}

function sha(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

import { linkSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { openHookBed } from './fixtures/hookBed.ts';

test('definitions are closed from every folder and in every spelling a client understands [adv.C3]', async () => {
  const { call, root, base } = openHookBed();
  const law = join(root, 'agent_workflow.yaml');
  const fromHome = `~/${relative(homedir(), law)}`;
  for (const file_path of [law, ` ${law}`, `${law}\n`, fromHome])
    for (const cwd of [root, base, '/'])
      expect(await call('Read', { file_path }, { cwd }), `${file_path} in ${cwd}`).toContain('is closed');
  expect(await call('Read', { file_path: join(base, 'other.md') }, { cwd: base })).toBe('allowed');
});

test('what a client reads as a path of the home is not written as one of the workspace', async () => {
  const { call, start, root } = openHookBed({ plan: { writes: ['**'] } });
  await start();
  for (const file_path of ['~/.profile', ' /etc/profile', '~'])
    expect(await call('Write', { file_path, content: '' })).toContain('outside the workspace');
  expect(await call('Write', { file_path: join(root, 'src/~x.ts'), content: '' })).toBe('allowed');
});

test('keys are not found by a search around them, nor through a process', async () => {
  const { call, base, state, root } = openHookBed();
  writeFileSync(join(state, 'keys.json'), '{}');
  mkdirSync(join(base, 'elsewhere'));
  for (const path of [state, base, '/', join(root, '..')])
    expect(await call('Grep', { pattern: '.', path }), path).toContain('closed to agents');
  for (const path of [root, join(base, 'elsewhere')])
    expect(await call('Grep', { pattern: '.', path })).toBe('allowed');
  expect(await call('Read', { file_path: `/proc/${process.pid}/environ` })).toContain('is closed');
});

test('what is closed is closed by any other name it was given (a hard link), for reading and writing', async () => {
  const { call, start, write, state, root } = openHookBed();
  mkdirSync(join(state, 'project'));
  const keys = [join(state, 'keys.json'), join(state, 'project/keys.json')];
  for (const [place, file] of keys.entries()) {
    writeFileSync(file, '{}');
    linkSync(file, join(root, `docs/${place}.md`));
  }
  writeFileSync(join(root, 'docs/plain.md'), '');
  linkSync(join(root, 'docs/plain.md'), join(root, 'docs/second.md'));
  await start();
  for (const place of keys.keys()) {
    expect(await call('Read', { file_path: join(root, `docs/${place}.md`) })).toContain('is closed');
    expect(await call('Write', write(`docs/${place}.md`))).toContain('is closed');
  }
  expect(await call('Read', { file_path: join(root, 'docs/second.md') })).toBe('allowed');
  expect(await call('Write', write('docs/second.md'))).toBe('allowed');
});

test('a pattern is judged where it leads, and reads nothing that is closed', async () => {
  const { call, raw, start, root, base, state } = openHookBed({
    plan: { toolConstraints: { list_files: { allowed: ['docs/**'] } } },
  });
  await start();
  for (const pattern of ['*.md', '**/*.{md,txt}', 'a..b/*', '{a,b}/*.md'])
    expect(await call('Glob', { pattern, path: join(root, 'docs') }), pattern).toBe('allowed');
  for (const pattern of ['/etc/*', '../src/*', '..', '~/*', '{/etc,b}/*', '*/../../src/*', 'x/{..,a}/*', '/'])
    expect(await call('Glob', { pattern, path: join(root, 'docs') }), pattern).toMatch(/Next: /);
  const many = async (include: string) => {
    const tool = {
      hook_event_name: 'BeforeTool',
      tool_name: 'read_many_files',
      tool_input: { include: [include] },
    };
    return (await raw('gemini', { session_id: 's', cwd: root, ...tool })).decision ?? 'allowed';
  };
  expect(await many('docs/*.md')).toBe('allowed');
  for (const include of [`${base}/st*/keys.json`, `${base}/**`, `${state}/*`, '/**/keys.json', '../s?ate/*'])
    expect(await many(include), include).toBe('deny');
});

test('a path under two names is judged by both', async () => {
  const { raw, start, root } = openHookBed();
  await start();
  const write = async (tool_input: Record<string, string>) => {
    const tool = { hook_event_name: 'BeforeTool', tool_name: 'write_file', tool_input };
    return (await raw('gemini', { session_id: 's', cwd: root, ...tool })).decision ?? 'allowed';
  };
  expect(await write({ file_path: 'docs/a.md' })).toBe('allowed');
  expect(await write({ file_path: 'docs/a.md', path: 'docs/a.md' })).toBe('allowed');
  expect(await write({ file_path: 'docs/a.md', path: 'src/a.ts' })).toBe('deny');
  expect(await write({ file_path: 'src/a.ts', absolute_path: 'docs/a.md' })).toBe('deny');
});

test("a command's own folder decides which program a relative name is [adv.B5]", async () => {
  const { raw, root, base } = openHookBed();
  mkdirSync(join(root, 'docs/bin'), { recursive: true });
  writeFileSync(join(root, 'docs/bin/phasegate'), '#!/bin/sh\n', { mode: 0o755 });
  const shell = async (dir_path?: string, directory?: string) => {
    const tool_input = {
      command: `./bin/phasegate --project ${root} list`,
      ...(dir_path === undefined ? {} : { dir_path }),
      ...(directory === undefined ? {} : { directory }),
    };
    const tool = { hook_event_name: 'BeforeTool', tool_name: 'run_shell_command', tool_input };
    return (await raw('gemini', { session_id: 's', cwd: base, ...tool })).decision ?? 'allowed';
  };
  expect(await shell()).toBe('allowed');
  expect(await shell(join(root, 'docs'))).toBe('deny');
  // Of two that differ nobody knows in which it is run.
  expect(await shell(base, base)).toBe('allowed');
  expect(await shell(base, join(root, 'docs'))).toBe('deny');
});

test('a file that an own command would read is judged as reading it [adv.C3]', async () => {
  const { call, start, state, root, base } = openHookBed({ plan: { writes: ['docs/**'] } });
  writeFileSync(join(state, 'keys.json'), '{}');
  const run = await start();
  const shell = (command: string) => call('Bash', { command });
  for (const words of [
    `done ${run} --phase PLAN --evidence ${state}/keys.json`,
    `--evidence=${state}/keys.json done ${run}`,
    `done --evidence ../state/keys.json`,
    `ask ${run} ${state}/keys.json`,
    `ask ${join(root, 'agent_workflow.yaml')}`,
  ])
    expect(await shell(`phasegate ${words}`), words).toContain('is closed');
  expect(await shell(`phasegate done ${run} --evidence ${base}/plan.json`)).toBe('allowed');
  expect(await shell(`echo '{}' | phasegate done ${run} --evidence -`)).toBe('allowed');
});

test('an own command reads nothing in a phase that may read nothing, but for what its shell reads', async () => {
  const closed = openHookBed({ plan: { allowedTools: ['write_files'] } });
  await closed.start();
  const command = 'phasegate done --evidence docs/plan.json';
  expect(await closed.call('Bash', { command })).toContain('read_files');
  const open = openHookBed({ plan: { allowedTools: ['bash'] } });
  await open.start();
  expect(await open.call('Bash', { command })).toBe('allowed');
  expect(await open.call('Bash', { command: `phasegate done --evidence ${open.state}/x` })).toContain(
    'is closed',
  );
});

test('a call with a path too long, or with too many, is refused before anyone looks at them [adv.O3]', async () => {
  const looked: string[] = [];
  const workspaceOf = (path: string) => {
    looked.push(path);
    return path.startsWith('/') ? null : path;
  };
  const { call, raw, start, root } = openHookBed({ settings: { workspaceOf } });
  await start();
  expect(await call('Read', { file_path: `/${'a/'.repeat(3000)}x` })).toContain('longer than 4096 bytes');
  const files = Array.from({ length: 501 }, (_, at) => `*** Add File: /none/${at}\n+x\n`).join('');
  const command = `*** Begin Patch\n${files}*** End Patch\n`;
  const patch = { hook_event_name: 'PreToolUse', tool_name: 'apply_patch', tool_input: { command } };
  const answer = await raw('codex', { session_id: 's', cwd: root, turn_id: 't', tool_use_id: 'c', ...patch });
  expect(JSON.stringify(answer)).toContain('more than 500 files');
  expect(looked.filter((path) => path !== root)).toEqual([]);
});

test('a skill, whose commands its client runs without asking, is judged as the shell as a whole', async () => {
  const input = { skill: 'log', args: 'x; touch src/evil.js' };
  const closed = openHookBed();
  expect(await closed.call('Skill', input)).toContain('without a run');
  await closed.start();
  for (const tool of ['Skill', 'SlashCommand'])
    expect(await closed.call(tool, input)).toContain('`bash` is not allowed');
  const some = openHookBed({
    plan: { allowedTools: ['bash'], toolConstraints: { bash: { allowed: ['npm **'] } } },
  });
  await some.start();
  expect(await some.call('Skill', input)).toContain('which commands a skill runs is not known');
  const all = openHookBed({ plan: { allowedTools: ['bash'] } });
  await all.start();
  expect(await all.call('Skill', input)).toBe('allowed');
});

test('a line of PowerShell is never read as one of bash [adv.B4]', async () => {
  const hidden = 'phasegate next "a\\"; Set-Content src/evil.ts pwned; echo \\""';
  const closed = openHookBed();
  await closed.start();
  expect(await closed.call('Bash', { command: hidden })).toBe('allowed');
  expect(await closed.call('PowerShell', { command: hidden })).toContain('`bash` is not allowed');
  expect(await closed.call('PowerShell', { command: 'phasegate next' })).toContain('`bash` is not allowed');
  const some = openHookBed({
    plan: { allowedTools: ['bash'], toolConstraints: { bash: { allowed: ['npm **'] } } },
  });
  await some.start();
  expect(await some.call('Bash', { command: 'npm test' })).toBe('allowed');
  expect(await some.call('PowerShell', { command: 'npm test' })).toContain('a line of PowerShell');
  expect(await some.call('PowerShell', { command: 'phasegate trust work' })).toContain('is for a human');
  const all = openHookBed({ plan: { allowedTools: ['bash'] } });
  await all.start();
  expect(await all.call('PowerShell', { command: 'npm test' })).toBe('allowed');
});

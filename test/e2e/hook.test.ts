import { join } from 'node:path';
import { own } from '@phasegate/core';
import { expect, test } from 'vitest';
import { asProcess, makeProject, phasegate } from './cli.ts';

const WORKFLOW = `workflow: w
phases:
  PLAN: { instructions: Plan it., allowed_tools: [read_files, write_files], writes: [docs/**] }
  CODE: { instructions: Code it., allowed_tools: [write_files], writes: [src/**], next: null }
`;
const PASSPHRASE = 'correct horse battery';

test('a client is answered on stdout with exit code 0, and what cannot be answered ends with 2 [adv.E4]', async () => {
  const project = makeProject({ 'phasegate.config.json': '{}\n', 'w.workflow.yaml': WORKFLOW });
  const hook = (file: string, words = ['hook', 'claude']) =>
    asProcess(project, words, {
      stdin: JSON.stringify({
        session_id: 's1',
        cwd: project.root,
        hook_event_name: 'PreToolUse',
        tool_name: 'Write',
        tool_input: { file_path: join(project.root, file), content: 'x' },
        tool_use_id: `toolu_${file}`,
      }),
    });
  const reason = (json: object) => String(own(own(json, 'hookSpecificOutput'), 'permissionDecisionReason'));

  const before = await hook('src/a.ts');
  expect(before).toMatchObject({ code: 0, stderr: '' });
  expect(reason(before.json)).toContain('without a run only reading is allowed');
  expect((await phasegate(project, ['start', 'w', '--json'])).code).toBe(0);
  expect(reason((await hook('src/b.ts')).json)).toContain('`src/b.ts`');
  expect((await hook('docs/b.md')).stdout).toBe('{}\n');
  const known = { client: 'claude', session: 's1', ring: 'served' };
  const seen = await phasegate(project, ['status', '--json']);
  expect(seen.json).toMatchObject({ sessions: [{ ...known, run: seen.json.run }] });
  expect((await phasegate(project, ['status'])).stdout).toContain(
    'session claude s1: ring served, last heard',
  );
  expect((await phasegate(project, ['doctor'])).stdout).toMatch(/session claude s1 .*run run-.*ring served/);
  const unknown = await hook('src/c.ts', ['hook', 'teletype']);
  expect(unknown).toMatchObject({ code: 2, stdout: '' });
  expect(unknown.stderr).toContain('`teletype` is not a client');
});

test('in a phase with git and without bash, a line of the shell is a git command that the tool would take too', async () => {
  const workflow = 'workflow: w\nphases: { LOOK: { allowed_tools: [read_files, git] } }\n';
  const project = makeProject({ 'phasegate.config.json': '{}\n', 'w.workflow.yaml': workflow });
  await phasegate(project, ['start', 'w', '--json']);
  const said = async (command: string) => {
    const event = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command } };
    const stdin = JSON.stringify({ session_id: 's1', cwd: project.root, tool_use_id: command, ...event });
    return (await asProcess(project, ['hook', 'claude'], { stdin })).stdout;
  };

  for (const line of ['git status --short', 'git log --oneline -3']) expect(await said(line)).toBe('{}\n');
  for (const line of [
    "git -c alias.x='!id' x",
    'git config core.fsmonitor ./evil',
    'git log --output=planted',
    'git rebase --exec ./evil main',
  ])
    expect(await said(line), line).toContain('"deny"');
});

test('a human pauses with a passphrase, for a time and with a reason, and ends it', async () => {
  const project = makeProject({ 'phasegate.config.json': '{}\n', 'w.workflow.yaml': WORKFLOW });
  const run = String((await phasegate(project, ['start', 'w', '--json'])).json.run);
  const passphrase = PASSPHRASE;
  expect((await phasegate(project, ['pause', '--reason', 'by hand'])).code).toBe(2);
  await phasegate(project, ['humans', 'add', 'maria'], { newPassphrase: passphrase });
  expect((await phasegate(project, ['pause'], { passphrase })).code).toBe(2);
  expect((await phasegate(project, ['pause', '--for', '2d', '--reason', 'x'], { passphrase })).code).toBe(2);
  const begun = await phasegate(project, ['pause', '--for', '30m', '--reason', 'by hand', '--json'], {
    passphrase,
  });
  expect(begun.json).toMatchObject({ paused: { by: 'maria', reason: 'by hand' } });
  const shown = await phasegate(project, ['status', run, '--json']);
  expect(shown.json).toMatchObject({ paused: { reason: 'by hand' } });
  await phasegate(project, ['stop', run, '--reason', 'enough'], { passphrase });
  // A pause is about sessions without a run, so it is told where there is none.
  const none = await phasegate(project, ['status']);
  expect(none.code).toBe(2);
  expect(none.stderr).toMatch(/no run is under way[\s\S]*paused until .* by maria: by hand/);
  const { from, until } = begun.json.paused as { readonly from: string; readonly until: string };
  expect((await phasegate(project, ['doctor'])).stdout).toMatch(
    new RegExp(`pause +.*from ${from} until ${until}, by maria: by hand`),
  );
  const ended = await phasegate(project, ['pause', '--end', '--json'], { passphrase });
  expect(ended.json).toEqual({ ended: true });
  expect((await phasegate(project, ['doctor'])).stdout).not.toMatch(/^\S+ +pause /m);
  const events = (await phasegate(project, ['audit', 'export'], { passphrase })).stdout;
  expect(events).toContain('pause_began');
  expect(events).toContain('pause_ended');
});

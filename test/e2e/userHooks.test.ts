import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { hookProgramOf } from '../../packages/phasegate/src/settings/installSettings.ts';
import { FULL } from '../tier.ts';
import { asProcess, makeProject, phasegate, startRun, TESTED, type TestProject } from './cli.ts';

const LAB =
  'workflow: lab\nphases: { A: { allowed_tools: [read_files, write_files], writes: ["src/**"] } }\n';
const FILES = { ...TESTED, 'lab.workflow.yaml': LAB, 'src/deep/a.js': '\n' };
const one = makeProject(FILES);
/** Another project of the same user. */
const two: TestProject = (() => {
  const made = makeProject(FILES);
  const stateDir = join(one.env.XDG_STATE_HOME ?? '', 'phasegate', made.stateDir.split('/').at(-1) ?? '');
  return { ...made, env: one.env, stateDir };
})();
const settings = join(one.base, '.claude/settings.json');
const OWN = `${JSON.stringify({ model: 'mine', hooks: { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] } })}\n`;

afterAll(async () => {
  for (const project of [one, two]) await asProcess(project, ['down']);
});

test('`init --user` holds a client that is started below the project, says nothing elsewhere, and is taken back', async () => {
  mkdirSync(join(one.base, '.claude'));
  writeFileSync(settings, OWN);
  const first = await ok(one, ['init', '--yes', '--client', 'claude', '--user']);
  expect(JSON.stringify(first.clients)).toContain('~/.claude/settings.json');
  // Runs of other projects wait for their human, and here is how.
  const waiting = 'phasegate fence RUN accept ~/.claude/settings.json --reason TEXT';
  expect(String(first.warnings)).toContain(waiting);
  const written = readFileSync(settings, 'utf8');
  const again = await ok(one, ['init', '--yes', '--client', 'claude', '--user']);
  expect(String(again.warnings)).not.toContain(waiting);
  expect(readFileSync(settings, 'utf8')).toBe(written);
  expect(JSON.parse(written)).toMatchObject({ model: 'mine', hooks: { Stop: { length: 2 } } });

  const below = join(one.root, 'src/deep');
  expect(write(below)).toContain('without a run');
  expect(write(one.base, { CLAUDE_PROJECT_DIR: below })).toContain('is outside the workspace');
  expect(write(one.base, { CLAUDE_PROJECT_DIR: join(below, 'gone') })).toContain('is outside the workspace');
  expect(write(one.base)).toBe('allowed');
  expect(write(`${two.root}/src`)).toBe('allowed');
  expect(spawnSync(program(), { cwd: one.base, input: 'x'.repeat(3_000_000) }).status).toBe(0);

  // A project that is set up later is added, for a user who wanted it.
  await ok(two, ['init', '--yes', '--client', 'claude']);
  expect(write(`${two.root}/src`)).toContain('without a run');
  expect((await doctor(one))?.message).toContain('started in this folder or one below it');
  rmSync(settings);
  expect((await doctor(one))?.message).toContain('`~/.claude/settings.json` is gone');
  writeFileSync(settings, written);

  await ok(one, ['uninit', '--yes']);
  expect([write(below), write(`${two.root}/src`)]).toEqual([
    'allowed',
    expect.stringContaining('without a run'),
  ]);
  expect(readFileSync(settings, 'utf8')).toBe(written);
  const taken = program();
  const last = await ok(two, ['uninit', '--yes']);
  expect(String(last.warnings)).toContain(waiting);
  expect(readFileSync(settings, 'utf8')).toBe(OWN);
  expect(existsSync(taken)).toBe(false);
});

test.runIf(FULL)(
  'a client that runs both hooks is told once, and what it does is judged twice the same',
  async () => {
    const project = makeProject(FILES);
    await ok(project, ['init', '--yes', '--client', 'claude', '--user']);
    await startRun(project, 'lab');
    const handlers = [
      hookProgramOf(project.stateDir, 'claude'),
      (JSON.parse(readFileSync(join(project.base, '.claude/settings.json'), 'utf8')) as Settings).hooks
        .Stop[0]?.hooks[0]?.command ?? '',
    ];
    const both = (event: object) =>
      handlers.map((file) => {
        const input = JSON.stringify({ session_id: 's', cwd: project.root, ...event });
        return JSON.parse(spawnSync(file, { cwd: project.root, input, encoding: 'utf8' }).stdout) as object;
      });
    const stopped = { hook_event_name: 'Stop' };
    const forbidden = {
      hook_event_name: 'PreToolUse',
      tool_name: 'Write',
      tool_input: { file_path: join(project.root, 'x'), content: '' },
      tool_use_id: 'toolu_1',
    };

    expect(both({ hook_event_name: 'SessionStart', source: 'startup' })[1]).toEqual({});
    // Counted once: counted twice, the run would need a human before the last of them.
    for (let time = 0; time < 8; time += 1) {
      const [first, second] = both(stopped);
      expect(first).toMatchObject({ decision: 'block' });
      expect(second).toEqual(first);
    }
    const [told, again] = both(forbidden);
    expect(JSON.stringify(told)).toContain('may not write `x`');
    expect(again).toEqual(told);
    await asProcess(project, ['down']);
  },
);

interface Settings {
  readonly hooks: Readonly<
    Record<'Stop', readonly { readonly hooks: readonly { readonly command: string }[] }[]>
  >;
}

async function ok(project: TestProject, words: readonly string[]) {
  const called = await asProcess(project, [...words, '--json']);
  expect(called.code, called.stderr).toBe(0);
  return called.json;
}

async function doctor(project: TestProject) {
  const { checks } = (await phasegate(project, ['doctor', '--json'])).json;
  return (checks as { name: string; message: string }[]).find(({ name }) => name === 'hooks claude');
}

function program(): string {
  const found = /"command": "([^"]*phasegate-hooks[^"]*)"/.exec(readFileSync(settings, 'utf8'))?.[1];
  if (found === undefined) throw new Error('no hook in the settings of the user');
  return found;
}

let calls = 0;

/** What the user's hook says of a write in a folder. */
function write(cwd: string, env: Readonly<Record<string, string>> = {}): string {
  calls += 1;
  const input = JSON.stringify({
    session_id: 's1',
    cwd,
    hook_event_name: 'PreToolUse',
    tool_name: 'Write',
    tool_input: { file_path: join(cwd, 'b.js'), content: '' },
    tool_use_id: `toolu_${calls}`,
  });
  const { stdout, stderr } = spawnSync(program(), { cwd, input, env, encoding: 'utf8' });
  if (stdout === '') throw new Error(stderr);
  if (stdout === '{}\n') return 'allowed';
  return stdout;
}

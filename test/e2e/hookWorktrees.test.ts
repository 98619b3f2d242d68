import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { hookProgramOf } from '../../packages/phasegate/src/settings/installSettings.ts';
import { FULL } from '../tier.ts';
import { asProcess, makeProject, TESTED } from './cli.ts';

const LAB =
  'workflow: lab\nphases: { A: { allowed_tools: [read_files, write_files], writes: ["src/**"] } }\n';
const project = makeProject({ ...TESTED, 'lab.workflow.yaml': LAB, 'src/a.js': '\n' });
const { root } = project;

afterAll(() => asProcess(project, ['down']));

test.runIf(FULL)(
  'hooks hold a run in its own worktree, by that run, and sessions elsewhere by none of it [adv.C5]',
  async () => {
    await ok(['init', '--yes', '--client', 'claude']);
    git(root, 'init', '--quiet');
    commit(root);
    const run = String((await ok(['start', 'lab', '--worktree'])).run);
    const worktree = join(dirname(root), 'project.worktrees', run);
    // The worktree is the first to need the server, which is the project's all the same.
    await ok(['up'], worktree);

    expect(write('w', worktree, 'src/b.js')).toBe('allowed');
    expect(write('w', join(worktree, 'src'), 'c.js')).toBe('allowed');
    expect(write('w', worktree, 'other.js')).toContain('may not write `other.js`');
    expect(write('w', worktree, join(root, 'src/a.js'))).toContain('is outside the workspace');
    expect(write('w', worktree, '.claude/settings.json')).not.toBe('allowed');
    expect(ask('w', worktree, { hook_event_name: 'Stop' })).toMatchObject({ decision: 'block' });

    expect(write('m', root, 'src/a.js')).toContain('without a run');
    expect(write('m', root, join(worktree, 'src/b.js'))).toContain('is outside the workspace');
    expect(write('named', root, join(worktree, 'src/d.js'), run)).toBe('allowed');
    expect(write('named', root, 'src/a.js')).toContain('is outside the workspace');

    const planted = join(dirname(root), 'planted');
    mkdirSync(planted);
    writeFileSync(join(planted, '.git'), readFileSync(join(worktree, '.git')));
    expect(write('p', planted, 'src/b.js')).toContain('is outside the workspace');

    const own = String((await ok(['start', 'lab'])).run);
    expect(own).not.toBe(run);
    expect(write('m', root, 'src/a.js')).toBe('allowed');
    expect(write('m', root, join(worktree, 'src/b.js'))).toContain('is outside the workspace');
    expect(write('w', worktree, 'src/e.js')).toBe('allowed');
  },
);

async function ok(words: readonly string[], cwd = root) {
  const called = await asProcess(project, [...words, '--json'], { cwd });
  expect(called.code, called.stderr).toBe(0);
  return called.json;
}

function git(cwd: string, ...words: readonly string[]): void {
  const as = ['-c', 'user.name=ada', '-c', 'user.email=ada@example.com', '-c', 'init.defaultBranch=main'];
  execFileSync('git', [...as, ...words], { cwd });
}

function commit(cwd: string): void {
  git(cwd, 'add', '--all');
  git(cwd, 'commit', '--quiet', '--message', 'work');
}

let calls = 0;

function write(session: string, cwd: string, path: string, run = ''): string {
  calls += 1;
  const answer = ask(
    session,
    cwd,
    {
      hook_event_name: 'PreToolUse',
      tool_name: 'Write',
      tool_input: { file_path: join(path.startsWith('/') ? '' : cwd, path), content: '' },
      tool_use_id: `toolu_${calls}`,
    },
    run,
  );
  const { permissionDecisionReason: reason } = (answer.hookSpecificOutput ?? {}) as Record<string, string>;
  return reason ?? (JSON.stringify(answer) === '{}' ? 'allowed' : JSON.stringify(answer));
}

/** What the program that the settings name says, started as a client starts it. */
function ask(session: string, cwd: string, event: object, run = ''): Record<string, unknown> {
  const input = JSON.stringify({ session_id: session, cwd, ...event });
  const { stdout, stderr } = spawnSync(hookProgramOf(project.stateDir, 'claude'), {
    cwd,
    input,
    env: { PHASEGATE_RUN: run },
    encoding: 'utf8',
  });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as Record<string, unknown>;
}

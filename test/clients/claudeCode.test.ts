import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeProject, PROGRAM, phasegate, TESTED, type TestProject, withShown } from '../e2e/cli.ts';
import { scriptModel } from './scriptedModel.ts';

/** The program of a real Claude Code: `npm run test:clients` installs it and names it. */
const CLAUDE = process.env.PHASEGATE_CLAUDE;
const SECRET = { passphrase: 'open sesame' };
const GOAL = 'add a subtract function';
const PLAN = {
  plan: {
    summary: 'subtract two numbers',
    scope: ['src/subtract.js', 'test/subtract.test.js'],
    acceptance_criteria: [{ id: 'AC-1', text: 'it subtracts' }],
  },
};

test.runIf(CLAUDE !== undefined)(
  'Claude Code, attached by the `.mcp.json` that `init` wrote, completes the first phase up to the human',
  async () => {
    const project = withCommand();
    await phasegate(project, ['init', '--name', 'maria'], SECRET);
    const written = readFileSync(join(project.root, '.mcp.json'), 'utf8');
    const run = (text: string) => ({ session_id: /run-\w+/.exec(text)?.[0] ?? '' });
    const tool = (name: string) => `mcp__phasegate__${name}`;
    let id = '';
    const model = await scriptModel([
      () => ({ tool: tool('start_workflow'), input: { workflow_type: 'tdd', goal: GOAL } }),
      (last) => {
        id = run(last).session_id;
        return { tool: tool('get_task'), input: { session_id: id, phase: 'PLAN', task_number: 1 } };
      },
      () => ({ tool: tool('get_task'), input: { session_id: id, phase: 'PLAN', task_number: 2 } }),
      // It tries to skip first, as agents do.
      () => ({ tool: tool('complete_phase'), input: { session_id: id, phase: 'IMPL', evidence: {} } }),
      () => ({ tool: tool('complete_phase'), input: { session_id: id, phase: 'PLAN', evidence: PLAN } }),
      () => ({ text: 'the plan waits for you' }),
    ]);
    onTestFinished(() => model.close());

    const { code, said } = await claude(project, model.url, `Start the workflow tdd: ${GOAL}`);

    expect(code, said).toBe(0);
    expect([...model.tools].filter((name) => name.startsWith('mcp__phasegate__'))).toHaveLength(11);
    expect(model.results[3]).toContain('phase_sequence_violation');
    expect((await phasegate(project, ['status', id, '--json'])).json).toMatchObject({
      status: 'waiting',
      phase: 'PLAN',
      goal: GOAL,
    });
    const decided = await phasegate(
      project,
      await withShown(project, ['decide', id, '--option', 'Approve']),
      SECRET,
    );
    expect(decided.code, decided.stderr).toBe(0);
    expect((await phasegate(project, ['status', id, '--json'])).json).toMatchObject({ phase: 'TDD' });
    expect(readFileSync(join(project.root, '.mcp.json'), 'utf8')).toBe(written);
  },
);

/** A project on a machine where the command is installed. */
function withCommand(): TestProject {
  const project = makeProject(TESTED);
  const bin = join(project.base, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'phasegate'), `#!/bin/sh\nexec ${process.execPath} ${PROGRAM} "$@"\n`);
  chmodSync(join(bin, 'phasegate'), 0o755);
  return { ...project, env: { ...project.env, PATH: `${bin}:${project.env.PATH}` } };
}

/** Asks the real client, which is told nothing of Phasegate but what is in the folder. */
function claude(project: TestProject, url: string, prompt: string) {
  // Nobody is there to allow a tool, so those of Phasegate are allowed beforehand.
  const words = ['-p', prompt, '--permission-mode', 'dontAsk', '--allowedTools=mcp__phasegate'];
  const child = spawn(CLAUDE ?? '', words, {
    cwd: project.root,
    env: {
      ...project.env,
      TMPDIR: project.base,
      LANG: 'C.UTF-8',
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'of-nobody',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      ENABLE_TOOL_SEARCH: 'false',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  return new Promise<{ readonly code: number | null; readonly said: string }>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, said }));
  });
}

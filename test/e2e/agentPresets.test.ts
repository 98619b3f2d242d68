import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { someOf } from '../tier.ts';
import { asProcess, makeProject, PROGRAM, phasegate, startRun, type TestProject } from './cli.ts';

const WORKFLOW =
  'workflow: errand\nphases: { GO: { instructions: Go there. }, BACK: { instructions: Come. } }\n';

/** Stands in for a client: notes what it was started with, then reports by the program that serves its tools. */
const CLIENT = `#!${process.execPath}
const { readFileSync, writeFileSync } = require('node:fs');
const { spawnSync } = require('node:child_process');
const words = process.argv.slice(2);
const at = words.indexOf('--mcp-config');
const mcp = at < 0 ? null : JSON.parse(readFileSync(words[at + 1], 'utf8'));
const prompt = readFileSync(0, 'utf8');
const { OPENCODE_CONFIG_CONTENT, GEMINI_CLI_TRUST_WORKSPACE } = process.env;
const told = { words, mcp, prompt, OPENCODE_CONFIG_CONTENT, GEMINI_CLI_TRUST_WORKSPACE };
writeFileSync(process.env.PHASEGATE_PROJECT + '/../' + process.env.PHASEGATE_STEP + '.json', JSON.stringify(told));
const [program, script] = [process.execPath, process.env.TEST_PROGRAM];
const { PHASEGATE_RUN: run } = process.env;
spawnSync(program, [script, 'done', run, '--project', process.env.PHASEGATE_PROJECT, '--evidence', '-'], { input: '{}' });
`;

describe('an agent by its name', () => {
  const KNOWN: readonly (readonly [string, string[]])[] = [
    ['claude', ['-p', '--permission-mode', 'dontAsk', '--strict-mcp-config']],
    ['codex', ['exec', '--dangerously-bypass-approvals-and-sandbox', '-']],
    ['gemini', ['--approval-mode', 'yolo']],
    ['opencode', ['run']],
  ];
  test.each(someOf(KNOWN, { quick: 1, full: KNOWN.length }))(
    '%s is started with its flags and the prompt, for every phase to the end',
    async (name, flags) => {
      const project = withClient(name);

      const driven = await asProcess(project, ['run', 'errand', 'fetch the milk', '--agent', name, '--json']);

      expect(driven.json).toMatchObject({ outcome: 'completed' });
      for (const phase of ['GO', 'BACK']) {
        const told = JSON.parse(readFileSync(join(project.base, `${phase}.json`), 'utf8'));
        expect(told.words).toEqual(expect.arrayContaining(flags));
        expect(told.prompt).toContain(`# Phase \`${phase}\``);
        expect(told.prompt).toContain(
          'Goal, given when the run was started (not signed by a human):\n> fetch the milk',
        );
        const tools = JSON.stringify([told.words, told.mcp, told.OPENCODE_CONFIG_CONTENT]);
        if (name === 'gemini') expect(told.GEMINI_CLI_TRUST_WORKSPACE).toBe('true');
        else expect(tools).toMatch(/phasegate\.js.*mcp.*--run.*run-/);
      }
    },
  );

  test('that is not installed starts nothing: what is missing and what to do is said in one sentence', async () => {
    const project = withClient('codex');
    for (const [words, missing] of [
      [['run', 'errand', '--agent', 'claude'], 'install Claude Code with `npm install -g'],
      [['agent', 'start', '--agent', 'gemini'], 'install Gemini CLI with `npm install -g'],
      [['run', 'errand', '--agent', 'no-such-agent --fast'], 'the agent `no-such-agent` is not installed'],
      [['run', 'errand', '--agent', './no/agent'], 'the agent `./no/agent` is not installed'],
      [['agent', 'start', '--', 'no-such-agent'], 'the agent `no-such-agent` is not installed'],
    ] as const) {
      const refused = await asProcess(
        { ...project, env: { ...project.env, PATH: join(project.base, 'bin') } },
        words,
      );
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain(missing);
      expect(refused.stderr.trim().split('\n').length).toBeLessThanOrEqual(2);
    }
    expect((await phasegate(project, ['runs', '--json'])).json).toEqual({ runs: [] });
  });

  test('has no terminal, and excludes a command', async () => {
    const project = withClient('claude');
    const run = await startRun(project, 'errand');
    for (const [words, why] of [
      [['run', run, '--agent', 'claude', '--adapter', 'tmux'], 'gets its prompt on standard input'],
      [['agent', 'start', '--agent', 'claude', '--', 'node'], 'exclude each other'],
      [['agent', 'start', '--agent', 'claudia'], 'known are claude, codex, gemini, opencode'],
    ] as const) {
      const refused = await asProcess(project, words);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(why)]);
    }
  });
});

function withClient(name: string): TestProject {
  const project = makeProject({ 'agent_workflow.yaml': WORKFLOW });
  const bin = join(project.base, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, name), CLIENT, { mode: 0o755 });
  const env = { ...project.env, PATH: `${bin}:${project.env.PATH ?? ''}`, TEST_PROGRAM: PROGRAM };
  return { ...project, env };
}

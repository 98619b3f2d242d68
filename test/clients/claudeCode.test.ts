import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CLIENTS } from '../../packages/phasegate/src/clients/kinds/index.ts';
import { phasegate, startRun, withShown } from '../e2e/cli.ts';
import { attach } from './attach.ts';
import { CLIENT_MS, isThere, log, machineWith, play } from './realClient.ts';
import { tddProject } from './tddRun.ts';

const SECRET = { passphrase: 'open sesame' };
const GOAL = 'add a subtract function';
const PLAN = {
  plan: {
    summary: 'subtract two numbers',
    scope: ['src/subtract.js', 'test/subtract.test.js'],
    acceptance_criteria: [{ id: 'AC-1', text: 'it subtracts' }],
  },
};

test.runIf(isThere('claude'))(
  'Claude Code, attached by the `.mcp.json` that `init` wrote, completes the first phase up to the human',
  async () => {
    const project = machineWith();
    await phasegate(project, ['init', '--name', 'maria'], SECRET);
    const written = readFileSync(join(project.root, '.mcp.json'), 'utf8');
    const call = (tool: string, input: object) => ({
      calls: [CLIENTS.claude.words.mcp('phasegate', tool, { session_id: id, ...input })],
    });
    let id = '';

    const { end, model, results } = await play('claude', project, {
      prompt: `Start the workflow tdd: ${GOAL}`,
      script: {
        turns: [
          () => call('start_workflow', { session_id: undefined, workflow_type: 'tdd', goal: GOAL }),
          ({ results: [started] }) => {
            id = /run-\w+/.exec(started?.text ?? '')?.[0] ?? '';
            return call('get_task', { phase: 'PLAN', task_number: 1 });
          },
          () => call('get_task', { phase: 'PLAN', task_number: 2 }),
          // It tries to skip first, as agents do.
          () => call('complete_phase', { phase: 'IMPL', evidence: {} }),
          () => call('complete_phase', { phase: 'PLAN', evidence: PLAN }),
          { text: 'the plan waits for you' },
        ],
      },
    });

    expect(end.code, end.stdout + end.stderr).toBe(0);
    const offered = model.exchanges[0]?.tools ?? [];
    expect(offered.filter((name) => name.startsWith('mcp__phasegate__'))).toHaveLength(11);
    expect(results[3]).toContain('phase_sequence_violation');
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
  CLIENT_MS,
);

test.runIf(isThere('claude')).each([[false], [true]])(
  'a skill that runs commands, with the words of the agent in them, writes source in PLAN only without hooks: %s',
  async (isHeld) => {
    const project = await tddProject();
    const skill =
      '---\nname: log\ndescription: the log\nallowed-tools: Bash\n---\n\nThe log: !`echo $ARGUMENTS`\n';
    project.write('.claude/skills/log/SKILL.md', skill);
    if (isHeld) await attach(project, 'claude');
    await startRun(project, 'tdd');

    const call = { tool: 'Skill', input: { skill: 'log', args: 'x; touch src/evil.js' } };
    const session = await play('claude', project, {
      script: { turns: [{ calls: [call] }, { text: 'done' }] },
    });

    expect(existsSync(join(project.root, 'src/evil.js')), log(session)).toBe(!isHeld);
    if (isHeld) expect(session.results[0]).toMatch(/\[phasegate\].*Next: /s);
  },
  CLIENT_MS,
);

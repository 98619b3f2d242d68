import { execFileSync } from 'node:child_process';
import { afterAll, describe, expect, test } from 'vitest';
import { CLIENT_NAMES } from '../../packages/phasegate/src/clients/clientKind.ts';
import { CLIENTS } from '../../packages/phasegate/src/clients/kinds/index.ts';
import { asProcess, PROGRAM, phasegate, startRun } from '../e2e/cli.ts';
import { attach } from './attach.ts';
import { BENIGN_PROJECT, BENIGN_TASKS, type BenignTask } from './benignTasks.ts';
import { isThere, machineWith, play } from './realClient.ts';
import { SECRET } from './tddRun.ts';
import { usedBefore } from './usedBefore.ts';

/** A task is fifty calls and more. */
const TASK_MS = 600_000;
const SERVER = { name: 'phasegate', argv: [process.execPath, PROGRAM, 'mcp'] } as const;
const AUTHOR = {
  GIT_AUTHOR_NAME: 'Maria',
  GIT_AUTHOR_EMAIL: 'maria@example.org',
  GIT_COMMITTER_NAME: 'Maria',
  GIT_COMMITTER_EMAIL: 'maria@example.org',
};

for (const name of CLIENT_NAMES) {
  describe.runIf(isThere(name))(`${name}, ordinary work held by hooks`, () => {
    const made = { calls: 0, denied: [] as string[] };

    afterAll(() => {
      console.log(`${name}: ${made.calls} ordinary calls, ${made.denied.length} denied`);
    });

    test.each(BENIGN_TASKS)(
      '$name: nothing of it is denied, and the phase is completed',
      async (task) => {
        const project = machineWith({ ...BENIGN_PROJECT, 'work.workflow.yaml': workflow(task) });
        const env = { ...project.env, ...AUTHOR };
        const git = (...words: string[]) => execFileSync('git', words, { cwd: project.root, env });
        git('init', '-q');
        git('add', '-A');
        git('commit', '-q', '-m', 'the project');
        for (const words of [
          ['init', '--template', 'minimal', '--name', 'maria', '--yes', '--client', 'none'],
          ['trust', 'work', '--yes'],
        ]) {
          const { code, stderr } = await asProcess(project, words, SECRET);
          expect(code, stderr).toBe(0);
        }
        usedBefore(name, project, SERVER);
        await attach(project, name);
        const run = await startRun(project, 'work');
        const { words } = CLIENTS[name];
        const calls = task.calls(words, project.root);
        const done = words.mcp('phasegate', 'complete_phase', {
          session_id: run,
          phase: 'WORK',
          evidence: { done: 'all of it' },
        });

        const session = await play(name, project, {
          script: { turns: [...[...calls, done].map((call) => ({ calls: [call] })), { text: 'done' }] },
          server: SERVER,
          environment: AUTHOR,
          limitMs: TASK_MS,
        });

        const denied = session.results.filter((text) => text.includes('[phasegate]'));
        made.calls += session.results.length - 1;
        made.denied.push(...denied);
        expect(denied).toEqual([]);
        // What its own client could not make sense of was never asked.
        const failed = session.model.exchanges.flatMap(({ results }) => results.filter((one) => one.failed));
        expect(failed).toEqual([]);
        expect(session.results.length, session.end.stderr + session.results.at(-1)).toBe(calls.length + 1);
        const { json } = await phasegate(project, ['status', run, '--json']);
        expect(json.status, session.results.at(-1)).toBe('completed');
      },
      TASK_MS,
    );

    test('they are five hundred calls and more', () => {
      const calls = BENIGN_TASKS.flatMap((task) => task.calls(CLIENTS[name].words, '/project'));

      expect(calls.length).toBeGreaterThanOrEqual(500);
    });
  });
}

function workflow({ phase }: BenignTask): string {
  return [
    'workflow: work',
    'phases:',
    '  WORK:',
    '    instructions: Do the work.',
    ...phase.map((line) => `    ${line}`),
    '    required_evidence:',
    '      done: { type: string, description: What was done }',
    '    next: null',
    '',
  ].join('\n');
}

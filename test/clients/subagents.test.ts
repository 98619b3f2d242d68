import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CLIENT_NAMES } from '../../packages/phasegate/src/clients/clientKind.ts';
import { CLIENTS } from '../../packages/phasegate/src/clients/kinds/index.ts';
import type { Step } from '../../packages/phasegate/src/clients/script.ts';
import { asProcess, phasegate, startRun, TESTED } from '../e2e/cli.ts';
import { attach } from './attach.ts';
import { CLIENT_MS, isThere, log, machineWith, play } from './realClient.ts';
import { SECRET } from './tddRun.ts';

const PART = 'A-PART-OF-THE-WORK';
const WORKFLOW = `workflow: look
phases:
  LOOK:
    instructions: Look, with as many agents as you like. Change nothing.
    allowed_tools: [read_files, spawn_agent]
    writes: []
    next: null
`;

describe.each(CLIENT_NAMES)('%s, in a phase that allows subagents and no changes', (name) => {
  const { words } = CLIENTS[name];

  test.runIf(isThere(name))(
    'starts one, which may do what its session may and nothing else',
    async () => {
      const project = machineWith({
        ...TESTED,
        'look.workflow.yaml': WORKFLOW,
        'src/a.js': 'what is there\n',
      });
      for (const line of [
        ['init', '--template', 'minimal', '--name', 'maria', '--yes', '--client', 'none'],
        ['trust', 'look', '--yes'],
      ]) {
        const { code, stderr } = await asProcess(project, line, SECRET);
        expect(code, stderr).toBe(0);
      }
      await attach(project, name);
      const run = await startRun(project, 'look');
      const file = join(project.root, 'src/escaped.js');
      const call = words.subagent(`${PART}: look at src/a.js`);
      if (call === null) throw new Error('it has no subagents');
      const { join: wait } = words;
      const waiting: readonly Step[] =
        wait === undefined ? [] : [({ results }) => ({ calls: [wait(results[0]?.text ?? '')] })];

      const session = await play(name, project, {
        script: {
          turns: [{ calls: [call] }, ...waiting, { text: 'that is all' }],
          threads: [
            {
              name: 'subagent',
              opening: PART,
              turns: [
                { calls: [words.read(join(project.root, 'src/a.js'))] },
                { calls: [words.write(file, 'escaped\n')] },
                { text: 'looked' },
              ],
            },
          ],
        },
      });

      const told = session.model.exchanges
        .filter(({ thread }) => thread === 'subagent')
        .flatMap(({ results }) => results.map(({ text }) => text));
      expect(told[0], log(session)).toContain('what is there');
      expect(told[1], log(session)).toMatch(/\[phasegate\] .*`LOOK`.*Next: /s);
      expect(existsSync(file), log(session)).toBe(false);
      const audit = await phasegate(project, ['audit', 'export', '--run', run]);
      expect(audit.stdout).toMatch(/"tool_judged","data":\{"allowed":true[^\n]*spawn_agent/);
    },
    CLIENT_MS,
  );
});

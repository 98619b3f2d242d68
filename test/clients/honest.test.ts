import { describe, expect, test } from 'vitest';
import { CLIENT_NAMES } from '../../packages/phasegate/src/clients/clientKind.ts';
import { CLIENTS } from '../../packages/phasegate/src/clients/kinds/index.ts';
import { PROGRAM } from '../e2e/cli.ts';
import { attach } from './attach.ts';
import { CLIENT_MS, isThere, play } from './realClient.ts';
import { TddAgent, tddProject } from './tddRun.ts';

describe.each(CLIENT_NAMES)('%s', (name) => {
  test.runIf(isThere(name))(
    'an honest agent completes the whole of examples/tdd, held by the hooks that `init` wrote',
    async () => {
      const project = await tddProject();
      await attach(project, name);
      const agent = new TddAgent(CLIENTS[name], project);

      const { end, results } = await play(name, project, {
        script: agent.honest(),
        server: { name: 'phasegate', argv: [process.execPath, PROGRAM, 'mcp'] },
      });

      expect(await agent.status(), results.join('\n---\n') + end.stderr).toMatchObject({
        status: 'completed',
        completed_phases: ['PLAN', 'TDD', 'IMPL', 'REVIEW', 'COMPLETE'],
      });
    },
    CLIENT_MS,
  );
});

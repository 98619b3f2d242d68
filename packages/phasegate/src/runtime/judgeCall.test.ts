import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createDatabases } from '../database/index.ts';
import { TOOLS } from '../tools/index.ts';
import { openMemoryProject } from './fixtures/openMemoryProject.ts';
import { ADA, codeOf } from './fixtures/workingRun.ts';

test('a refused call is judged once: what changes right after does not let it through [adv.Q2]', async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'phasegate-judge-')));
  const newId = () => 'db-1';
  const databases = createDatabases({ root, stateDir: root, now: Date.now, newId, busyMs: 1000 });
  let asked = 0;
  const { project, store } = openMemoryProject(
    {
      id: 'work',
      phases: [
        { id: 'ONE', name: 'One', instructions: '', allowedTools: ['write_files'], writes: ['data/**'] },
      ],
    },
    {
      parts: {
        workspace: root,
        tools: async () => TOOLS,
        // Protected when it is first asked, and not any more right after.
        databases: { ...databases, protection: async () => () => asked++ === 0 },
      },
    },
  );
  const started = await project
    .as({ kind: 'human', name: 'operator' })
    .start({ workflow: 'work', queue: true });
  const run = String(started.view?.run);
  const { token } = await project.claims.claimRun(run, ADA, []);
  const admitted = await project.claims.admit(token);

  const [done] = await project.toolbox.execute(admitted, [
    { tool: 'write_files', input: { path: 'data/a.db', content: '' } },
  ]);

  expect(codeOf(done)).not.toBe('allowed');
  expect(done?.result).toBeNull();
  const records = await store.history(run, { after: 0, limit: 1000 });
  expect(records.filter(({ event }) => event === 'tool_judged')).toHaveLength(1);
});

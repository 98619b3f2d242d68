import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tamper } from '../../packages/postgres/src/fixtures/nodes.ts';
import { freshSchema } from '../postgres/sharedServer.ts';
import { FULL } from '../tier.ts';
import { startIn, tokenOf, twoNodes } from './twoNodes.ts';

const ERRAND = 'workflow: errand\nphases: { GO: { allowed_tools: [read_files, bash] }, RETURN: {} }\n';

test.runIf(FULL)(
  'a node that ends while its database takes nothing ends its programs all the same, and says why',
  async () => {
    const database = await freshSchema();
    const { project, env, one, key } = await twoNodes(ERRAND, database);
    await startIn(project, env);
    const token = await tokenOf(one, key, ['/api/v1/tasks/claim', { agent_id: 'ada' }]);
    const began = join(project.base, 'began');
    const command = `echo $$ > ${began}.half; mv ${began}.half ${began}; exec sleep 600`;
    const body = { calls: [{ tool: 'bash', input: { command } }] };
    const call = one.send('POST', '/api/v1/tools/execute', { bearer: token, body }).catch(() => null);
    await expect.poll(() => existsSync(began)).toBe(true);
    const pid = Number(readFileSync(began, 'utf8'));
    await tamper(database, 'ALTER TABLE heads RENAME TO gone');

    one.kill('SIGTERM');
    const ended = await one.ended;
    await call;

    expect(ended).toMatchObject({ code: 1, signal: null });
    await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
  },
);

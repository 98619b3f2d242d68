import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tamper } from '../../packages/postgres/src/fixtures/nodes.ts';
import { atEndOfFile } from '../atEndOfFile.ts';
import { startServer } from '../postgres/startServer.ts';
import { FULL } from '../tier.ts';
import { phasegate } from './cli.ts';
import { startIn, tokenOf, twoNodes } from './twoNodes.ts';

const ERRAND = 'workflow: errand\nphases: { GO: { allowed_tools: [bash] }, RETURN: {} }\n';

test.runIf(FULL)(
  'a call that ends while the database is away is in nobody’s way when it is back, at any node, and is on record',
  async () => {
    const server = await startServer();
    atEndOfFile(() => server.remove());
    const { project, env, one, two, key } = await twoNodes(ERRAND, server.url());
    await startIn(project, env);
    const token = await tokenOf(one, key, ['/api/v1/tasks/claim', { agent_id: 'ada' }]);
    const [began, sign] = [join(project.base, 'began'), join(project.base, 'sign')];
    const command = `touch ${began}; until [ -e ${sign} ]; do sleep 0.05; done; echo hi`;
    const body = { tool: 'bash', input: { command } };
    const call = one.send('POST', '/api/v1/tools/execute', { bearer: token, body });
    await expect.poll(() => existsSync(began), { timeout: 20_000 }).toBe(true);

    await server.kill();
    writeFileSync(sign, '');
    const uncertain = { uncertain: true, hint: expect.stringContaining('before you repeat it') };
    expect(await call).toMatchObject({ status: 503, body: { error: 'store_unavailable', ...uncertain } });
    await server.start();

    const ready = async () => (await two.send('GET', '/readyz')).status;
    await expect.poll(ready, { timeout: 20_000 }).toBe(200);
    const moved = { bearer: token, body: { artifacts: {} } };
    expect(await two.send('POST', '/api/v1/tasks/transition', moved)).toMatchObject({
      status: 200,
      body: { phase: 'RETURN' },
    });
    const told = await tamper(
      server.url(),
      "SELECT event FROM audit WHERE event IN ('tool_executed', 'phase_completed') ORDER BY seq",
    );
    expect(told).toEqual([{ event: 'tool_executed' }, { event: 'phase_completed' }]);
    expect((await phasegate(project, ['audit', 'verify', '--json'], { env })).json).toMatchObject({
      ok: true,
    });
  },
  120_000,
);

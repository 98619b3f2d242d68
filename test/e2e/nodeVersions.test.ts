import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freshSchema } from '../postgres/sharedServer.ts';
import { FULL } from '../tier.ts';
import { asProcess, makeProject } from './cli.ts';
import { newerBuild } from './newerBuild.ts';
import { type Served, serve } from './server.ts';
import { measuresOf, shareKeys, startIn, tokenOf } from './twoNodes.ts';

const ERRAND = 'workflow: errand\nphases: { GO: { allowed_tools: [read_files] }, RETURN: {} }\n';

test.runIf(FULL)(
  'a node goes on beside one of a newer version on the same database, both right, and is refused when it is started again',
  async () => {
    const newer = newerBuild();
    const project = makeProject({ 'agent_workflow.yaml': ERRAND });
    const env = {
      PHASEGATE_DATABASE: await freshSchema(),
      PHASEGATE_MEASURES: measuresOf(project),
    };
    const key = String((await asProcess(project, ['agents', 'add', 'ada', '--json'], { env })).json.key);
    const elsewhere = { ...env, XDG_STATE_HOME: join(project.base, 'state-of-the-other') };
    const other = project.stateDir.replace(String(project.env.XDG_STATE_HOME), elsewhere.XDG_STATE_HOME);
    shareKeys(project, { stateDir: other });
    const old = await serve(project, [], env);
    await startIn(project, env);
    expect(newer.call(project, ['--version'], elsewhere).json).toEqual({ printed: newer.version });

    const young = await serve({ ...project, program: newer.program }, [], elsewhere);

    for (const [first, second] of [
      [old, young],
      [young, old],
    ] as const) {
      expect(newer.call(project, ['start', 'errand', '--queue', '--json'], elsewhere).code).toBe(0);
      const token = await tokenOf(first, key, ['/api/v1/tasks/claim', { agent_id: 'ada' }]);
      expect([await checked(first, token), await checked(second, token)]).toEqual([200, 200]);
      const moved = await left(second, token);
      expect(moved).toMatchObject({ status: 200, body: { phase: 'RETURN' } });
      expect([await checked(first, token), await checked(second, token)]).toEqual([403, 403]);
      const ended = await left(first, String(moved.body.phase_token));
      expect(ended).toMatchObject({ status: 200, body: { status: 'completed' } });
    }
    old.kill('SIGTERM');
    expect(await old.ended).toMatchObject({ code: 0 });

    for (const words of [
      ['serve', '--port', '0', '--json'],
      ['runs', '--json'],
    ]) {
      expect(await asProcess(project, words, { env })).toMatchObject({
        code: 1,
        json: {
          error: 'store_newer',
          message: expect.stringMatching(/has format \d+, and this version knows formats up to \d+$/),
          hint: expect.stringContaining('the version of Phasegate that the other nodes have'),
        },
      });
    }
    expect(newer.call(project, ['audit', 'verify', '--json'], elsewhere).json).toMatchObject({ ok: true });
  },
);

async function checked(node: Served, token: string): Promise<number> {
  const body = { tool: 'read_files', input: { path: 'agent_workflow.yaml' } };
  return (await node.send('POST', '/api/v1/tools/check', { bearer: token, body })).status;
}

function left(node: Served, token: string) {
  return node.send('POST', '/api/v1/tasks/transition', { bearer: token, body: { artifacts: {} } });
}

import { connect, type PhasegateClient } from '@phasegate/sdk';
import { expect, test } from 'vitest';
import { phasegate } from '../e2e/cli.ts';
import { FULL } from '../tier.ts';
import { partsOf } from './forge.ts';
import { laySiege, PASSPHRASE, type Siege, until } from './siege.ts';
import { bearer } from './wire.ts';

const WORKERS = 6;
/** More than the refusals one address may cause in a minute: none of them is an attack. */
const HOLDERS = 25;
const PHASES = 400;
const FILES = {
  'agent_workflow.yaml': `workflow: walk\nphases:\n${Array.from(
    { length: PHASES },
    (_, n) => `  P${n}: { allowed_tools: [read_files] }\n`,
  ).join('')}`,
  'brief.md': 'Walk.\n',
};
const READ = { tool: 'read_files', input: { path: 'brief.md' } };

test.runIf(FULL)(
  'secrets are rotated while agents work: once throws nobody out, and twice is made good by the SDK [S2.36 S2.39 S2.92]',
  async () => {
    const siege = await laySiege({ files: FILES, human: true });
    const holders = await Promise.all(
      Array.from({ length: HOLDERS }, (_, n) => agentWith(siege, `holder${n}`)),
    );
    const oldest = holders[0]?.token ?? '';
    const workers = await Promise.all(
      Array.from({ length: WORKERS }, (_, n) => agentWith(siege, `worker${n}`)),
    );
    const first = kidOf(oldest);
    const walk = walking(workers);
    const check = async (token: string) =>
      (
        await siege.send({
          method: 'POST',
          path: '/api/v1/tools/check',
          headers: [bearer(token)],
          body: READ,
        })
      ).status;
    await until('everybody walks', () => workers.every(({ steps }) => steps > 2));

    const second = await rotate(siege);
    await until('everybody has a token of the new secret', () =>
      workers.every(({ token }) => kidOf(token) === second),
    );

    expect(await check(oldest)).toBe(200);
    expect(await refusals(siege)).toEqual([]);
    const late = await agentWith(siege, 'late');
    expect(kidOf(late.token)).toBe(second);

    const third = await rotate(siege);
    await until('everybody has a token of the newest', () =>
      workers.every(({ token }) => kidOf(token) === third),
    );

    expect(await check(late.token)).toBe(200);
    expect(await refusals(siege)).toEqual([]);
    expect(await check(oldest)).toBe(401);
    await walk.end();
    expect(first).not.toBe(second);
    expect(await Promise.all(holders.map(({ client }) => client.checkTool(READ.tool, READ.input)))).toEqual(
      holders.map(() => ({ allowed: true })),
    );
    expect(await refusals(siege)).toContain('unknown_key');
    await siege.expectUnharmed([oldest, late.token, ...workers.map(({ token }) => token)]);
  },
);

interface Walker {
  readonly client: PhasegateClient;
  token: string;
  steps: number;
}

/** An agent with a run of its own. */
async function agentWith(siege: Siege, name: string): Promise<Walker> {
  const client = connect({ url: siege.server.url, key: await siege.agent(name) });
  await siege.queue('walk');
  const claim = await client.claimTask(name);
  if (claim === null) throw new Error('nothing was queued');
  return { client, token: claim.phase_token, steps: 0 };
}

/** Lets agents use a tool and move on, again and again, until they are told to end; the first fault is thrown then. */
function walking(workers: readonly Walker[]): { end(): Promise<void> } {
  let ended = false;
  const walked = Promise.all(
    workers.map(async (worker) => {
      while (!ended) {
        await worker.client.checkTool(READ.tool, READ.input);
        const moved = await worker.client.requestTransition(undefined, {});
        if (!('phase_token' in moved) || moved.phase_token === undefined)
          throw new Error('the walk was too short');
        worker.token = moved.phase_token;
        worker.steps += 1;
      }
    }),
  );
  walked.catch(() => undefined);
  return {
    async end() {
      ended = true;
      await walked;
    },
  };
}

async function rotate({ project }: Siege): Promise<string> {
  const rotated = await phasegate(project, ['tokens', 'rotate', '--json'], { passphrase: PASSPHRASE });
  expect(rotated).toMatchObject({ code: 0, json: { rotated: true } });
  return String(rotated.json.kid);
}

/** What was wrong with every credential that was refused. */
async function refusals(siege: Siege): Promise<readonly unknown[]> {
  const found = (await siege.records()).filter(({ event }) =>
    /^(credential_failed|token_refused)$/.test(event),
  );
  return found.map(({ data }) => (data as { readonly fault?: unknown }).fault);
}

function kidOf(token: string): unknown {
  return partsOf(token).header.kid;
}

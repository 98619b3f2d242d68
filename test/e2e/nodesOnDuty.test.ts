import { join } from 'node:path';
import type { Store } from '@phasegate/core/ports';
import { sampleDraft } from '@phasegate/core/store-contract';
import { describe, expect, test, vi } from 'vitest';
import { keepAnchors } from '../../packages/phasegate/src/anchoring/keepAnchors.ts';
import { openNode, tamper } from '../../packages/postgres/src/fixtures/nodes.ts';
import { endSessionOnDuty, lastWordOnDuty } from '../../packages/postgres/src/fixtures/sessionOnDuty.ts';
import { testSeal } from '../../packages/postgres/src/fixtures/testSeal.ts';
import { freePort } from '../freePort.ts';
import { freshSchema } from '../postgres/sharedServer.ts';
import { FULL } from '../tier.ts';
import { makeProject, phasegate, type TestProject } from './cli.ts';
import { addWebhook, cursorIn, delivering, PATIENT, type Receiver, receiver } from './deliveringNodes.ts';
import { type Served, serve } from './server.ts';
import { measuresOf, shareKeys, startIn, tokenOf } from './twoNodes.ts';

const ERRAND = 'workflow: errand\nphases: { GO: { allowed_tools: [read_files] } }\n';
const LONG = { timeout: 60_000 };

describe('nodes that share a database', () => {
  test('tell a receiver everything once: one delivers, another when that one is cut off, and nothing goes back', async () => {
    const url = await freshSchema();
    const seal = testSeal();
    const nodes = [await openNode(url, seal, PATIENT), await openNode(url, seal, PATIENT)] as const;
    const told = await receiver();
    await addWebhook(nodes[0], told.url);
    const [one, other] = [delivering(nodes[0]), delivering(nodes[1])];
    const happen = async (count: number) => {
      for (let index = 0; index < count; index += 1) await nodes[1].note(null, [sampleDraft('run_stuck')]);
    };

    const round = async () => {
      await one.deliver();
      await other.deliver();
      await Promise.all([one.settled(), other.settled()]);
    };
    /** Cuts off the node that delivers while its receiver has not answered, and waits until the next one may deliver. */
    const cutOff = async (next: Store) => {
      expect(await endSessionOnDuty(url)).toBe(1);
      await vi.waitFor(async () => expect(await next.duty?.isMine()).toBe(true), LONG);
    };
    await happen(2);
    await round();
    expect(told.told).toEqual([1, 2]);

    // It counts that a record was taken, but the next one is not this node's to send.
    let answer = told.hang();
    await happen(3);
    await one.deliver();
    await expect.poll(() => told.told).toEqual([1, 2, 3]);
    await cutOff(nodes[1]);
    answer();
    await one.settled();
    expect(told.told).toEqual([1, 2, 3]);
    expect(await cursorIn(url)).toBe(3);
    await round();
    expect(told.told).toEqual([1, 2, 3, 4, 5]);

    // What is under way when another takes over is told twice, and what comes after it once.
    answer = told.hang();
    await happen(2);
    await other.deliver();
    await expect.poll(() => told.told.length).toBe(6);
    await cutOff(nodes[0]);
    await one.deliver();
    await expect.poll(() => told.told.length).toBe(7);
    answer();
    await Promise.all([one.settled(), other.settled()]);
    await round();

    expect(told.told).toEqual([1, 2, 3, 4, 5, 6, 6, 7]);
    expect([one.errors, other.errors]).toEqual([[], []]);
    expect(await cursorIn(url)).toBe(7);
  });

  test('leave a receiver that one of them does not reach to another', async () => {
    const url = await freshSchema();
    const seal = testSeal();
    const nodes = [await openNode(url, seal, PATIENT), await openNode(url, seal, PATIENT)] as const;
    const port = await freePort();
    await addWebhook(nodes[0], `http://127.0.0.1:${port}/away`);
    await nodes[0].note(null, [sampleDraft('run_stuck')]);
    let time = Date.now();
    const [one, other] = nodes.map((node) => delivering(node, () => time));
    const isMine = () => Promise.all(nodes.map((node) => node.duty?.isMine()));
    const round = async () => {
      await one?.deliver();
      await one?.settled();
      await other?.deliver();
      await other?.settled();
      time += 60_000;
    };

    await round();
    // Once may be by chance.
    expect(await isMine()).toEqual([true, false]);
    await round();
    const [webhook] = await nodes[0].webhooks();
    expect(webhook).toMatchObject({ cursor: 0, failures: 2 });
    const told = await receiver(port);
    await round();

    expect(await isMine()).toEqual([false, true]);
    expect(told.told).toEqual([1]);
    expect(await cursorIn(url)).toBe(1);
  });
});

test('an anchor of one node is not answered by others with their own, for ever', async () => {
  const url = await freshSchema();
  const seal = testSeal();
  const stores = [await openNode(url, seal, PATIENT), await openNode(url, seal, PATIENT)] as const;
  expect(await stores[0].duty?.isMine()).toBe(true);
  let made = 0;
  const [one, other] = stores.map((store) => {
    const note = async () => void (await store.note(null, [sampleDraft('audit_anchored')]));
    const isOnDuty = async () => (await store.duty?.isMine()) === true;
    const project = {
      feed: { newest: store.feedEnd },
      server: { note, isOnDuty, giveUpDuty: () => undefined },
      verifyAudit: store.verify,
    };
    const make = async () => {
      made += 1;
      await note();
      return { report: await store.verify({ anchor: true }), given: [], failed: [] };
    };
    return keepAnchors({ everyMs: 3_600_000, project, make, log: () => undefined });
  });

  await one?.look();
  for (let round = 0; round < 3; round += 1) {
    await other?.look();
    await one?.look();
  }
  expect(made).toBe(1);
  await stores[0].close();
  await other?.look();

  expect(made).toBe(2);
  await Promise.all([one?.stop(), other?.stop()]);
});

describe.runIf(FULL)('three servers on one database', () => {
  test('tell a receiver every event once, in order, while nothing fails', async () => {
    const { told, judge, database } = await threeServers();
    for (let index = 0; index < 60; index += 1) await judge(index);
    const all = await judgedIn(database);
    await expect.poll(() => told.told.length, LONG).toBe(all.length);
    // Another one would have delivered by now: each looks once a second.
    const word = await lastWordOnDuty(database);
    await expect.poll(() => lastWordOnDuty(database), LONG).not.toBe(word);

    expect(told.told).toEqual(all);
    expect(all.length).toBe(60);
  });

  test('tell everything when the one that delivers is killed in the middle, and nothing but its last twice', async () => {
    const { servers, told, judge, database } = await threeServers();
    for (let index = 0; index < 10; index += 1) await judge(index);
    await expect.poll(() => told.told.length, LONG).toBe(10);
    const answer = told.hang();
    for (let index = 0; index < 30; index += 1) await judge(index);
    await expect.poll(() => told.told.length, LONG).toBe(11);
    servers[0].kill('SIGKILL');
    await servers[0].ended;
    answer();
    for (let index = 0; index < 30; index += 1) await judge(1 + (index % 2));

    await everythingTold(database, told);
    expect(told.told).toHaveLength(71);
  });

  test('tell everything when the one that delivers is ended in order', async () => {
    const { servers, told, judge, database } = await threeServers();
    for (let index = 0; index < 60; index += 1) {
      await judge(index < 20 ? index : 1);
      if (index === 20) servers[0].kill('SIGTERM');
    }
    expect(await servers[0].ended).toMatchObject({ code: 0 });
    await everythingTold(database, told);
  });

  test('tell everything when the one that delivers is paused in the middle of it and woken after another went on', async () => {
    const { servers, told, judge, database } = await threeServers();
    await judge(1);
    await expect.poll(() => told.told.length, LONG).toBe(1);
    const answer = told.hang();
    await judge(1);
    await expect.poll(() => told.told.length, LONG).toBe(2);
    servers[0].kill('SIGSTOP');
    answer();
    for (let index = 0; index < 20; index += 1) await judge(1);
    const all = await judgedIn(database);
    // The database ends the session of the paused one, and another goes on from where it was.
    await expect.poll(() => told.told.length, LONG).toBe(all.length + 1);
    servers[0].kill('SIGCONT');
    for (let index = 0; index < 20; index += 1) await judge(index);

    await everythingTold(database, told);
    expect(await servers[0].send('GET', '/readyz')).toMatchObject({ status: 200 });
  });
});

/** All that was judged was told, at most one record twice, and the webhook is where the last one is. */
async function everythingTold(database: string, { told }: Receiver): Promise<void> {
  const all = await judgedIn(database);
  await expect.poll(() => new Set(told).size, LONG).toBe(all.length);
  await expect.poll(() => cursorIn(database), LONG).toBe(all.at(-1));
  expect([...new Set(told)]).toEqual(all);
  expect(told.length - all.length).toBeLessThanOrEqual(1);
}

/** The ids of what webhooks here ask for. */
async function judgedIn(database: string): Promise<readonly number[]> {
  const rows = await tamper(
    database,
    "SELECT place AS id FROM audit WHERE event = 'tool_judged' ORDER BY place",
  );
  return (rows as { id: number }[]).map(({ id }) => id);
}

/** Three real servers with a webhook that is told of every tool that is judged; the first is the one that delivers. */
async function threeServers() {
  const database = await freshSchema();
  const project = makeProject({ 'agent_workflow.yaml': ERRAND });
  const env = { PHASEGATE_DATABASE: database, PHASEGATE_MEASURES: measuresOf(project) };
  const told = await receiver();
  await phasegate(project, ['webhooks', 'add', told.url, '--event', 'tool_judged'], { env });
  const added = await phasegate(project, ['agents', 'add', 'ada', '--json'], { env });
  await startIn(project, env);
  const first = await serve(project, [], env);
  await expect.poll(() => lastWordOnDuty(database), LONG).not.toBeNull();
  const servers = [first, await another(project, env, 2), await another(project, env, 3)] as const;
  const claim: [string, object] = ['/api/v1/tasks/claim', { agent_id: 'ada' }];
  const token = await tokenOf(servers[1], String(added.json.key), claim);
  const judge = (at: number) => check(servers[at % 3] as Served, token);
  return { database, servers, told, judge };
}

function another(
  project: TestProject,
  env: Readonly<Record<string, string>>,
  number: number,
): Promise<Served> {
  const home = join(project.base, `state-${number}`);
  shareKeys(project, { stateDir: project.stateDir.replace(String(project.env.XDG_STATE_HOME), home) });
  return serve(project, [], { ...env, XDG_STATE_HOME: home });
}

async function check(node: Served, token: string): Promise<void> {
  const body = { tool: 'read_files', input: { path: 'agent_workflow.yaml' } };
  const { status } = await node.send('POST', '/api/v1/tools/check', { bearer: token, body });
  if (status !== 200) throw new Error(`a check was answered with ${status}`);
}

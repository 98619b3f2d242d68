import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '@phasegate/core/ports';
import { sampleDraft } from '@phasegate/core/store-contract';
import { expect, test } from 'vitest';
import { keepAnchors } from '../../packages/phasegate/src/anchoring/keepAnchors.ts';
import { openNode } from '../../packages/postgres/src/fixtures/nodes.ts';
import { lastWordOnDuty } from '../../packages/postgres/src/fixtures/sessionOnDuty.ts';
import { testSeal } from '../../packages/postgres/src/fixtures/testSeal.ts';
import { freshSchema } from '../postgres/sharedServer.ts';
import { makeProject, phasegate } from './cli.ts';
import { addWebhook, cursorIn, type Delivering, delivering, PATIENT, receiver } from './deliveringNodes.ts';
import { serveHere } from './serveHere.ts';
import { measuresOf, shareKeys, startIn } from './twoNodes.ts';

const ERRAND = 'workflow: errand\nphases: { GO: { allowed_tools: [read_files] } }\n';
const LONG = { timeout: 60_000 };

test.each(['webhooks', 'feed'] as const)(
  'a node leaves the webhooks to another where the question for the %s is not answered',
  async (question) => {
    const url = await freshSchema();
    const seal = testSeal();
    const nodes = [await openNode(url, seal, PATIENT), await openNode(url, seal, PATIENT)] as const;
    const told = await receiver();
    await addWebhook(nodes[0], told.url);
    await nodes[0].note(null, [sampleDraft('run_stuck')]);
    expect(await nodes[0].duty?.isMine()).toBe(true);
    const one = delivering({ ...nodes[0], [question]: fails });
    const other = delivering(nodes[1]);

    for (let round = 0; round < 2; round += 1) await onceEach(one, other);

    expect(told.told).toEqual([1]);
    expect(await nodes[1].duty?.isMine()).toBe(true);
    expect(one.errors).toHaveLength(1);
  },
);

test('nodes tell once each what none of them can write down, though they leave it to each other', async () => {
  const url = await freshSchema();
  const seal = testSeal();
  const brief = { duty: { ...PATIENT.duty, away: 0 } };
  const nodes = [await openNode(url, seal, brief), await openNode(url, seal, brief)] as const;
  const told = await receiver();
  await addWebhook(nodes[0], told.url);
  await nodes[0].note(null, [sampleDraft('run_stuck')]);
  let [time, isFull] = [Date.now(), true];
  const [one, other] = nodes.map((node) => {
    const putProgress: Store['putProgress'] = (...all) => (isFull ? fails() : node.putProgress(...all));
    return delivering({ ...node, putProgress }, () => time);
  }) as [Delivering, Delivering];

  for (let round = 0; round < 6; round += 1) {
    await onceEach(one, other);
    time += 60_000;
  }
  expect(told.told).toEqual([1, 1]);
  isFull = false;
  await nodes[1].note(null, [sampleDraft('run_stuck')]);
  await onceEach(one, other);

  expect(told.told).toEqual([1, 1, 2]);
  expect(await cursorIn(url)).toBe(2);
});

test('nodes leave a fault that each of them has alone for a while, as other receivers wait meanwhile', async () => {
  const node = await openNode(await freshSchema(), testSeal(), { duty: { ...PATIENT.duty, away: 0 } });
  const told = await receiver();
  await addWebhook(node, told.url);
  let time = Date.now();
  let left = 0;
  const duty = {
    isMine: async () => true,
    async leave() {
      left += 1;
    },
  };
  const one = delivering({ ...node, duty, feed: fails }, () => time);
  const rounds = async (count: number) => {
    for (let round = 0; round < count; round += 1) await onceEach(one);
  };

  await rounds(8);
  expect(left).toBe(1);
  time += 60_000;
  await rounds(8);

  expect(left).toBe(2);
});

test('a node that cannot write the anchors leaves them to another, which makes one of everything', async () => {
  const database = await freshSchema();
  const project = makeProject({
    'agent_workflow.yaml': ERRAND,
    'phasegate.config.json': JSON.stringify({ anchors: { file: '~/anchors.txt' } }),
  });
  const env = { PHASEGATE_DATABASE: database, PHASEGATE_MEASURES: measuresOf(project) };
  await startIn(project, env);
  const withHome = (name: string) => ({ ...project, env: { ...project.env, ...env, HOME: homeOf(name) } });
  const homeOf = (name: string) => join(project.base, name);
  mkdirSync(homeOf('there'));

  const one = await serveHere(withHome('missing'));
  await expect.poll(() => one.stderr(), LONG).toContain('no anchor can be added');
  await expect.poll(() => lastWordOnDuty(database), LONG).toBeNull();
  const two = withHome('there');
  const home = homeOf('state-2');
  shareKeys(project, { stateDir: project.stateDir.replace(String(project.env.XDG_STATE_HOME), home) });
  await serveHere({ ...two, env: { ...two.env, XDG_STATE_HOME: home } });

  const file = join(homeOf('there'), 'anchors.txt');
  await expect.poll(() => existsSync(file), LONG).toBe(true);
  const verified = await phasegate(project, ['audit', 'verify', '--anchor', file], { env });
  expect(verified).toMatchObject({ code: 0 });
});

test('an anchor that no place took is tried again, also when nothing happens', async () => {
  const store = await openNode(await freshSchema(), testSeal(), PATIENT);
  await store.note(null, [sampleDraft('run_stuck')]);
  const server = { note: async () => undefined, isOnDuty: async () => true, giveUpDuty: () => undefined };
  const project = { feed: { newest: store.feedEnd }, server, verifyAudit: store.verify };
  let [made, isFull] = [0, true];
  const make = async () => {
    made += 1;
    const took = isFull ? { given: [], failed: ['no space'] } : { given: ['a file'], failed: [] };
    return { report: await store.verify({ anchor: true }), ...took };
  };
  const { look, stop } = keepAnchors({ everyMs: 3_600_000, project, make, log: () => undefined });

  for (let round = 0; round < 3; round += 1) await look();
  isFull = false;
  for (let round = 0; round < 3; round += 1) await look();
  await stop();

  expect(made).toBe(4);
});

const fails = () => Promise.reject(new Error('it is not answered'));

/** A round of each, as the watches of nodes would do. */
async function onceEach(...nodes: readonly Delivering[]): Promise<void> {
  for (const node of nodes) {
    await node.deliver().catch((error: unknown) => node.errors.push(error));
    await node.settled();
  }
}

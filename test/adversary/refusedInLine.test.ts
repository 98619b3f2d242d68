import { beforeAll, expect, test } from 'vitest';
import { expectStatus, laySiege, type Siege } from './siege.ts';
import { bearer, wireTo } from './wire.ts';

const FILES = {
  'agent_workflow.yaml': 'workflow: errand\nphases: { WORK: { allowed_tools: [read_files] }, DONE: {} }\n',
};
const CONNECTIONS = 64;
const CHECK = '/api/v1/tools/check';
const BODY = JSON.stringify({ tool: 'read_files', input: { path: 'a.md' } });

let siege: Siege;
let honest: string;
let ended: string;

beforeAll(async () => {
  siege = await laySiege({ files: FILES });
  const [ada, mallory] = [await siege.agent('ada'), await siege.agent('mallory')];
  await siege.queue('errand');
  honest = (await siege.claim('ada', ada)).token;
  await siege.queue('errand');
  ended = (await siege.claim('mallory', mallory)).token;
  const left = { method: 'POST', path: '/api/v1/tasks/transition', headers: [bearer(ended)] };
  expectStatus(await siege.send({ ...left, body: '{"artifacts":{}}' }), 200);
});

const SECRETS: Readonly<Record<string, (index: number) => string>> = {
  'a token that has ended': () => ended,
  'tokens that nobody signed': (index) => `${ended.slice(0, -6)}${100_000 + (index % 900_000)}`,
  'guessed keys': (index) => `pgk_guess${index}`,
  'unknown sessions': (index) => `pgs_guess${index}`,
};

test.each(
  Object.entries(SECRETS).flatMap(([name, secretOf]) =>
    [CHECK, '/mcp'].map((path) => [name, path, secretOf] as const),
  ),
)(
  'an agent waits for few of those who send %s to %s on 64 connections in a loop [adv.O5]',
  async (_name, path, secretOf) => {
    const [attack, own] = [wireTo(siege.server.url), wireTo(siege.server.url)];
    let [answers, index, isOver] = [0, 0, false];
    const statuses = new Set<number>();
    const loops = Array.from({ length: CONNECTIONS }, async () => {
      while (!isOver) {
        const headers = [bearer(secretOf(index++))];
        const { status } = await attack({ method: 'POST', path, headers, body: BODY });
        statuses.add(status);
        answers += 1;
      }
    });
    while (answers < CONNECTIONS) await new Promise(setImmediate);

    const before: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const seen = answers;
      expectStatus(await own({ method: 'POST', path: CHECK, headers: [bearer(honest)], body: BODY }), 200);
      before.push(answers - seen);
    }
    isOver = true;
    await Promise.all(loops);

    // Without a line it waits each time for all that stand before it, one of each connection. With one it seldom does, and
    // seems to where this process is so late that it reads many answers at once.
    const [few = CONNECTIONS] = before.toSorted((one, other) => one - other).slice(ROUNDS / 4);
    expect(few).toBeLessThan(CONNECTIONS / 3);
    for (const status of statuses) expect([401, 403, 429]).toContain(status);
  },
);

const ROUNDS = 40;

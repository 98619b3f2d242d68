import { connect } from '@phasegate/sdk';
import { expect, test } from 'vitest';
import type { Caller } from '../parts.ts';
import { boundedText } from './boundReply.ts';
import { openApiBed } from './fixtures/apiBed.ts';

const WORKFLOW = {
  id: 'large',
  phases: [{ id: 'WRITE', instructions: 'Write.' }, { id: 'READ', instructions: 'Read it.' }, { id: 'END' }],
};
const LONG = `"quoted" \n${'x'.repeat(400_000)}`;
const WIDE = Object.fromEntries(Array.from({ length: 20_000 }, (_, key) => [`key-${key}`, key]));

test('no answer to an agent is larger than 100 KB, and the rest can be read in pages [adv.O4]', async () => {
  const bed = openApiBed(WORKFLOW);
  const key = await bed.agent('ada');
  const { run, token } = await bed.claimed(key, 'ada');

  const moved = await bed.post('/tasks/transition', token, { artifacts: { report: LONG, wide: WIDE } });
  const next = String(moved.body.phase_token);
  const answers = [
    moved,
    await bed.get(`/runs/${run}/phase`, next),
    await bed.get(`/runs/${run}`, next),
    await bed.get(`/runs/${run}/phase?phase=END`, next),
    await bed.post('/tasks/token', key, { task_id: run }),
  ];

  expect(moved.status).toBe(200);
  for (const { text } of answers) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(100_000);
  const phase = answers[1]?.body ?? {};
  expect(phase).toMatchObject({ run, phase: 'READ', truncated: true });
  const rest = /^GET (\/api\/v1\/answers\/[^?]+)\?page=1$/.exec(String(phase.rest))?.[1] ?? '';
  let whole = '';
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const { body, text } = await bed.get(`${rest.replace('/api/v1', '')}?page=${page}`, next);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(100_000);
    pages = Number(body.pages);
    whole += String(body.text);
  }
  expect(JSON.parse(whole)).toMatchObject({
    run,
    artifacts_from_previous: { WRITE: { report: LONG, wide: WIDE } },
  });
});

test('what is kept for one agent is no other’s to read [adv.O4]', async () => {
  const bed = openApiBed(WORKFLOW);
  const [ada, bob] = [await bed.agent('ada'), await bed.agent('bob')];
  const { token } = await bed.claimed(ada, 'ada');
  const moved = await bed.post('/tasks/transition', token, { artifacts: { report: LONG } });
  const path = String(moved.body.rest).replace(/^GET \/api\/v1/, '');

  expect((await bed.get(path, bob)).status).toBe(404);
  expect((await bed.get(path.replace('page=1', 'page=999'), ada)).status).toBe(404);
  expect((await bed.get(path, ada)).status).toBe(200);
});

test('a client of the SDK gets an answer whole', async () => {
  const bed = openApiBed(WORKFLOW);
  const key = await bed.agent('ada');
  await bed.project.as({ kind: 'human', name: 'operator' }).start({ workflow: 'large' });
  const fetched: typeof fetch = async (url, init) => bed.app.fetch(new Request(url, init));
  const client = connect({ url: 'http://localhost', key, fetch: fetched });
  await client.claimTask('ada');

  const moved = await client.requestTransition('READ', { report: LONG });

  expect(JSON.stringify(moved)).toContain(JSON.stringify(LONG));
});

test('what is too large for one text is told to the one who asked, and is not a fault of the server', () => {
  const { project } = openApiBed(WORKFLOW);
  const human = { kind: 'human', session: { name: 'maria' } } as unknown as Caller;
  // As the engine of the language says it of a text of 512 MB.
  const toJSON = () => {
    throw new RangeError('Invalid string length');
  };

  expect(() => boundedText({ toJSON }, { caller: human, parts: { project } })).toThrow(
    expect.objectContaining({ code: 'too_large', hint: expect.stringContaining('page by page') }),
  );
});

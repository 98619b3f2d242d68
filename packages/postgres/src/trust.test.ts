import type { Store } from '@phasegate/core/ports';
import { sampleDraft } from '@phasegate/core/store-contract';
import { expect, test } from 'vitest';
import { freshSchema } from '../../../test/postgres/sharedServer.ts';
import { openNode, tamper } from './fixtures/nodes.ts';
import { testSeal } from './fixtures/testSeal.ts';

const seal = testSeal();
const NEWEST = '(SELECT max(number) FROM trusted)';
const OLDEST = '(SELECT min(number) FROM trusted)';

/** What can be done to the rows without the keys. Each would bring the older acceptance back. */
test.each([
  ['was taken away', `DELETE FROM trusted WHERE number = ${NEWEST}`],
  [
    'was given another number',
    `INSERT INTO trusted (number, hash, workflow, data, mac) OVERRIDING SYSTEM VALUE
       SELECT -1, hash, workflow, data, mac FROM trusted WHERE number = ${NEWEST};
     DELETE FROM trusted WHERE number = ${NEWEST}`,
  ],
  ['was given another name', `UPDATE trusted SET workflow = 'x' WHERE number = ${NEWEST}`],
  ['was given another hash', `UPDATE trusted SET hash = 'x' WHERE number = ${NEWEST}`],
  ['was changed', `UPDATE trusted SET data = replace(data, 'h2', 'h3') WHERE number = ${NEWEST}`],
  ['lost its seal', `UPDATE trusted SET mac = '' WHERE number = ${NEWEST}`],
  [
    'has the older one behind it again',
    `INSERT INTO trusted (hash, workflow, data, mac)
       SELECT hash, workflow, data, mac FROM trusted WHERE number = ${OLDEST}`,
  ],
])('an older acceptance does not come back where the newest %s [adv.J1 adv.M1]', async (_, sql) => {
  const url = await freshSchema();
  const node = await openNode(url, seal);
  await accept(node, 'h1');
  await note(node, 3);
  await accept(node, 'h2');
  expect((await node.trustedBefore('w'))?.hash).toBe('h2');
  expect((await node.verify()).ok).toBe(true);

  await tamper(url, sql);

  const other = await openNode(url, seal);
  await expect(other.trustedBefore('w')).rejects.toMatchObject({ code: 'state_tampered' });
  await expect(other.acceptances()).rejects.toMatchObject({ code: 'state_tampered' });
  expect(await other.verify()).toMatchObject({
    ok: false,
    findings: [{ kind: 'state_edited', message: expect.stringMatching(/acceptance of `[wx]`/) }],
  });
  // Nobody believes it, also where it was read before.
  await accept(other, 'h4', 'other');
  await expect(node.trustedBefore('w')).rejects.toMatchObject({ code: 'state_tampered' });
});

test('what one node accepts is what another one reads next, and a new one begins at their mark', async () => {
  const url = await freshSchema();
  const [one, other] = [await openNode(url, seal), await openNode(url, seal)];
  await accept(one, 'h1');
  await note(one, 128);
  for (const hash of ['h2', 'h3']) {
    await accept(one, hash);
    expect((await other.trustedBefore('w'))?.hash).toBe(hash);
    await accept(other, `${hash} of the other`);
    expect((await one.acceptances())[0]?.hash).toBe(`${hash} of the other`);
  }
  // What is written next is written behind the mark.
  await note(other, 1);
  await note(one, 1);
  expect(await tamper(url, 'SELECT kind FROM kept')).toEqual([{ kind: 'trust_mark' }]);

  await tamper(url, "UPDATE audit SET principal = 'human:eve' WHERE run = 0 AND seq = 5");
  expect((await (await openNode(url, seal)).trustedBefore('w'))?.hash).toBe('h3 of the other');
  await tamper(url, 'DELETE FROM kept');
  await expect((await openNode(url, seal)).trustedBefore('w')).rejects.toMatchObject({
    code: 'state_tampered',
  });
});

function accept(store: Store, hash: string, workflow = 'w'): Promise<void> {
  const trust = { hash, workflow, files: { f: hash }, by: 'ada', at: 't', signature: `of ${hash}` };
  return store.putTrust(trust, [sampleDraft('workflow_trusted')]);
}

async function note(store: Store, count: number): Promise<void> {
  const notes = Array.from({ length: count }, (_, place) => sampleDraft('start_refused', { place }));
  expect(await store.note(null, notes)).toBe(true);
}

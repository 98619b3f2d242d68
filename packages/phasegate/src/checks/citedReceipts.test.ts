import { expect, test } from 'vitest';
import type { Receipt, RunRecord } from '../runtime/ports.ts';
import { citedReceipts } from './citedReceipts.ts';
import { checkInput } from './fixtures/checkInput.ts';

const RAN = { run: 'r', phase: 'EACH', epoch: 3, tool: 'bash', ok: true, exit_code: 0, tree: null };
const RECEIPTS: Readonly<Record<string, object>> = {
  adas: { ...RAN, agent: 'ada', item: 'a' },
  'adas for another': { ...RAN, agent: 'ada', item: 'b' },
  'adas for the phase': { ...RAN, agent: 'ada' },
  reading: { ...RAN, agent: 'ada', item: 'a', tool: 'read_files' },
  bobs: { ...RAN, agent: 'bob', item: 'a' },
};

test.each([
  ['its own', { key: 'a', agent: 'ada' }, 'adas', /^1 receipts are on record$/],
  ['its own, of a token for the phase', { key: 'a', agent: 'ada' }, 'adas for the phase', /on record/],
  ['its own of another item', { key: 'a', agent: 'ada' }, 'adas for another', /is of the item `b`/],
  [
    'that of a call that ran nothing',
    { key: 'a', agent: 'ada' },
    'reading',
    /`read_files`, which runs no command/,
  ],
  ['that of another agent', { key: 'a', agent: 'ada' }, 'bobs', /is of the agent `bob`/],
  ['any of the visit, for the whole phase', null, 'bobs', /on record/],
])('an agent cites %s', async (_, item, cited, says) => {
  const record = {
    item,
    epoch: 3,
    state: null,
    receipt: async (id: string) => (RECEIPTS[id] ?? null) as Receipt | null,
  } as unknown as RunRecord;
  const input = checkInput({}, { scope: { result: { commands_executed: [cited] } } });

  expect((await citedReceipts.run({ ...input, record })).reason).toMatch(says);
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commanded, driveBed, play } from './fixtures/driveBed.ts';

test('a second runner of the same agent is told who drives, and does nothing [adv.O7]', async () => {
  const bed = await driveBed([commanded('work', play('waits')), commanded('ship', play('notes', 'shipped'))]);
  const first = bed.drive();
  await expect.poll(() => bed.starts().length, { timeout: 10_000 }).toBe(1);

  await expect(bed.drive()).rejects.toMatchObject({
    code: 'run_driven',
    message: expect.stringMatching(
      new RegExp(
        `^run \`${bed.run}\` is driven already, by process ${process.pid} as agent \`local\` since 2`,
      ),
    ),
    hint: expect.stringContaining('end it first'),
  });

  writeFileSync(join(bed.root, 'done'), '');
  expect(await first).toMatchObject({ outcome: 'completed' });
  expect(bed.starts()).toEqual([
    ['work', 1],
    ['ship', 1],
  ]);
});

test('a runner that waits for a human is the only one that goes on, and its card names no other [adv.O7]', async () => {
  const bed = await driveBed([
    commanded('work', play('ok'), {
      gates: [
        {
          id: 'ship',
          human: { prompt: 'Publish?', options: [{ label: 'Yes' }, { label: 'No', next: null }] },
        },
      ],
    }),
    commanded('publish', play('notes', 'published')),
  ]);
  const waiting = bed.drive({ waitForHuman: true });
  await expect.poll(() => bed.waits().length, { timeout: 10_000 }).toBe(1);
  expect(bed.waits()[0]).toMatchObject({ afterwards: 'this runner goes on by itself' });
  await bed.decide('Yes');

  await bed.drive().catch((error: unknown) => expect(error).toMatchObject({ code: 'run_driven' }));

  expect(await waiting).toMatchObject({ outcome: 'completed' });
  expect(bed.lines('notes')).toEqual(['published']);
});

test('a runner that has ended lets the next one drive', async () => {
  const bed = await driveBed([commanded('work', play('exit', '3'))]);
  await bed.drive();
  await bed.human.submit(bed.run, { kind: 'resume' });

  expect(await bed.drive()).toMatchObject({ outcome: 'escalated' });
});

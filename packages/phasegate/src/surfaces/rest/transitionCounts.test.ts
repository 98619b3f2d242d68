import { describe, expect, onTestFinished, test } from 'vitest';
import { openMemoryProject } from '../../runtime/fixtures/openMemoryProject.ts';
import type { FeedRecord } from '../../runtime/ports.ts';
import { countTurns } from './fixtures/countTurns.ts';
import { ERRAND } from './fixtures/openDoor.ts';
import { createTransitionCounts } from './transitionCounts.ts';

const time = '2026-01-01T00:00:00.000Z';

describe('counting what the audit has', () => {
  test.each([
    ['memory', {}],
    ['SQLite', { sqlite: true }],
  ] as const)('lets others be served between pages of a %s store', async (_, options) => {
    const { counts, write } = await counting(options);
    await write(3_500, { command: 'complete' });
    const turns = countTurns();
    const { refused } = await counts.since();
    const count = turns();

    expect(refused).toBe(3_500);
    expect(count).toBeGreaterThanOrEqual(3);
  });

  test('reads nothing of what agents handed in', async () => {
    const { counts, write, read } = await counting({});
    await write(3, { command: 'complete', evidence: { report: 'x'.repeat(100_000) } });

    expect(await counts.since()).toMatchObject({ refused: 3 });
    expect(read.length).toBe(3);
    expect(JSON.stringify(read).length).toBeLessThan(3_000);
  });
});

async function counting(options: { readonly sqlite?: true }) {
  const { project, store } = openMemoryProject(ERRAND, options);
  onTestFinished(() => project.close());
  const read: FeedRecord[] = [];
  const counts = createTransitionCounts({
    newest: () => project.feed.newest(),
    async after(...asked) {
      const records = await project.feed.after(...asked);
      read.push(...records);
      return records;
    },
  });
  await counts.since();
  const write = (count: number, data: FeedRecord['data']) =>
    store.note(
      null,
      Array.from({ length: count }, () => ({
        time,
        principal: 'agent:ada',
        event: 'command_refused' as const,
        data,
      })),
    );
  return { counts, write, read };
}

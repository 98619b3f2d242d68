import { expect, test } from 'vitest';
import { FULL } from '../tier.ts';
import { faultRun, type NodesSeen } from './faultRun.ts';
import type { Act } from './history.ts';

/** What a node answered while its database was away. */
interface Seen {
  readonly path: string;
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: Readonly<Record<string, unknown>>;
}

test.runIf(FULL).each([
  ['stands still for more than half a minute', 'freeze', 31_000],
  ['goes away for more than a minute', 'stop', 61_000],
] as const)(
  'while the database %s nodes are not ready, give no verdict and say why in bounded time; after it all runs are completed',
  async (_, how, forMs) => {
    const seen: Seen[] = [];
    const away = { from: 0, to: 0 };
    const size = { seed: 1, agents: 12, faults: 0, waiting: 10, longestMs: 600_000, tell: () => undefined };

    const { acts, contradictions, facts, faults } = await faultRun({
      ...size,
      schedule: [{ afterMs: 3_000, fault: { kind: 'restart', how, forMs } }],
      async whileAway(nodes) {
        await nodesAreNotReady(nodes);
        away.from = now();
        // It comes back only when the last look is over.
        while (now() - away.from < forMs) seen.push(...(await look(nodes)));
        away.to = now();
      },
    });

    expect(faults.get('restart')).toBe(1);
    for (const { path, status, retryAfter, body } of seen) {
      expect([path, status]).toEqual([path, 503]);
      if (path === '/readyz') expect(body).toEqual({ status: 'store_unavailable' });
      else {
        expect(body).toMatchObject({
          error: 'store_unavailable',
          message: expect.stringContaining('database'),
        });
        expect(retryAfter).toBe('1');
      }
    }
    expect(new Set(seen.map(({ path }) => path)).size).toBe(2);
    const within = acts.filter(({ from, to }) => from > away.from && to < away.to);
    expect(within.length).toBeGreaterThan(0);
    expect(within.filter(({ answered }) => SAYS_SOMETHING.has(answered.kind))).toEqual([]);
    expect(contradictions).toEqual([]);
    const completed = facts.get('a run is completed once') ?? 0;
    expect(completed).toBeGreaterThanOrEqual(size.waiting);
    expect(acts.some(({ from, answered }) => from > away.to && answered.kind === 'ended')).toBe(true);
    expect(facts.get('every chain verifies')).toBe(1);
    console.log(told({ how, seen, within, completed, seconds: (away.to - away.from) / 1000 }));
  },
);

/** No answer that is about the run may come while nothing can be read or written. */
const SAYS_SOMETHING: ReadonlySet<Act['answered']['kind']> = new Set([
  'started',
  'given',
  'ended',
  'judged',
  'nothing',
]);

/** Longer than a node ever waits for its database. */
const LONGEST_WAIT_MS = 20_000;

async function nodesAreNotReady({ urls }: NodesSeen): Promise<void> {
  for (const url of urls) {
    await expect.poll(async () => (await ask(url, '/readyz', {})).status, { timeout: 20_000 }).toBe(503);
  }
}

/** Asks every node whether it is ready, and for work. An answer that does not come in time throws. */
async function look({ urls, key }: NodesSeen): Promise<readonly Seen[]> {
  const claim = {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ agent_id: 'agent-0' }),
  };
  const asked = urls.flatMap((url) => [ask(url, '/readyz', {}), ask(url, '/api/v1/tasks/claim', claim)]);
  const answered = await Promise.all(asked);
  // Answers come at once where connections are refused; a look at most four times a second is enough.
  await new Promise((resolve) => setTimeout(resolve, 250));
  return answered;
}

async function ask(url: string, path: string, sent: RequestInit): Promise<Seen> {
  const response = await fetch(url + path, { ...sent, signal: AbortSignal.timeout(LONGEST_WAIT_MS) });
  const body = (await response.json()) as Seen['body'];
  return { path, status: response.status, retryAfter: response.headers.get('retry-after'), body };
}

function now(): number {
  return performance.timeOrigin + performance.now();
}

function told(run: {
  readonly how: string;
  readonly seen: readonly Seen[];
  readonly within: readonly Act[];
  readonly completed: number;
  readonly seconds: number;
}): string {
  const { how, seen, within, completed, seconds } = run;
  const ready = seen.filter(({ path }) => path === '/readyz').length;
  return (
    `${how}: looked at for ${seconds.toFixed(0)} s, ${ready} times not ready, ${seen.length - ready} claims refused with ` +
    `503 and Retry-After, ${within.length} questions of agents without a verdict; ${completed} runs completed after it`
  );
}

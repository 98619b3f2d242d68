import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { cases } from '../../test/tier.ts';
import { type Agent, openOffice } from './office.ts';

const RUNS = cases({ quick: 12, full: 200 });
const AGENTS = cases({ quick: 3, full: 20 });
const KILLED = cases({ quick: 1, full: 5 });

const office = await openOffice();
afterAll(() => office.close());

test('many agents share many more runs, some are killed, and every run completes exactly once [S2.1 S2.4 S2.5 S2.66 S2.67 S2.72 S2.87 S2.92 S2.98 C15 adv.K2 adv.D4]', async () => {
  for (let number = 1; number <= RUNS; number++) {
    await office.asHuman('POST', '/runs', {
      workflow: 'change',
      params: { name: `c${number}` },
      queue: true,
    });
  }
  let ended = 0;
  const killed = new Set<number>();
  const agents: Agent[] = [];
  const allEnded = Promise.withResolvers<void>();
  const heardBy = (who: number) => (line: Record<string, unknown>) => {
    if (line.left === 'COMPLETE') ended += 1;
    // Spread over the whole of the work, and in the midst of a run: who holds none leaves nothing to be taken up.
    const isTime = killed.size < KILLED && ended >= ((killed.size + 1) * RUNS) / (KILLED + 2);
    if (isTime && line.left === 'PLAN' && !killed.has(who)) {
      killed.add(who);
      agents[who]?.kill();
    }
    if (ended >= RUNS - KILLED) void settled().then((all) => all && allEnded.resolve());
  };
  /** What agents said may be lost with them; the server knows. */
  const settled = async () => {
    const { runs } = await office.asHuman('GET', '/runs?status=completed&limit=500');
    return (runs as unknown[]).length === RUNS;
  };
  for (let number = 1; number <= AGENTS; number++) {
    agents.push(await office.hire(`agent-${number}`, heardBy(number - 1)));
  }
  const poll = setInterval(() => void settled().then((all) => all && allEnded.resolve()), 500);
  await allEnded.promise;
  clearInterval(poll);
  await Promise.all(agents.map((agent) => agent.dismiss()));

  expect(killed.size).toBe(KILLED);
  const { runs } = (await office.asHuman('GET', '/runs?limit=500')) as {
    runs: { run: string; status: string }[];
  };
  expect(runs).toHaveLength(RUNS);
  let reclaimed = 0;
  for (const { run } of runs) {
    const page = await office.asHuman('GET', `/runs/${run}/events?limit=500`);
    const records = page.events as Line[];
    const left = records.filter(({ event }) => event === 'phase_completed').map(({ data }) => data.phase);
    expect(left).toEqual(['PLAN', 'TDD', 'IMPL', 'REVIEW', 'COMPLETE']);
    const claims = records.filter(({ event }) => event === 'run_claimed').length;
    const releases = records.filter(({ event }) => event === 'run_released').length;
    expect(claims).toBe(releases + 1);
    reclaimed += releases;
    // No tool call without a verdict: what was carried out stands behind an allowed verdict on the same tool.
    const open: string[] = [];
    for (const { event, data } of records) {
      if (event === 'tool_judged' && data.allowed === true) open.push(String(data.tool));
      if (event !== 'tool_executed') continue;
      const index = open.indexOf(String(data.tool));
      expect(index).toBeGreaterThanOrEqual(0);
      open.splice(index, 1);
    }
    expect(records.some(({ event, data }) => event === 'tool_judged' && data.allowed === false)).toBe(true);
  }
  expect(reclaimed).toBeGreaterThan(0);
  for (const folder of ['test', 'src']) expect(readdirSync(join(office.root, folder))).toHaveLength(RUNS);
  expect(await office.phasegate(['audit', 'verify'])).toMatchObject({ ok: true });
}, 240_000);

interface Line {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

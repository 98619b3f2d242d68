/**
 * Transitions and checks a second of one, two and four nodes on one PostgreSQL, beside one node on SQLite, and beside bare
 * `pg` transactions of the same bytes: one commit each, and as many in one commit as nodes put there. Nodes are processes
 * of their own without HTTP; all of them, PostgreSQL (`fsync` on) and the bare client share the cores of this machine.
 * Everything takes its turn in every round, so that a machine that slows down slows all. From what was measured follows
 * what more agents need.
 *
 *   npm run bench:nodes             everything
 *   npm run bench:nodes -- quick    shorter rounds
 *   npm run bench:nodes -- tiny     only to see that it runs
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fold } from '@phasegate/core';
import { openPostgresStore } from '@phasegate/postgres';
import pg from 'pg';
import { createSeal, openKeys } from 'phasegate';
import { startServer } from '../test/postgres/startServer.ts';
import { printCapacity } from './nodes/capacity.ts';
import type { Stretch, Work } from './nodes/contender.ts';
import { printProfile } from './nodes/profile.ts';
import { type Measured, type Member, startMember, together } from './nodes/team.ts';
import { folder, median, print, ratio } from './transitions/measure.ts';
import { samplePayloads, textOf } from './transitions/workload.ts';

const tiny = process.argv.includes('tiny');
const quick = process.argv.includes('quick');
const ROUNDS = tiny ? 1 : 3;
const SECONDS = tiny ? 0.1 : quick ? 1 : 2;
const AGENTS = tiny ? 4 : 32;
const AIM = 0.6;
const BARE = 'bare pg, a commit each';
const BATCHED = 'bare pg, all in one commit';

const at = folder();
// On a disk, as what is measured waits for one; only to see that it runs, wherever the tests have theirs.
const server = await startServer(['fsync=on'], tiny ? undefined : at);
const members: Member[] = [];
try {
  await measure();
} finally {
  for (const member of members) await member.tell('end').catch(() => undefined);
  await server.remove();
  rmSync(at, { recursive: true, force: true });
}

async function measure(): Promise<void> {
  for (const place of ['nodes/transitions', 'sqlite/transitions'])
    mkdirSync(join(at, place), { recursive: true });
  const nodes: Member[] = [];
  for (let index = 0; index < 4; index++) {
    nodes.push(await enlist('node', [join(at, 'nodes'), `team${index}`, server.url()]));
  }
  const sqlite = await enlist('node', [join(at, 'sqlite'), 'team']);
  const transitions = (await samplePayloads()).map(({ state, record }) => ({
    state: asText(state),
    record: asText(record),
  }));
  const check = await sampleCheck(nodes[0] as Member);
  const bare = await enlist('bare', [server.url(), JSON.stringify({ transitions, check })]);
  const bytes = transitions.reduce((sum, { state, record }) => sum + state.length + record.length, 0);
  print(
    `a transition writes ${Math.round(bytes / transitions.length)} bytes, a check ${check.length}; ` +
      'synchronous_commit=on and fsync=on, SQLite with synchronous=FULL',
  );
  const teams = { nodes, sqlite, bare };
  const measured = {
    alone: await compare('transitions', 1, teams),
    transitions: await compare('transitions', AGENTS, teams),
    checks: await compare('checks', AGENTS, teams),
  };
  await printProfile(server.url(), tiny ? 2 : 60);
  await verifyAll();
  printCapacity({
    transitions: measured.transitions['1 node'] as Measured,
    checks: measured.checks['1 node'] as Measured,
    bytes: { transition: bytes / transitions.length, check: check.length },
  });
}

async function enlist(program: string, words: readonly string[]): Promise<Member> {
  const member = await startMember(program, words);
  members.push(member);
  return member;
}

interface Teams {
  readonly nodes: readonly Member[];
  readonly sqlite: Member;
  readonly bare: Member;
}

/**
 * All of them in turn, so many agents at a time in all; prints medians of the rounds, and the median of what share of the
 * bare rate of its round each is: not the share of the medians.
 */
async function compare(
  work: Work,
  parallel: number,
  { nodes, sqlite, bare }: Teams,
): Promise<Readonly<Record<string, Measured>>> {
  const teams: readonly (readonly [name: string, members: readonly Member[], together: boolean])[] = [
    [BARE, [bare], false],
    ...(parallel === 1 ? [] : [[BATCHED, [bare], true] as const]),
    ['SQLite', [sqlite], false],
    ...[1, 2, 4]
      .filter((count) => count <= parallel)
      .map((count) => [count === 1 ? '1 node' : `${count} nodes`, nodes.slice(0, count), false] as const),
  ];
  const rounds: Record<string, Measured[]> = {};
  const round = async (seconds: number) => {
    for (const [name, team, inOne] of teams) {
      const each = Math.ceil(parallel / team.length);
      const runs = tiny ? 1 : Math.ceil(((parallel === 1 ? 100 : 10) * seconds) / 2);
      const stretch: Stretch = { work, parallel: each, together: inOne, seconds, runs };
      rounds[name] = [...(rounds[name] ?? []), await together(team, stretch, server.pid)];
    }
  };
  // Code that has not run often yet is slow; what the first round took does not count.
  await round(SECONDS / 2);
  for (const name of Object.keys(rounds)) rounds[name] = [];
  for (let count = 0; count < ROUNDS; count++) await round(SECONDS);

  print(`\n${work}, ${parallel === 1 ? 'one at a time' : `${parallel} agents in all`}`);
  const medians: Record<string, Measured> = {};
  for (const [name] of teams) {
    const all = rounds[name] ?? [];
    const of = (pick: (one: Measured) => number) => median(all.map(pick));
    const rate = of((one) => one.rate);
    const cpu = { nodes: of((one) => one.cpu.nodes), database: of((one) => one.cpu.database) };
    medians[name] = { rate, cpu };
    const share = (against: string) =>
      ratio(median(all.map((one, index) => one.rate / (rounds[against]?.[index]?.rate ?? 0))));
    const aim = work === 'transitions' ? ` (aim ${ratio(AIM)})` : '';
    const isBare = name === BARE || name === BATCHED;
    const shares = isBare
      ? ''
      : `   ${share(BARE)} of bare${aim}${parallel === 1 ? '' : `, ${share(BATCHED)} of bare in one commit`}`;
    print(
      `  ${name.padEnd(28)} ${`${Math.round(rate)}/s`.padStart(9)}   processor ${milliseconds(cpu.nodes)} + ` +
        `${milliseconds(cpu.database)} of PostgreSQL${shares}`,
    );
  }
  return medians;
}

function milliseconds(value: number): string {
  return `${value.toFixed(2)} ms`;
}

/** As many bytes that any database takes for text: hashes are bytes of any kind. */
function asText(payload: string): string {
  return payload.replace(/[^ -~]/g, 'x');
}

/** One record of a check, as it is in the database. */
async function sampleCheck(node: Member): Promise<string> {
  await node.tell('go', { work: 'checks', parallel: 1, together: false, seconds: 0.01, runs: 0 });
  const [row] = await asked("SELECT * FROM checks.audit WHERE event = 'tool_judged' LIMIT 1");
  return asText(textOf(row));
}

/** Whether what the nodes wrote is whole. */
async function verifyAll(): Promise<void> {
  const seal = createSeal(openKeys(join(at, 'nodes', 'transitions')));
  const store = await openPostgresStore({ url: `${server.url()}?schema=transitions`, seal, fold });
  const { ok, records } = await store.verify().finally(() => store.close());
  print(`
the ${records} records of the nodes' transitions ${ok ? 'verify' : 'are BROKEN'}`);
  if (!ok) process.exitCode = 1;
}

async function asked(sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: server.url() });
  await client.connect();
  const { rows } = await client.query(sql);
  await client.end();
  return rows;
}

/**
 * Where the time of a server goes that is asked as in `bench:check` and `bench:transition-http`: self time by room, that
 * is by folder of the sources, and the functions with most of it, profiled once the code is warm. SQLite and its commits
 * stand by themselves. The profiler itself slows the server down.
 *
 *   npm run bench:profile-http                check with one run and with a run each, and transitions
 *   npm run bench:profile-http -- quick       less of each
 *   npm run bench:profile-http -- transition  only that; also `check`, `check-each`
 *   npm run bench:profile-http -- 32          with so many connections; 256 unless told
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Loaded, startLoadClient } from './http/load.ts';
import { CHECK, TRANSITION } from './http/questions.ts';
import { serve, UNBUNDLED } from './http/served.ts';
import { byPlace, type Profile } from './profile/byPlace.ts';
import { printShares } from './profile/printShares.ts';
import type { Profiled } from './profile/profiled.ts';
import { folder, print } from './transitions/measure.ts';

const words = process.argv.slice(2);
const size = words.includes('tiny') ? 'tiny' : words.includes('quick') ? 'quick' : 'all';
const SECONDS = { tiny: 0.1, quick: 2, all: 6 }[size];
const RUNS = { tiny: 1, quick: 2, all: 6 }[size];
const given = words.map(Number).find((number) => number > 0);
const connections = given ?? (size === 'tiny' ? 2 : 256);
const KINDS = ['check', 'check-each', 'transition'];
const named = words.filter((word) => KINDS.includes(word));
const PROBE = join(import.meta.dirname, 'profile/serverProbe.ts');
const SHOWN = 40;

for (const kind of named.length > 0 ? named : KINDS) await profile(kind);

async function profile(kind: string): Promise<void> {
  const at = folder();
  const file = join(at, 'profile');
  const walk = kind === 'transition';
  const { path, body, workflow } = walk ? TRANSITION : CHECK;
  const client = startLoadClient();
  const served = await serve(workflow, {
    command: UNBUNDLED,
    flags: ['--import', PROBE],
    env: { BENCH_PROFILE_FILE: file },
  });
  const seconds = walk ? null : SECONDS;
  const ask = async (): Promise<Loaded> => {
    const runs = walk ? connections * RUNS : kind === 'check' ? 1 : connections;
    const tokens = await served.claim(runs);
    const conversations = Array.from({ length: connections }, (_, index) =>
      walk ? tokens.slice(index * RUNS, (index + 1) * RUNS) : [tokens[index % runs] ?? ''],
    );
    const asking = { path, body, port: served.port, conversations, seconds, walk };
    if (!isWarm) return client.run(asking);
    // Connections come one after the other, and the first question of each has a commit to itself.
    const loaded = await client.run(asking, async () => {
      process.kill(served.pid, 'SIGUSR2');
      await wait(100);
    });
    process.kill(served.pid, 'SIGUSR2');
    return { ...loaded, answers: loaded.answers - connections };
  };
  let isWarm = false;
  await ask();
  isWarm = true;
  const { answers, rate } = await ask();
  const profiled = await written(file);
  client.close();
  await served.close();
  rmSync(at, { recursive: true });
  tell(`${kind}, ${connections} connections`, profiled, { answers, rate });
}

async function written(file: string): Promise<Profiled> {
  for (;;) {
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as Profiled;
    } catch {
      // Not all of it yet.
      await wait(20);
    }
  }
}

function tell(name: string, seen: Profiled, { answers, rate }: Pick<Loaded, 'answers' | 'rate'>): void {
  const { profile, cpu, busy, commits, statements } = seen;
  const { rooms, functions, microseconds } = byPlace(profile as Profile);
  const each = (value: number) => (value / answers).toFixed(1);
  print(
    `${name}: ${answers} answers, ${Math.round(rate)}/s; for each the processor worked ${each(cpu.user)} µs in the ` +
      `program and ${each(cpu.system)} in the system; ${each(statements)} statements; ` +
      `${(answers / commits).toFixed(1)} answers a commit; the event loop was busy ${Math.round(busy * 100)}%`,
  );
  printShares({ rooms, functions: functions.slice(0, SHOWN) }, { microseconds, count: answers });
}

/**
 * What a new process of the command costs, from its start to its exit, next to `node -e 0` and to an empty process that
 * opens SQLite and commits once with full sync. All of them take turns in every round, so that a busy machine is busy
 * for each. The first rounds are not counted.
 *
 *   npm run --silent build && node bench/startup.ts [ROUNDS]
 */
import { rmSync } from 'node:fs';
import { makeCommands } from './startup/commands.ts';
import { type Cost, costOf } from './startup/costOf.ts';
import { folder, median, print } from './transitions/measure.ts';

const UNCOUNTED = 2;
const AIMS: Readonly<Record<string, string>> = {
  'phasegate --version': 'aim +5 ms over node -e 0',
  'phasegate status': 'aim 1.5 times SQLite',
  'phasegate done': 'aim 1.7 times SQLite',
};
const [given = '40'] = process.argv.slice(2);
const rounds = given === 'tiny' ? 1 : Number(given);

const place = folder();
const commands = makeCommands(place);
const costs = new Map<string, Cost[]>(commands.map(({ name }) => [name, []]));
for (let round = -UNCOUNTED; round < rounds; round++) {
  for (const { name, words, env } of commands) {
    const cost = await costOf(words(), env);
    if (round >= 0) costs.get(name)?.push(cost);
  }
}
rmSync(place, { recursive: true });

print(`new processes, ${rounds} rounds; times are medians, ratios are medians of those within a round`);
print('                          wall       cpu   over node -e 0   times node -e 0   times SQLite');
for (const { name } of commands) {
  const walls = wallsOf(name);
  const cpu = (costs.get(name) ?? []).reduce((sum, cost) => sum + cost.cpu, 0) / rounds;
  const over = median(against(name, 'node -e 0').map(({ mine, theirs }) => mine - theirs));
  const cells = [
    `${median(walls).toFixed(1)} ms`.padStart(9),
    `${cpu.toFixed(1)} ms`.padStart(9),
    `${over < 0 ? '-' : '+'}${Math.abs(over).toFixed(1)} ms`.padStart(16),
    timesOf(name, 'node -e 0').padStart(17),
    timesOf(name, 'empty, SQLite').padStart(14),
  ];
  const aim = AIMS[name];
  print(`${name.padEnd(21)}${cells.join(' ')}${aim === undefined ? '' : `   (${aim})`}`);
}

function wallsOf(name: string): readonly number[] {
  return (costs.get(name) ?? []).map(({ wall }) => wall);
}

function against(name: string, other: string): readonly { readonly mine: number; readonly theirs: number }[] {
  const others = wallsOf(other);
  return wallsOf(name).map((mine, round) => ({ mine, theirs: others[round] as number }));
}

function timesOf(name: string, other: string): string {
  return median(against(name, other).map(({ mine, theirs }) => mine / theirs)).toFixed(2);
}

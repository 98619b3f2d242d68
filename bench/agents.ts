/**
 * Many agents, each with its own key, run and connection, that each check a tool once a second against one real
 * `phasegate serve` on SQLite. Ends with 1 where a check was not answered as it should be, where the audit does not have
 * all of them, or where the server holds more memory at the end than when all had come.
 *
 *   npm run bench:agents                                    1,000 agents for five minutes
 *   npm run bench:agents -- --agents 200 --seconds 60       as many, for as long
 *   npm run bench:agents -- tiny                            only to see that it runs
 */
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { askEverySecond } from './agents/askEverySecond.ts';
import { WORKFLOW } from './check/policy.ts';
import { serve } from './http/served.ts';
import { type Memory, watchMemory } from './http/watchMemory.ts';
import { print } from './transitions/measure.ts';

const { values, positionals } = parseArgs({
  options: { agents: { type: 'string' }, seconds: { type: 'string' } },
  allowPositionals: true,
});
const tiny = positionals.includes('tiny');
const AGENTS = wholeNumber('agents', values.agents ?? (tiny ? '20' : '1000'));
const SECONDS = wholeNumber('seconds', values.seconds ?? (tiny ? '3' : '300'));
const LOOKS = 10;
/** What may come to what is held while nothing new is to be held: caches that fill, code that is compiled later. */
const ROOM = { share: 1.1, bytes: 8 * 1024 * 1024 };

const memory = watchMemory();
const served = await serve(WORKFLOW, memory);
const tokens = await served.hire(AGENTS);
print(`${AGENTS} agents, each with a run and a connection of its own, for ${SECONDS} s`);
const asking = askEverySecond(served.port, tokens, SECONDS);
const looks: Memory[] = [];
for (let count = 1; count <= LOOKS; count++) {
  await wait((SECONDS * 1000) / LOOKS);
  const seen = await memory.look(served.pid);
  looks.push(seen);
  const time = `${((count * SECONDS) / LOOKS).toFixed(0)} s`.padStart(6);
  print(`${time}  held ${megabytes(seen.used)}, occupied ${megabytes(seen.rss)}`);
}
const asked = await asking;
const recorded = served.recorded('tool_judged');
const verified = await served.close();
memory.close();

print(
  `${asked.answered} checks answered, ${asked.failed} not; of all answers half came within ${asked.half.toFixed(1)} ms, ` +
    `99 of 100 within ${asked.most.toFixed(1)} ms, the slowest after ${asked.slowest.toFixed(0)} ms`,
);
for (const [reason, count] of asked.reasons) print(`  ${count} times: ${reason}`);
print(`${recorded} verdicts are in the audit, which ${verified ? 'verifies' : 'is BROKEN'}`);
// All had come and asked when the second look was taken.
const [first, last] = [looks[1], looks.at(-1)] as [Memory, Memory];
const isFlat = last.used <= Math.max(first.used * ROOM.share, first.used + ROOM.bytes);
print(
  `memory is ${isFlat ? 'flat' : 'NOT flat'}: ${megabytes(first.used)} held then, ${megabytes(last.used)} at the end`,
);
if (asked.failed > 0 || recorded !== asked.answered || !verified || !isFlat) process.exitCode = 1;

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  console.error(`\`--${name}\` is \`${text}\`, and must be a whole number above 0`);
  process.exit(2);
}

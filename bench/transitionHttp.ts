/**
 * `POST /api/v1/tasks/transition` of a real `phasegate serve`: runs of five phases are walked to their end, each step
 * with a 1 KB artifact held against its schema, beside a bare `node:http` server that parses and answers JSON of the
 * same sizes. Rounds with few and with many connections take turns, so that they can be held against each other.
 *
 *   npm run bench:transition-http             everything
 *   npm run bench:transition-http -- quick    fewer runs
 *   npm run bench:transition-http -- tiny     only to see that it runs
 */
import { compareAll, report } from './http/compare.ts';
import { type Loaded, startEcho, startLoadClient } from './http/load.ts';
import { TRANSITION } from './http/questions.ts';
import { serve } from './http/served.ts';
import { print } from './transitions/measure.ts';

const tiny = process.argv.includes('tiny');
const quick = process.argv.includes('quick');
const SIZES = tiny
  ? [{ connections: 2, runs: 1 }]
  : [
      { connections: 32, runs: quick ? 8 : 24 },
      { connections: 256, runs: quick ? 2 : 4 },
    ];
const ROUNDS = tiny ? 1 : 3;
/** Some 20,000 transitions that are not counted: a server runs for long, and code that runs often is made fast meanwhile. */
const WARMING = { connections: tiny ? 2 : 256, runs: tiny ? 1 : quick ? 6 : 16 };

const client = startLoadClient();
const served = await serve(TRANSITION.workflow);
const sample = await served.transition(TRANSITION.body);
const echo = await startEcho(sample);
let answered = 1;

const { path, body } = TRANSITION;

async function walk({ connections, runs }: (typeof SIZES)[number]): Promise<Loaded> {
  const tokens = await served.claim(connections * runs);
  const conversations = Array.from({ length: connections }, (_, index) =>
    tokens.slice(index * runs, (index + 1) * runs),
  );
  const loaded = await client.run({
    path,
    body,
    port: served.port,
    conversations,
    seconds: null,
    walk: true,
  });
  answered += loaded.answers;
  return loaded;
}

const loads = SIZES.map((size) => {
  const conversations = Array.from({ length: size.connections }, () => [tokenLike()]);
  const seconds = tiny ? 0.05 : 1.5;
  const same = () => client.run({ path, body, port: echo.port, conversations, seconds, walk: false });
  return { echo: same, ours: () => walk(size) };
});
await walk(WARMING);
// All have their turn before any is counted.
await compareAll(1, loads);
for (const [index, compared] of (await compareAll(ROUNDS, loads)).entries()) {
  const name = `${SIZES[index]?.connections} connections, a run at a time each`;
  report(name, compared, '; limit of the design 500 ms (aim 35%)');
}
const recorded = served.recorded('phase_completed');
client.close();
echo.process.kill();
const verified = await served.close();
print(
  `\n${answered} transitions were answered, ${recorded} are in the audit, which ${verified ? 'verifies' : 'is BROKEN'}`,
);
if (recorded !== answered || !verified) process.exit(1);

/** As long as a phase token. */
function tokenLike(): string {
  return `${'e'.repeat(60)}.${'y'.repeat(400)}.${'J'.repeat(43)}`;
}

/**
 * `POST /api/v1/tasks/transition` of a real `phasegate serve`: runs of five phases are walked to their end, each step
 * with a 1 KB artifact held against its schema, beside a bare `node:http` server that parses and answers JSON of the
 * same sizes.
 *
 *   npm run bench:transition-http             everything
 *   npm run bench:transition-http -- quick    fewer runs
 *   npm run bench:transition-http -- tiny     only to see that it runs
 */
import { compare, report } from './http/compare.ts';
import { SERIAL, startEcho, startLoadClient } from './http/load.ts';
import { serve } from './http/served.ts';
import { print } from './transitions/measure.ts';
import { newArtifact, PHASES, SCHEMA } from './transitions/workload.ts';

const tiny = process.argv.includes('tiny');
const quick = process.argv.includes('quick');
const SIZES = tiny
  ? [{ connections: 2, runs: 1 }]
  : [
      { connections: 32, runs: quick ? 8 : 24 },
      { connections: 256, runs: quick ? 2 : 4 },
    ];
const ROUNDS = tiny ? 1 : 3;
const PATH = '/api/v1/tasks/transition';
const ARTIFACT = newArtifact();
const BODY = JSON.stringify({
  artifacts: { work: { ...ARTIFACT, summary: `${SERIAL} ${ARTIFACT.summary}` } },
});
const WORKFLOW = `workflow: bench
schemas: { work: ${JSON.stringify(SCHEMA)} }
phases:
${PHASES.map((phase) => `  ${phase}: { instructions: Do it, required_artifacts: [{ type: work, schema: work }] }`).join('\n')}
`;

const client = startLoadClient();
const served = await serve(WORKFLOW);
const sample = await served.transition(BODY);
const echo = await startEcho(sample);
let answered = 1;

for (const { connections, runs } of SIZES) {
  // As many as the walk takes, so that the echo is asked as often.
  const load = { path: PATH, body: BODY };
  const walk = async () => {
    const tokens = await served.claim(connections * runs);
    const conversations = Array.from({ length: connections }, (_, index) =>
      tokens.slice(index * runs, (index + 1) * runs),
    );
    const loaded = await client.run({ ...load, port: served.port, conversations, seconds: null, walk: true });
    answered += loaded.answers;
    return loaded;
  };
  const conversations = Array.from({ length: connections }, () => [tokenLike()]);
  const same = () =>
    client.run({ ...load, port: echo.port, conversations, seconds: tiny ? 0.05 : 1.5, walk: false });
  await same();
  await walk();
  report(
    `${connections} connections, a run at a time each`,
    await compare(ROUNDS, { echo: same, ours: walk }),
    '; limit of the design 500 ms (aim 35%)',
  );
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

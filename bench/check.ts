/**
 * `POST /api/v1/tools/check` of a real `phasegate serve`, every verdict in the audit on disk before its answer, beside
 * a bare `node:http` server that parses and answers JSON of the same size; and the same verdicts in process, beside
 * Casbin and Cedar on the same policy.
 *
 *   npm run bench:check             everything
 *   npm run bench:check -- quick    shorter rounds
 *   npm run bench:check -- tiny     only to see that it runs, without the peers
 */
import { openInProcess } from './check/inProcess.ts';
import { openPeers } from './check/peers.ts';
import { QUESTIONS, RULES } from './check/policy.ts';
import { compare, report } from './http/compare.ts';
import { type Loaded, startEcho, startLoadClient } from './http/load.ts';
import { CHECK } from './http/questions.ts';
import { serve } from './http/served.ts';
import { median, print, seconds } from './transitions/measure.ts';

const tiny = process.argv.includes('tiny');
const quick = process.argv.includes('quick');
const SIZES = tiny
  ? [{ connections: 2, aim: 0, aimEach: 0 }]
  : [
      { connections: 32, aim: 50, aimEach: 42 },
      { connections: 256, aim: 70, aimEach: 50 },
    ];
const SECONDS = tiny ? 0.05 : quick ? 0.7 : 2;
const ROUNDS = tiny ? 1 : 5;
const LIMIT = '; limit of the design 100 ms';

await overHttp();
await inProcess();

async function overHttp(): Promise<void> {
  const client = startLoadClient();
  const echo = await startEcho({ allowed: true });
  const served = await serve(CHECK.workflow);
  const tokens = await served.claim(Math.max(...SIZES.map(({ connections }) => connections)));
  let answered = 0;
  const ask = async (port: number, bearers: readonly string[]): Promise<Loaded> => {
    const conversations = bearers.map((token) => [token]);
    const loaded = await client.run({
      port,
      path: CHECK.path,
      body: CHECK.body,
      conversations,
      seconds: SECONDS,
      walk: false,
    });
    if (port === served.port) answered += loaded.answers;
    return loaded;
  };
  for (const { connections, aim, aimEach } of SIZES) {
    for (const runs of [1, connections]) {
      const bearers = Array.from({ length: connections }, (_, index) => tokens[index % runs] ?? '');
      // Code that has not run often yet is slow; both have their turn.
      for (const port of [echo.port, served.port]) await ask(port, bearers);
      const compared = await compare(ROUNDS, {
        echo: () => ask(echo.port, bearers),
        ours: () => ask(served.port, bearers),
      });
      const name = `${connections} connections, ${runs === 1 ? 'all on one run' : 'a run each'}`;
      report(name, compared, tiny ? LIMIT : `${LIMIT} (aim ${runs === 1 ? aim : aimEach}%)`);
    }
  }
  const recorded = served.recorded('tool_judged');
  client.close();
  echo.process.kill();
  const verified = await served.close();
  print(
    `\n${answered} verdicts were answered, ${recorded} are in the audit, which ${verified ? 'verifies' : 'is BROKEN'}`,
  );
  if (recorded !== answered || !verified) process.exit(1);
}

async function inProcess(): Promise<void> {
  const count = tiny ? 60 : quick ? 10_000 : 40_000;
  const runs = tiny ? 2 : 32;
  const once = tiny ? 4 : 1024;
  const ours = await openInProcess(runs);
  const peers = tiny ? [] : await openPeers();
  const rates: Record<string, number[]> = {};
  const take = async (name: string, asked: number, work: () => unknown) => {
    const rate = asked / (await seconds(work));
    rates[name] = [...(rates[name] ?? []), rate];
  };
  for (let round = 0; round < ROUNDS; round++) {
    await take('one', count, () => ours.judge(count, { once, runs: 1 }));
    await take('each', count, () => ours.judge(count, { once, runs }));
    for (const peer of peers) {
      const asked = count / 10;
      await take(peer.name, asked, () => {
        for (let index = 0; index < asked; index++) {
          peer.judge(QUESTIONS[index % QUESTIONS.length] as (typeof QUESTIONS)[number]);
        }
      });
    }
  }
  await ours.close();
  const rateOf = (name: string) => median(rates[name] ?? [0]);
  print(
    `\nin process, token checked and verdict on disk, ${once} at a time; a policy of ${RULES.length} rules`,
  );
  print(`  all on one run        ${perSecond(rateOf('one'))}`);
  print(`  on ${String(runs).padEnd(3)} runs           ${perSecond(rateOf('each'))}`);
  for (const peer of peers) {
    const aim = peer.name === 'Casbin' ? 10 : 20;
    const rate = rateOf(peer.name);
    const times = (name: string) => (rateOf(name) / rate).toFixed(1);
    print(
      `  ${peer.name.padEnd(20)}  ${perSecond(rate)}   no token, nothing on disk; ` +
        `Phasegate is ${times('one')} times as fast on one run, ${times('each')} on ${runs} (aim ${aim})`,
    );
  }
}

function perSecond(rate: number): string {
  return `${Math.round(rate)}/s`.padStart(9);
}

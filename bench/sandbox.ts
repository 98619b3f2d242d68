/**
 * What a sandbox adds to a program that does nothing: `true` bare, in a sandbox of a phase with a write scope, and by
 * bubblewrap alone with the same namespaces and one mount. They take turns in every round, so that a busy machine is busy
 * for each. The first rounds are not counted. Aim: under 15 ms added.
 *
 *   npm run --silent build && node bench/sandbox.ts [ROUNDS]
 */
import { closeSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createBubblewrap } from '../packages/phasegate/src/sandbox/bubblewrap.ts';
import { APART, findBubblewrap } from '../packages/phasegate/src/sandbox/bubblewrapState.ts';
import { leftOpen } from '../packages/phasegate/src/workspace/leftOpen.ts';
import { runEnclosed } from '../packages/phasegate/src/workspace/runEnclosed.ts';
import { folder, median, print } from './transitions/measure.ts';

const UNCOUNTED = 3;
const [given = '100'] = process.argv.slice(2);
const rounds = given === 'tiny' ? 2 : Number(given);
// As the command does: what a shell left open would have to be covered at every start.
for (const descriptor of leftOpen(3)) closeSync(descriptor);
const { state, program } = await findBubblewrap();

if (!state.works || program === null) {
  print(`no sandbox can be made here: ${state.works ? '' : state.reason}`);
} else {
  const place = realpathSync(folder());
  mkdirSync(join(place, 'src'));
  for (let file = 0; file < 1000; file++) writeFileSync(join(place, 'src', `${file}.ts`), 'x');
  const sandbox = createBubblewrap(async () => ({
    hidden: [],
    read: [],
    write: [],
    hosts: [],
    home: '/root',
  }));
  const scope = {
    workspace: place,
    writes: ['src/**'],
    mayWrite: (path: string) => path.startsWith('src/'),
    commits: false,
  };
  const order = (argv: readonly [string, ...string[]]) => ({
    argv,
    cwd: place,
    environment: { PATH: '/usr/bin:/bin' },
    timeoutMs: 60_000,
    maxOutputBytes: 1000,
    signal: new AbortController().signal,
  });
  const alone = [program, ...APART, '--ro-bind', '/', '/', '--', '/bin/true'] as const;
  const ways: Readonly<Record<string, () => Promise<unknown>>> = {
    bare: () => runEnclosed(order(['/bin/true']), undefined),
    'bubblewrap alone': () => runEnclosed(order(alone), undefined),
    sandbox: () => runEnclosed(order(['/bin/true']), (free) => sandbox.enclose(free, scope)),
  };
  const walls = new Map<string, number[]>(Object.keys(ways).map((name) => [name, []]));
  for (let round = -UNCOUNTED; round < rounds; round++) {
    for (const [name, run] of Object.entries(ways)) {
      const begun = performance.now();
      await run();
      if (round >= 0) walls.get(name)?.push(performance.now() - begun);
    }
  }
  rmSync(place, { recursive: true });
  const bare = walls.get('bare') ?? [];
  print(
    `\`true\`, ${rounds} rounds, a scope of 1000 files; medians, and medians within a round (aim +15 ms)`,
  );
  for (const [name, times] of walls) {
    const over = median(times.map((time, round) => time - (bare[round] as number)));
    const ratio = median(times.map((time, round) => time / (bare[round] as number)));
    print(
      `${name.padEnd(18)}${median(times).toFixed(1).padStart(7)} ms  ${over < 0 ? '-' : '+'}${Math.abs(over).toFixed(1)} ms over bare  ${ratio.toFixed(2)} times bare`,
    );
  }
}

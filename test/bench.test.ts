import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { FULL } from './tier.ts';

test('what rendering costs is measured by a program that runs [S1.82]', () => {
  const program = fileURLToPath(new URL('../bench/render.ts', import.meta.url));

  const printed = execFileSync(process.execPath, [program], { encoding: 'utf8' });

  // Times are for a human to read; sizes do not depend on the machine.
  expect(printed).toMatch(/^first access, parse and render .* ms/m);
  expect(printed).toMatch(/^cached access .* ms/m);
  expect(Number(/a session keeps +(\d+) KiB/.exec(printed)?.[1])).toBeLessThan(1024);
});

test.runIf(FULL)(
  'what walking every state costs is measured beside xstate on the same states, by a program that runs',
  () => {
    const program = fileURLToPath(new URL('../bench/modelCheck.ts', import.meta.url));

    const printed = execFileSync(process.execPath, [program, 'tiny'], { encoding: 'utf8' });

    const [, states] = /^ +phasegate check +(\d+) states .* states\/s .*clean$/m.exec(printed) ?? [];
    expect(printed).toMatch(/^10 phases$/m);
    expect(Number(states)).toBeGreaterThan(0);
    for (const peer of ['getShortestPaths', 'getAdjacencyMap'])
      expect(printed).toMatch(
        new RegExp(`^ +xstate ${peer} +${states} states .* states/s +ours is [\\d.]+ times as fast$`, 'm'),
      );
  },
);

test.runIf(FULL)('what deciding recorded runs again costs is measured by a program that runs', () => {
  const program = fileURLToPath(new URL('../bench/replay.ts', import.meta.url));

  const printed = execFileSync(process.execPath, [program, 'tiny'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });

  expect(printed).toMatch(/^20 runs, \d+ decisions replayed in [\d.]+ s \(aim 60 s\)$/m);
  expect(printed).toMatch(/^reading their \d+ records alone takes [\d.]+ s: replay is [\d.]+ times that$/m);
});

test.runIf(FULL)('how costs grow with what is stored is measured by a program that runs', () => {
  const program = fileURLToPath(new URL('../bench/growth.ts', import.meta.url));

  const printed = execFileSync(process.execPath, [program, 'tiny'], { encoding: 'utf8' });

  for (const name of ['start', 'a command', 'claim', 'status', 'check', 'transition', 'list of 50', 'verify'])
    expect(printed).toMatch(new RegExp(`^ +${name} +\\d+: [\\d.]+ ms .* exponent -?[\\d.]+`, 'm'));
  expect(printed).toMatch(/^ +a start in a server takes [\d.]+, [\d.]+ times a transition \(aim 1.5\)$/m);
});

test.runIf(FULL)('what new processes cost is measured next to empty ones, by a program that runs', () => {
  const program = fileURLToPath(new URL('../bench/startup.ts', import.meta.url));

  const printed = execFileSync(process.execPath, [program, 'tiny'], { encoding: 'utf8' });

  for (const name of ['node -e 0', 'empty, SQLite', '--version', '--help', 'status', 'done', 'start'])
    expect(printed).toMatch(
      new RegExp(`^(?:phasegate )?${name} +[\\d.]+ ms .* [\\d.]+(?: +\\(aim .*\\))?$`, 'm'),
    );
});

test.runIf(FULL)(
  'what a sandbox adds to a program is measured next to a bare one, by a program that runs',
  () => {
    const program = fileURLToPath(new URL('../bench/sandbox.ts', import.meta.url));

    const printed = execFileSync(process.execPath, [program, 'tiny'], { encoding: 'utf8' });

    expect(printed).toMatch(/^no sandbox can be made here|^sandbox .* ms over bare .* times bare$/m);
  },
);

const SERVED = [
  ['check', 'verdicts'],
  ['transitionHttp', 'transitions'],
] as const;

test.runIf(FULL).each(SERVED)(
  'the %s benchmark runs against a real server, and all it was answered is in the audit [S2.72]',
  (name, what) => {
    const program = fileURLToPath(new URL(`../bench/${name}.ts`, import.meta.url));

    const printed = execFileSync(process.execPath, [program, 'tiny'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });

    expect(printed).toMatch(/bare node:http echo +\d+\/s \(\d+ to \d+\) +p50 .* ms +p99 .* ms/);
    expect(printed).toMatch(/phasegate +\d+\/s \(\d+ to \d+\) +p50 .* ms +p99 .* ms +\d+% of the echo/);
    const counted = new RegExp(
      `^(\\d+) ${what} were answered, (\\d+) are in the audit, which verifies$`,
      'm',
    );
    const [, answered, recorded] = counted.exec(printed) ?? [];
    expect(Number(answered)).toBeGreaterThan(0);
    expect(recorded).toBe(answered);
  },
  60_000,
);

test.runIf(FULL).each([
  ['profile', /^ +[\d.]+% +[\d.]+ +SQLite: commits, with the wait for the disk$/m],
  [
    'pages',
    /^phasegate: a run appends [\d.]+ pages to the log, in 5 commits$[\s\S]*^ +pages of 1 KB +\d+ µs/m,
  ],
  ['nodes', /^ {2}4 nodes +\d+\/s .*\n[\s\S]*^the \d+ records of the nodes' transitions verify$/m],
  ['agents', /^60 verdicts are in the audit, which verifies$/m],
  ['serverMemory', /^each of 3 more claimed runs: -?[\d.]+ KB held/m],
  ['verify', /^ +verified in [\d.]+ s, at most \d+ MB/m],
])(
  'the %s benchmark runs and prints what it found',
  (name, found) => {
    const program = fileURLToPath(new URL(`../bench/${name}.ts`, import.meta.url));

    expect(execFileSync(process.execPath, [program, 'tiny'], { encoding: 'utf8' })).toMatch(found);
  },
  60_000,
);

test.runIf(FULL)('how long the dashboard takes with many runs is measured by a program that runs', () => {
  const program = fileURLToPath(new URL('../bench/dashboard.ts', import.meta.url));

  const printed = execFileSync(process.execPath, [program, 'tiny'], { encoding: 'utf8' });

  for (const what of ['first useful view', 'a run', 'the audit'])
    expect(printed).toMatch(
      new RegExp(`^${what} +\\d+ ms with 10 runs, \\d+ ms with 20: [\\d.]+ times`, 'm'),
    );
});

test.runIf(FULL)('where the time of a server goes is told by a program that runs', () => {
  const program = fileURLToPath(new URL('../bench/profileHttp.ts', import.meta.url));

  const printed = execFileSync(process.execPath, [program, 'tiny'], { encoding: 'utf8' });

  for (const kind of ['check', 'check-each', 'transition'])
    expect(printed).toMatch(new RegExp(`^${kind}, 2 connections: \\d+ answers.* answers a commit`, 'm'));
});

import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { someOf } from '../../../../test/tier.ts';

const REPOSITORY = fileURLToPath(new URL('../../../..', import.meta.url));
const base = mkdtempSync(join(realpathSync(tmpdir()), 'phasegate-broken-'));

beforeAll(() => installSources(base));
afterAll(() => rmSync(base, { recursive: true, force: true }));

/** Lines of the engine, what they become, and what the tests of an example must then say. */
const MUTATIONS: readonly {
  readonly what: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** The one that must find it. */
  readonly test: string;
  readonly says: RegExp;
}[] = [
  {
    what: 'the order of phases is not held',
    file: 'complete.ts',
    from: 'if (command.phase !== run.phase) {',
    to: 'if (command.phase === null) {',
    test: 'nothing is to be had by cheating',
    says: /nothing is to be had by cheating\n {2}agent_workflow\.contract\.yaml: phase `TDD` was completed out of `PLAN`/,
  },
  {
    what: 'evidence is not looked at',
    file: 'complete.ts',
    from: '[...shape.map((problem) => shapeBlocker(phase, problem)), ...taskBlockers(run, phase)]',
    to: '[...taskBlockers(run, phase)]',
    test: 'what is forgotten is asked for',
    says: /what is forgotten is asked for\n {2}agent_workflow\.contract\.yaml: phase `\w+` was completed without its evidence/,
  },
  {
    what: 'a human gate is passed by',
    file: 'leaving.ts',
    from: 'if (done.phase.humanGate !== null) return',
    to: 'if (done.phase.humanGate === undefined) return',
    test: 'an honest agent gets to the end',
    says: /an honest agent gets to the end\n {2}agent_workflow\.contract\.yaml: phase `PLAN` was left without a human's decision/,
  },
];

describe('the tests of an example catch an engine', () => {
  test('that is as it should be, and find nothing wrong with it', () => {
    const { code, out } = testExample('an');

    expect([code, out]).toEqual([0, expect.stringMatching(/\n[1-9]\d* passed, 0 failed/)]);
  });

  test.each(someOf(MUTATIONS, { quick: 1, full: MUTATIONS.length }))(
    'in which $what',
    ({ file, from, to, test: name, says }) => {
      const path = join(base, 'packages/core/src/engine', file);
      const source = readFileSync(path, 'utf8');
      expect(source.split(from)).toHaveLength(2);
      writeFileSync(path, source.replace(from, to));

      const { code, out } = testExample(name);

      writeFileSync(path, source);
      expect([code, out]).toEqual([1, expect.stringMatching(says)]);
    },
  );
});

function testExample(filter: string): { readonly code: number | null; readonly out: string } {
  const main = join(base, 'packages/phasegate/src/main.ts');
  const words = [main, 'test', 'tdd', '--category', 'contract', '-k', filter, '--project', join(base, 'tdd')];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    encoding: 'utf8',
    env: {
      PATH: process.env.PATH,
      HOME: base,
      XDG_STATE_HOME: join(base, 'state'),
      NO_COLOR: '1',
      NODE_COMPILE_CACHE: join(base, 'cache'),
    },
  });
  return { code: status, out: `${stdout}${stderr}` };
}

/** As a fresh install, but of the sources: what is broken is broken before anything is built. */
function installSources(to: string): void {
  const modules = join(to, 'node_modules');
  mkdirSync(join(modules, '@phasegate'), { recursive: true });
  for (const name of readdirSync(join(REPOSITORY, 'node_modules'))) {
    if (name === '@phasegate' || name === 'phasegate' || name.startsWith('.')) continue;
    symlinkSync(realpathSync(join(REPOSITORY, 'node_modules', name)), join(modules, name));
  }
  for (const name of readdirSync(join(REPOSITORY, 'packages'))) {
    const from = join(REPOSITORY, 'packages', name);
    const copy = join(to, 'packages', name);
    cpSync(join(from, 'src'), join(copy, 'src'), { recursive: true });
    const manifest = readFileSync(join(from, 'package.json'), 'utf8');
    writeFileSync(join(copy, 'package.json'), manifest.replaceAll(/"\.\/dist\/(.*)\.js"/g, '"./src/$1.ts"'));
    symlinkSync(copy, join(modules, ...(name === 'phasegate' ? [name] : ['@phasegate', name])));
  }
  // What the SDK carries in its own files.
  symlinkSync(join(to, 'packages/wire/src'), join(to, 'packages/sdk/src/wire'));
  cpSync(join(REPOSITORY, 'examples/tdd'), join(to, 'tdd'), { recursive: true });
}

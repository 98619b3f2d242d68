import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { packPackages } from '../../release/packPackages.ts';
import { FULL } from '../tier.ts';
import { blocksUnder, STARTED, shell } from './readmeWalk.ts';

const OLDEST_NODE = '22.16.0';
const PASSPHRASE = 'open sesame';
/** It comes from the npm registry: without one, or without a copy of it, nothing here can be tried. */
const available = FULL && spawnSync('npm', ['view', `node@${OLDEST_NODE}`, 'version']).status === 0;

/** An empty machine: a home, an old Node and nothing else. */
interface Machine {
  readonly base: string;
  readonly env: Readonly<Record<string, string>>;
  /** The packed file, as the README has it made. */
  readonly packed: string;
}

const { NODE_EXTRA_CA_CERTS: CERTIFICATES } = process.env;

let machine: Machine;

describe.runIf(available)('the README, line by line, with the packed file and the oldest Node', () => {
  beforeAll(async () => {
    machine = await emptyMachine();
  });

  test('from an empty folder to the audit: install, init, start, an agent, a decision', async () => {
    const begun = performance.now();
    const [pack = [], everywhere = [], inProject = []] = blocksUnder('## Install');
    const [hold = []] = blocksUnder('## Hold your agent');
    expect(pack).toEqual(['npm ci && npm run pack']);
    expect(everywhere).toEqual(['npm install --global ./phasegate-*.tgz']);
    expect(inProject).toEqual(['npm install --save-dev ./phasegate-*.tgz']);
    const [init = '', run = '', ...looks] = hold;
    const project = emptyProject('mine');
    const ends = endsIn(project);

    await ends(`${everywhere[0]} --no-audit --no-fund --prefer-offline`, dirname(machine.packed));
    expect(await ends('node --version')).toBe(`v${OLDEST_NODE}\n`);
    await ends(`${init} --name maria --passphrase-fd 3 3<${machine.base}/secret`);
    const paused = await ends(run);
    const id = /run-\w+/.exec(paused)?.[0] ?? '';
    expect(paused).toContain(`phasegate decide ${id}`);
    const { gate } = JSON.parse(await ends(`phasegate status ${id} --json`)) as { gate: { shown: string } };
    const decision = `phasegate decide ${id} --option Approve --shown ${gate.shown}`;
    await ends(`${decision} --passphrase-fd 3 3<${machine.base}/secret`);
    await ends(`${run.replace(/tdd ".*?"/, id)}`);
    for (const line of looks) await ends(line);

    expect(JSON.parse(await ends(`phasegate status ${id} --json`))).toMatchObject({ status: 'completed' });
    expect(looks.at(-1)).toBe('phasegate audit verify');
    const seconds = ((performance.now() - begun) / 1000).toFixed(0);
    console.log(`from an empty folder to the audit, by the README, on Node ${OLDEST_NODE}: ${seconds} s`);
  });

  test('in one project: `npx phasegate`, with the schema for editors where the template says it is', async () => {
    const project = emptyProject('single');
    const ends = endsIn(project);
    const [, , [line = ''] = []] = blocksUnder('## Install');

    await ends(`cp ${machine.packed} .`);
    await ends(`${line} --no-audit --no-fund --prefer-offline`);
    await ends('npx phasegate init --yes');
    expect(await ends('npx phasegate runs')).toContain('no runs');

    const [, schema = ''] =
      /\$schema=(\S+)/.exec(readFileSync(join(project, 'agent_workflow.yaml'), 'utf8')) ?? [];
    expect(existsSync(join(project, schema)), schema).toBe(true);
  });

  test('Node says nothing of its SQLite, and still says what else it has to say', async () => {
    const project = emptyProject('quiet');
    writeFileSync(
      join(project, 'loud.cjs'),
      "process.emitWarning('SQLite is old', 'DeprecationWarning'); process.emitWarning('other', 'ExperimentalWarning');",
    );
    await endsIn(project)('phasegate init --yes');
    const program = join(machine.base, 'global/lib/node_modules/phasegate/bin/phasegate.js');
    const called = shell(project, `node ${program} runs`, machine.env);
    const loud = shell(project, `node --import ${program} --eval "require('./loud.cjs')" runs`, machine.env);

    expect([await called.ended, called.text()]).toEqual([0, 'no runs\n']);
    await loud.ended;
    expect(loud.text()).toContain('DeprecationWarning: SQLite is old');
    expect(loud.text()).toContain('ExperimentalWarning: other');
  });
});

async function emptyMachine(): Promise<Machine> {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'phasegate-first-'));
  for (const folder of ['bin', 'pack', 'node', 'home']) mkdirSync(join(base, folder));
  writeFileSync(join(base, 'secret'), PASSPHRASE);
  const install = ['install', '--prefix', join(base, 'node'), '--no-audit', '--no-fund', '--prefer-offline'];
  const installed = spawnSync('npm', [...install, `node@${OLDEST_NODE}`], { cwd: join(base, 'node') });
  expect(installed.status, String(installed.stderr)).toBe(0);
  const found = (await packPackages(join(base, 'pack'))).find(({ name }) => name === 'phasegate');
  const node = join(base, 'node/node_modules/node/bin');
  const agent = join(base, 'home/agent.mjs');
  writeFileSync(agent, STARTED);
  // Stands in for the client that the README names.
  writeFileSync(join(base, 'bin/claude'), `#!/bin/sh\nexec ${node}/node ${agent} "$@"\n`);
  chmodSync(join(base, 'bin/claude'), 0o755);
  return {
    base,
    packed: found?.path ?? '',
    env: {
      PATH: [node, join(base, 'global/bin'), join(base, 'bin'), process.env.PATH ?? ''].join(':'),
      HOME: join(base, 'home'),
      USER: 'maria',
      npm_config_prefix: join(base, 'global'),
      // What npm has fetched before need not be fetched again, and the registry is the machine's.
      npm_config_cache: spawnSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).stdout.trim(),
      npm_config_registry: spawnSync('npm', ['config', 'get', 'registry'], {
        encoding: 'utf8',
      }).stdout.trim(),
      // So are the certificates by which it is known.
      ...(CERTIFICATES === undefined ? {} : { NODE_EXTRA_CA_CERTS: CERTIFICATES }),
    },
  };
}

/** What somebody begins with: a folder, a test that passes, and no more. */
function emptyProject(name: string): string {
  const project = join(machine.base, name);
  for (const folder of ['src', 'test']) mkdirSync(join(project, folder), { recursive: true });
  const described = { name, private: true, type: 'module', scripts: { test: 'node --test' } };
  writeFileSync(join(project, 'package.json'), `${JSON.stringify(described, null, 2)}\n`);
  return project;
}

/** Runs lines that must succeed. */
function endsIn(project: string) {
  return async (line: string, folder = project) => {
    const called = shell(folder, line, machine.env);
    expect(await called.ended, `${line}\n${called.text()}`).toBe(0);
    return called.text();
  };
}

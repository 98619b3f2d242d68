import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type Json, own } from '@phasegate/core';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { FULL } from '../tier.ts';
import { makeProject, PROGRAM, phasegate } from './cli.ts';
import { commit, git, honestHistory, put, succeeded } from './honestHistory.ts';

const WORKFLOW = readFileSync('docs/deploy/verify-range.yml', 'utf8');
const JOB = jobOf(parse(WORKFLOW) as Json);

test('the workflow runs from the protected branch, may write nothing and checks out nothing of the pull request', () => {
  const whole = parse(WORKFLOW) as Json;
  const checkout = JOB.steps.find((step) => String(own(step, 'uses')).startsWith('actions/checkout'));

  expect(own(whole, 'on')).toEqual({ pull_request_target: { branches: ['main'] } });
  expect(own(whole, 'permissions')).toEqual({ contents: 'read' });
  expect(own(checkout ?? null, 'with')).toEqual({ 'fetch-depth': 0, 'persist-credentials': false });
  // What others chose is given in the environment, never written into a script.
  expect(JOB.script).not.toContain('${{');
});

test.runIf(FULL)(
  'its step passes an honest pull request, and fails one with a commit around the gate or without a bundle',
  async () => {
    const project = await honestHistory();
    const origin = join(project.base, 'origin.git');
    execFileSync('git', ['clone', '-q', '--bare', project.root, origin]);
    git(project, 'remote', 'add', 'origin', origin);
    const bundle = join(project.base, 'bundle.json');
    const pins = (await succeeded(phasegate(project, ['verify-range', '--pins']))).stdout;
    const offer = (number: number) =>
      git(project, 'push', '-q', 'origin', `work:refs/pull/${number}/head`, 'refs/notes/*:refs/notes/*');
    const headId = () => git(project, 'rev-parse', 'work').trim();

    offer(1);
    const without = step(origin, { NUMBER: '1', HEAD: headId(), PHASEGATE_PINS: pins });
    await succeeded(phasegate(project, ['verify-range', 'main..work', '--export', bundle]));
    git(project, 'notes', '--ref=phasegate', 'add', '-f', '-F', bundle, 'work');
    offer(1);
    const honest = step(origin, { NUMBER: '1', HEAD: headId(), PHASEGATE_PINS: pins });
    put(project, 'src/new.ts', 'around the gate\n');
    commit(project, 'sneak it in');
    git(project, 'notes', '--ref=phasegate', 'copy', 'work~1', 'work');
    offer(2);
    const around = step(origin, { NUMBER: '2', HEAD: headId(), PHASEGATE_PINS: pins });

    expect([without.status, without.stderr]).toEqual([1, expect.stringContaining('no bundle was pushed')]);
    expect([honest.status, honest.stderr]).toEqual([0, '']);
    expect(around.status).toBe(1);
    expect(around.stdout).toContain('outside  src/new.ts');
  },
);

/** Runs the script of the step in a clone of its own, with nothing of the machine but its programs. */
function step(origin: string, env: Readonly<Record<string, string>>) {
  const { base } = makeProject();
  const [clone, bin] = [join(base, 'clone'), join(base, 'bin')];
  execFileSync('git', ['clone', '-q', '--branch', 'main', origin, clone]);
  mkdirSync(bin);
  writeFileSync(join(bin, 'phasegate'), `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`);
  chmodSync(join(bin, 'phasegate'), 0o755);
  const base_ = execFileSync('git', ['rev-parse', 'origin/main'], { cwd: clone }).toString().trim();
  return spawnSync('bash', ['-c', JOB.script], {
    cwd: clone,
    encoding: 'utf8',
    env: { PATH: `${bin}:${process.env.PATH}`, HOME: base, RUNNER_TEMP: base, BASE: base_, ...env },
  });
}

function jobOf(whole: Json): { readonly steps: readonly Json[]; readonly script: string } {
  const job = own(own(whole, 'jobs') ?? null, 'verify-range');
  const steps = own(job ?? null, 'steps');
  const list = Array.isArray(steps) ? steps.filter(isJsonObject) : [];
  const script = own(list.find((one) => own(one, 'name') === 'Judge the commits') ?? null, 'run');
  return { steps: list, script: String(script) };
}

import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FULL } from '../../../../../../test/tier.ts';
import { EMPTY_PROJECT, makeShell } from '../fixtures/callCli.ts';

const WORKFLOW = 'workflow: release\nphases: { DRAFT: {} }\n';

describe('in bash', () => {
  test.runIf(FULL)('commands, options of the command, workflows and runs are completed', async () => {
    const { stdout: script } = await makeShell().call(['completion', 'bash']);

    expect(complete(script, ['phasegate', 'sta'])).toEqual(['start', 'status']);
    expect(complete(script, ['phasegate', '--json', 'don'])).toEqual(['done']);
    expect(complete(script, ['phasegate', 'start', '--que'])).toEqual(['--queue']);
    expect(complete(script, ['phasegate', 'start', 'a'])).toEqual(['a-workflows']);
    expect(complete(script, ['phasegate', 'status', 'a'])).toEqual(['a-runs']);
    expect(complete(script, ['phasegate', 'run', 'a'])).toEqual(['a-runs', 'a-workflows']);
  });

  test('the words a command begins with and the templates of `init` are completed', async () => {
    const { stdout: script } = await makeShell().call(['completion', 'bash']);

    expect(complete(script, ['phasegate', 'audit', "''"])).toEqual(['anchor', 'export', 'tail', 'verify']);
    expect(complete(script, ['phasegate', 'audit', '--j'])).toEqual(['--json']);
    expect(complete(script, ['phasegate', 'completion', 'z'])).toEqual(['zsh']);
    expect(complete(script, ['phasegate', 'init', '--template', 're'])).toEqual([
      'refactor',
      'release',
      'review',
    ]);
    expect(complete(script, ['phasegate', 'init', '--yes', '--tem'])).toEqual(['--template']);
  });
});

test.each([
  ['zsh', ['-n']],
  ['fish', ['--no-execute']],
] as const)('the script for %s is one that the shell can read', async (name, words) => {
  const { stdout } = await makeShell().call(['completion', name]);
  const file = join(mkdtempSync(join(tmpdir(), 'phasegate-completion-')), 'script');
  writeFileSync(file, stdout);

  const { error, status, stderr } = spawnSync(name, [...words, file], { encoding: 'utf8' });

  // Not every machine has every shell; what can be said without one is that the script names the commands.
  if (error === undefined) expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toContain('decide');
  expect(stdout).toMatch(/verify.*export.*tail/);
  expect(stdout).toMatch(/tdd bugfix .*list/);
});

test('workflows and runs are named one on each line, and only in words that no shell expands', async () => {
  const shell = makeShell({
    ...EMPTY_PROJECT,
    'release.workflow.yaml': WORKFLOW,
    'bad.workflow.yaml': WORKFLOW.replace('release', '"$(touch planted)"'),
  });
  const started = await shell.call(['start', 'release', '--json']);

  expect((await shell.call(['completion', 'workflows'])).stdout.trim()).toBe('release');
  expect((await shell.call(['completion', 'runs'])).stdout.trim()).toBe(started.json().run);
});

test('a project without state has no runs, and gets none by being asked', async () => {
  const shell = makeShell(EMPTY_PROJECT);

  const { code, stdout } = await shell.call(['completion', 'runs', '--json']);

  expect([code, JSON.parse(stdout)]).toEqual([0, { runs: [] }]);
  expect(existsSync(shell.env.XDG_STATE_HOME ?? '')).toBe(false);
});

test('a shell that is not known is a wrong use', async () => {
  const { code, stderr } = await makeShell().call(['completion', 'powershell']);

  expect(code).toBe(2);
  expect(stderr).toContain('shells: bash, zsh, fish');
});

/** What bash offers for the last word; `phasegate` is a program here that names what it was asked for. */
function complete(script: string, words: readonly string[]): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'phasegate-completion-'));
  writeFileSync(join(folder, 'phasegate'), '#!/bin/sh\necho "a-$2 b-$2"\n');
  chmodSync(join(folder, 'phasegate'), 0o755);
  const ask = `${script}
COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _phasegate; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const env = { PATH: `${folder}${delimiter}${process.env.PATH}` };
  return execFileSync('bash', ['-c', ask], { env, encoding: 'utf8' }).trim().split('\n').sort();
}

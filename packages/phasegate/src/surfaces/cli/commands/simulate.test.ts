import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { FULL } from '../../../../../../test/tier.ts';
import { makeShell, type Shell } from '../fixtures/callCli.ts';

const WORKFLOW = `workflow: w
gates:
  approval:
    human: { prompt: Good?, options: [{ label: Yes }, { label: Again, next: A }] }
phases:
  A:
    required_artifacts: [{ type: size }]
    postconditions:
      - { check: expression, with: { condition: "size === 'small'" } }
    next: B
  B:
    gate: approval
    next: null
`;
const ROOT = fileURLToPath(new URL('../../../../../../', import.meta.url));

describe('what is printed', () => {
  test('a workflow without recorded runs is simulated from assumptions, and no state is made', async () => {
    const shell = makeShell({ 'agent_workflow.yaml': WORKFLOW });

    const { code, stdout } = await shell.call(['simulate', 'w']);

    expect(code).toBe(0);
    expect(stdout).toMatch(/^w: 1000 runs simulated with 1 agent, seed 1; no run is recorded\n/);
    expect(stdout).toMatch(/^A +1 +100 % +assumed +1 +10 min +10 min +0 %$/m);
    expect(stdout).toMatch(/^time +80 min on average, p50 80 min, p95 80 min$/m);
    expect(stdout).toMatch(/^bottleneck +B, human gate: 75 % of a run's time$/m);
    expect(stdout).toMatch(/^ {2}assumed +at the gate: Yes 100 % +B$/m);
    expect(existsSync(join(shell.root, '..', 'state'))).toBe(false);
  });

  test('says that runs of a server are not looked at', async () => {
    const shell = makeShell({ 'agent_workflow.yaml': WORKFLOW });
    const elsewhere = { PHASEGATE_URL: 'http://127.0.0.1:9' };

    for (const words of [
      ['simulate', 'w'],
      ['coverage', 'w', '--runs'],
    ]) {
      const { stderr } = await shell.call(words, '', elsewhere);

      expect(stderr).toContain(
        'only runs recorded here are looked at, not those of the server in PHASEGATE_URL',
      );
    }
  });

  test('the same seed prints the same, and with --json one value holds it all', async () => {
    const shell = makeShell({ 'agent_workflow.yaml': WORKFLOW });
    const words = ['simulate', 'w', '--pass', 'A=0.5', '--agents', '3', '--runs', '200'];

    const [first, again, other, json] = await Promise.all([
      shell.call([...words, '--seed', 'x']),
      shell.call([...words, '--seed', 'x']),
      shell.call([...words, '--seed', 'y']),
      shell.call([...words, '--seed', 'x', '--json']),
    ]);

    expect(first.stdout).toBe(again.stdout);
    expect(first.stdout).not.toBe(other.stdout);
    expect(json.json()).toMatchObject({ workflow: 'w', seed: 'x', runs: 200, agents: 3, bound: null });
    expect(first.stdout).toMatch(/^A +1 +50 % +given /m);
    expect(first.stdout).toMatch(/^ {2}A: escalated +█+ \d+(\.\d)? %$/m);
  });

  test('runs that made phases from their source are not taken for another version', async () => {
    const shell = makeShell();
    for (const path of ['specs', 'workflows']) {
      cpSync(join(ROOT, 'examples/spec-execution', path), join(shell.root, path), { recursive: true });
    }
    await shell.call(['start', 'spec_execution_v1', '--param', 'spec_path=specs/payments-retry']);

    const { stdout } = await shell.call(['simulate', 'spec_execution_v1', '--runs', '5']);

    expect(stdout).toContain('rates from 1 recorded run\n');
    expect(stdout).toContain('note: phases that a run makes from its source are not simulated');
    expect(stdout).not.toContain('another version');
  });

  test('runs that are given up are named', async () => {
    const shell = makeShell({
      'agent_workflow.yaml': WORKFLOW,
      'rates.yaml': 'phases: { B: { options: { Again: 1 } } }',
    });

    const { stdout } = await shell.call([
      'simulate',
      'w',
      '--runs',
      '5',
      '--rates',
      join(shell.root, 'rates.yaml'),
    ]);

    expect(stdout).toContain(
      'note: 5 runs were given up after 300 steps (attempts and decisions) without an end, and count as stuck: the workflow may lead back again and again at these rates, or ask for more steps',
    );
  });

  test('a line of more than 300 phases is completed', async () => {
    const phases = Array.from({ length: 301 }, (_, at) => `  P${at}: { instructions: work }`).join('\n');
    const shell = makeShell({ 'agent_workflow.yaml': `workflow: w\nphases:\n${phases}\n` });

    const { stdout } = await shell.call(['simulate', 'w', '--runs', '5']);

    expect(stdout).toMatch(/^completed +100 %$/m);
    expect(stdout).not.toContain('given up');
  });

  test('all bars are on one scale, times in one unit, and no row is empty', async () => {
    const shell = makeShell({ 'agent_workflow.yaml': WORKFLOW });
    const file = join(shell.root, 'plot.svg');

    const { stdout } = await shell.call(['simulate', 'w', '--pass', 'A=0.6', '--plot', file]);

    const rows = [...stdout.matchAll(/^ {2}(\S.*?) {2,}([█▏▎▍▌▋▊▉]*) ?([\d.]+) %$/gm)];
    expect(rows.length).toBeGreaterThan(4);
    for (const [, label, bar = '', value] of rows) {
      expect(Math.abs(bar.length - (30 * Number(value)) / 100), label).toBeLessThanOrEqual(1);
      expect(bar, label).not.toBe('');
    }
    expect(stdout).toMatch(/^ {2}80 to \d+\.\d min /m);
    const drawn = [
      ...readFileSync(file, 'utf8').matchAll(/width="(\d+)" height="16"[^>]*\/>.*?>([\d.]+) %</g),
    ];
    expect(drawn).toHaveLength(rows.length);
    for (const [, width, value] of drawn) {
      expect(Math.abs(Number(width) - 3.2 * Number(value))).toBeLessThanOrEqual(1);
    }
  });

  test('a plot is written that says in words what it shows', async () => {
    const shell = makeShell({ 'agent_workflow.yaml': WORKFLOW.replace('label: Yes', 'label: "<Yes>"') });
    const file = join(shell.root, 'plot.svg');

    const { code, stderr } = await shell.call(['simulate', 'w', '--pass', 'A=0', '--plot', file]);

    const svg = readFileSync(file, 'utf8');
    expect(code).toBe(0);
    expect(stderr).toBe(`wrote ${file}\n`);
    expect(svg).toContain('<title>w: 1000 runs simulated with 1 agent, seed 1</title>');
    expect(svg).toContain('Where runs get stuck: A: escalated 100 %.</desc>');
    expect(svg).toContain('no run came to an end');
    expect((await shell.call(['simulate', 'w', '--plot', join(shell.root, 'no', 'x.svg')])).code).toBe(2);
  });
});

test.runIf(FULL)('recorded runs say how likely attempts are to pass and what humans choose', async () => {
  const shell = makeShell({ 'agent_workflow.yaml': WORKFLOW });
  await shell.callAs('correct horse', ['humans', 'add', 'maria']);
  await shell.callAs('correct horse', ['trust', 'w', '--yes']);
  for (const sizes of [['small'], ['large', 'small'], ['large', 'large']]) await play(shell, sizes);

  const { stdout } = await shell.call(['simulate', 'w']);
  const given = await shell.call(['simulate', 'w', '--pass', 'A=1']);
  shell.write('agent_workflow.yaml', WORKFLOW.replace('Good?', 'Better?'));
  const changed = await shell.call(['simulate', 'w']);

  expect(stdout).toContain('rates from 3 recorded runs');
  expect(stdout).toMatch(/^A +1 +33\.3 %, then 50 % +5 recorded /m);
  expect(stdout).toMatch(/^ {2}recorded +at the gate: Yes 100 % \(2 recorded\) +B$/m);
  expect(stdout).toMatch(/^ {2}recorded +nobody resumes an escalated run \(1 recorded\) +A$/m);
  expect(given.stdout).toMatch(/^A +1 +100 % +given /m);
  expect(changed.stdout).toContain('note: 3 of 3 recorded runs are of another version of the workflow');
});

describe('what is wrong is said at once, with exit code 2', () => {
  test.each([
    [['--agents', '0'], '`--agents` is a whole number from 1 to 100000, not `0`'],
    [['--agents', 'many'], '`--agents` is a whole number'],
    [['--agents', '1e3'], '`--agents` is a whole number'],
    [['--runs', '0'], '`--runs` is a whole number from 1 to 1000000, not `0`'],
    [['--pass', 'A'], '`--pass A` is not of the form `PHASE=RATE`'],
    [['--pass', 'A='], 'is not of the form'],
    [['--pass', 'A=1.5'], '`--pass`: `pass` is a share from 0 to 1, not `1.5`'],
    [['--pass', 'Q=1'], '`--pass`: there is no phase `Q`'],
    [['--pass', 'A=0.1', '--pass', 'A=0.2'], '`--pass A` is given twice'],
    [['--rates', 'nowhere.yaml'], '`nowhere.yaml` cannot be read: there is no such file or folder'],
  ])('%j', async (words, message) => {
    const shell = makeShell({ 'agent_workflow.yaml': WORKFLOW });

    const { code, stderr } = await shell.call(['simulate', 'w', ...words]);

    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  test('words and file together', async () => {
    const rates = 'phases:\n  A: { pass: 2 }\n  C: {}\n';
    const shell = makeShell({ 'agent_workflow.yaml': WORKFLOW, 'rates.yaml': rates });
    const file = join(shell.root, 'rates.yaml');

    const { code, stderr } = await shell.call([
      'simulate',
      'w',
      '--agents',
      '0',
      '--runs',
      '-1',
      '--rates',
      file,
    ]);
    const dashed = await shell.call(['simulate', 'w', '--agents', '0', '--pass', 'X=1', '--rates', file]);

    expect(code).toBe(2);
    expect(stderr).toContain('`--runs` needs a value');
    expect(dashed.stderr).toContain('not `0`; `--pass`: there is no phase `X`; ');
    expect(dashed.stderr).toContain('rates.yaml:2:14: `pass` is a share from 0 to 1, not `2`');
    expect(dashed.stderr).toContain('rates.yaml:3:3: there is no phase `C`');
  });

  test('an empty file of rates holds none', async () => {
    const shell = makeShell({ 'agent_workflow.yaml': WORKFLOW, 'rates.yaml': '' });

    const { code, stderr } = await shell.call(['simulate', 'w', '--rates', join(shell.root, 'rates.yaml')]);

    expect(code).toBe(2);
    expect(stderr).toContain('rates.yaml:1:1: the file is empty');
  });
});

test('the guide prints what the command prints', async () => {
  const guide = readFileSync(join(ROOT, 'docs/guide/simulate.md'), 'utf8');
  const rates = /```yaml\n(phases:[^`]*)```/.exec(guide)?.[1] ?? '';
  const shown = [...guide.matchAll(/```console\n\$ phasegate ([^\n]*)\n([^`]*)```/g)];
  expect(shown).toHaveLength(2);

  for (const [, words = '', output] of shown) {
    const shell = makeShell({ 'rates.yaml': rates });
    const called = words.split(' ').map((word) => (word === 'rates.yaml' ? join(shell.root, word) : word));
    const { stdout } = await shell.call([...called, '--project', join(ROOT, 'examples/tdd')]);

    expect(stdout).toBe(output);
  }
});

/** A run in which these sizes are handed in one after another, and a human says yes. */
async function play(shell: Shell, sizes: readonly string[]): Promise<void> {
  const run = String((await shell.call(['start', 'w', '--json'])).json().run);
  let status = '';
  for (const size of sizes) {
    const done = await shell.call(['done', run, '--evidence', '-', '--json'], JSON.stringify({ size }));
    status = done.stdout;
  }
  if (status.includes('escalated')) return;
  await shell.call(['done', run, '--evidence', '-', '--json'], '{}');
  const yes = ['decide', run, '--option', 'Yes', '--shown', await shell.shown(run)];
  const decided = await shell.callAs('correct horse', yes);
  expect(decided.code).toBe(0);
}

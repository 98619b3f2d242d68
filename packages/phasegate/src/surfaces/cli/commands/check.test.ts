import { expect, test } from 'vitest';
import { makeShell } from '../fixtures/callCli.ts';

const YAML = (skip: string) => `workflow: w
gates:
  approval:
    human: { prompt: Good?, required: true, options: [{ label: Yes }, { label: Again, next: A }] }
properties:
  - { name: built first, before: [A, B] }
phases:
  A:
    required_artifacts: [{ type: size }]
    next: { condition: "size === 'small'", on_true: ${skip}, on_false: B }
  B:
    gate: approval
    next: null
`;

test('check finds the way around a required gate and exits 1; the mended workflow exits 0 [S2.85]', async () => {
  const flawed = makeShell({ 'agent_workflow.yaml': YAML('null') });
  const mended = makeShell({ 'agent_workflow.yaml': YAML('B') });

  const found = await flawed.call(['check', 'w']);
  const json = await flawed.call(['check', 'w', '--json']);
  const clean = await mended.call(['check', 'w']);

  expect(found.code).toBe(1);
  expect(found.stdout).toContain('error required_gate_bypassed: ');
  expect(found.stdout).toContain('  2. complete `A`, its condition is true → the end');
  expect(json.json()).toMatchObject({
    clean: false,
    bound: null,
    findings: [{ code: 'required_gate_bypassed' }],
  });
  expect(clean.code).toBe(0);
  expect(clean.stdout).toMatch(
    /^w: nothing wrong; \d+ states and \d+ transitions explored, all that can be reached/,
  );
});

test('a bound that is reached is said, and is not a pass', async () => {
  const shell = makeShell({ 'agent_workflow.yaml': YAML('B') });

  const { code, stdout } = await shell.call(['check', 'w', '--max-states', '2']);

  expect(code).toBe(1);
  expect(stdout).toContain('error bound_reached');
  expect(stdout).toContain('bound of 2 states reached');
});

test.each(['0', '1.5', 'many'])('`--max-states %s` is wrong usage', async (given) => {
  const shell = makeShell({ 'agent_workflow.yaml': YAML('B') });

  expect((await shell.call(['check', 'w', '--max-states', given])).code).toBe(2);
});

test('a property that names nothing is reported where it stands', async () => {
  const shell = makeShell({ 'agent_workflow.yaml': YAML('B').replace('[A, B]', '[A, C]') });

  const { code, stdout } = await shell.call(['validate']);

  expect(code).toBe(2);
  expect(stdout).toMatch(/^agent_workflow\.yaml:6:38: .*`C`, which is no phase and no human gate/m);
});

test('a property with two kinds, and one without a name, are reported', async () => {
  const two = YAML('B').replace('before: [A, B]', 'always: A, never: B');
  const nameless = YAML('B').replace('name: built first, ', '');

  for (const text of [two, nameless]) {
    expect((await makeShell({ 'agent_workflow.yaml': text }).call(['validate'])).code).toBe(2);
  }
});

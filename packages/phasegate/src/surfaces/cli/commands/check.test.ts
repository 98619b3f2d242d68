import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { openLocalProject } from '../../../localProject.ts';
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

test('check finds the way around a required gate and exits 1; the fixed workflow exits 0 [S2.85]', async () => {
  const flawed = makeShell({ 'agent_workflow.yaml': YAML('null') });
  const fixed = makeShell({ 'agent_workflow.yaml': YAML('B') });

  const found = await flawed.call(['check', 'w']);
  const json = await flawed.call(['check', 'w', '--json']);
  const clean = await fixed.call(['check', 'w']);

  expect(found.code).toBe(1);
  expect(found.stdout).toContain('error required_gate_bypassed: ');
  expect(found.stdout).toContain('  2. complete `A`, its condition is true → the end');
  expect(json.json()).toMatchObject({
    clean: false,
    bound: null,
    findings: [{ code: 'required_gate_bypassed' }, { code: 'claims_alone', severity: 'note' }],
  });
  expect(clean.code).toBe(0);
  expect(clean.stdout).toMatch(
    /^w: nothing wrong; \d+ states and \d+ transitions explored, all that can be reached/,
  );
});

test('a workflow that rests on claims alone is named, and passes with a note', async () => {
  const text = 'workflow: w\nphases:\n  A: { required_artifacts: [{ type: report }], next: null }\n';
  const shell = makeShell({ 'agent_workflow.yaml': text });

  const { code, stdout } = await shell.call(['check', 'w']);

  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^agent_workflow\.yaml:3:3: note claims_alone: a run gets from start to end by phase `A` on /,
  );
  expect(stdout).toMatch(/^w: nothing wrong, 1 note; /m);
});

test('a bound that is reached is said, and is not a pass', async () => {
  const shell = makeShell({ 'agent_workflow.yaml': YAML('B') });

  const { code, stdout } = await shell.call(['check', 'w', '--max-states', '2']);

  expect(code).toBe(1);
  expect(stdout).toContain('error bound_reached');
  expect(stdout).toContain('bound of 2 states reached');
});

test('a bound of one state is said in words for one, and names no key that the file spells otherwise', async () => {
  const shell = makeShell({ 'agent_workflow.yaml': YAML('B') });

  const { stdout } = await shell.call(['check', 'w', '--max-states', '1']);

  expect(stdout).toContain(
    'looking ended after 1 state, so nothing is proven about the rest: raise the bound, let loops go back less often or give params fewer values',
  );
  expect(stdout).toMatch(/; 1 state and \d+ transitions? explored, bound of 1 state reached$/m);
});

test.each(['0', '1.5', 'many'])('`--max-states %s` is wrong usage', async (given) => {
  const shell = makeShell({ 'agent_workflow.yaml': YAML('B') });

  expect((await shell.call(['check', 'w', '--max-states', given])).code).toBe(2);
});

test('a property that names nothing is said where it stands, and nothing is walked', async () => {
  const shell = makeShell({ 'agent_workflow.yaml': YAML('B').replace('[A, B]', '[A, C]') });

  const checked = await shell.call(['check', 'w']);
  const validated = await shell.call(['validate']);

  const told = /agent_workflow\.yaml:6:38: .*`C`, which is not a phase and no human gate/;
  expect(checked.code).toBe(2);
  expect(checked.stderr).toMatch(told);
  expect(checked.stdout).toBe('');
  expect(validated.code).toBe(2);
  expect(validated.stdout).toMatch(told);
});

test.each([
  ['infinite_domain', '{ type: integer, min: 0, default: 1 }', /give it `choices` or.*`min` and `max`/],
  [
    'huge_product',
    '{ type: integer, min: 0, max: 999999999999, default: 1 }',
    /1000000000000 values.*fewer values/,
  ],
])('%s: a param that cannot be tried is told with its place and what to change', async (code, n, change) => {
  const text = `workflow: w
params:
  known: { type: boolean, default: true }
  n: ${n}
phases:
  A: { next: { condition: params.n > 5, on_true: B, on_false: null }, postconditions: [{ check: files, with: { exist: [a] } }] }
  B: { next: null }
`;
  const shell = makeShell({ 'agent_workflow.yaml': text });

  const { code: exit, stdout } = await shell.call(['check', 'w']);
  const json = (await shell.call(['check', 'w', '--json'])).json();

  expect(exit).toBe(0);
  expect(stdout).toMatch(new RegExp(`^agent_workflow\\.yaml:4:3: note ${code}: param \`n\` `, 'm'));
  expect(stdout).toMatch(change);
  expect(json).toMatchObject({
    clean: true,
    findings: [{ code, severity: 'note', file: 'agent_workflow.yaml', line: 4, column: 3 }],
  });
});

test('a finding names the file, and the line of its phase or property, in maps and in lists', async () => {
  const listed = `workflow: w
phases:
  - id: A
    required_artifacts: [{ type: go, schema: { type: boolean } }]
    next: { condition: go === true, on_true: B, on_false: null }
  - id: B
properties:
  - { name: built, always: B }
`;
  const shell = makeShell({ 'agent_workflow.yaml': listed });

  expect((await shell.call(['check', 'w'])).stdout).toMatch(
    /^agent_workflow\.yaml:8:5: error property_broken: /,
  );
  const gated = makeShell({ 'agent_workflow.yaml': YAML('null') });
  expect((await gated.call(['check', 'w'])).stdout).toMatch(
    /^agent_workflow\.yaml:11:3: error required_gate_bypassed: /,
  );
});

const CODE = `import { defineWorkflow } from '@phasegate/sdk';
const small = "size === 'small'";
export default defineWorkflow({
  type: 'w',
  name: 'W',
  initialStep: 'a',
  steps: [
    {
      name: 'a',
      requiredArtifacts: [{ type: 'size' }],
      next: { condition: small, onTrue: null, onFalse: 'b' },
    },
    {
      name: 'b',
      humanGate: { prompt: 'Good?', required: true, options: [{ label: 'Yes' }] },
      next: null,
    },
  ],
});
`;

test('a finding names the line of its phase in TypeScript too', async () => {
  const shell = makeShell({ 'w.workflow.ts': CODE });

  const { stdout } = await shell.call(['check', 'w']);

  expect(stdout).toMatch(/^w\.workflow\.ts:13:5: error required_gate_bypassed: /);
});

test('a finding names the file of its phase in Markdown', async () => {
  const shell = makeShell();
  mkdirSync(join(shell.root, 'workflows/w/phases/1'), { recursive: true });
  shell.write('workflows/w/metadata.json', '{ "workflow_type": "w", "total_phases": 1 }');
  shell.write('workflows/w/phases/1/phase.md', '# One\n\nWork.\n');
  const blocker = '{ check: expression, with: { condition: result.done === true }, message: not done }';
  shell.write(
    'workflows/w/phases/1/gate-definition.yaml',
    `evidence_schema:\n  done: { type: boolean }\nblockers: [${blocker}]\n`,
  );

  const { findings } = (await shell.call(['check', 'w', '--json'])).json();

  expect(findings).toMatchObject([{ code: 'claims_alone', file: 'workflows/w/phases/1/phase.md', line: 1 }]);
});

test('places are those of the text that was loaded, whatever the file holds by now', async () => {
  const shell = makeShell({ 'agent_workflow.yaml': YAML('B') });
  const { catalog } = await openLocalProject({ projectDir: shell.root, env: shell.env });
  const { placeOf } = await catalog.load('w');

  shell.write('agent_workflow.yaml', `\n\n\n${YAML('B')}`);

  expect(placeOf({ kind: 'phase', name: 'B' })).toEqual({ file: 'agent_workflow.yaml', line: 11, column: 3 });
  expect(placeOf({ kind: 'property', name: 'built first' })).toMatchObject({ line: 6, column: 5 });
});

describe('a workflow that takes phases from a source', () => {
  const example = fileURLToPath(new URL('../../../../../../examples/spec-execution', import.meta.url));
  const check = (...words: readonly string[]) =>
    makeShell().call(['check', 'spec_execution_v1', ...words, '--project', example]);

  test('is walked with them where the source is named as for `start`', async () => {
    const fixed = await check('--json');
    const started = await check('--json', '--param', 'spec_path=specs/payments-retry');

    expect(fixed.json()).toMatchObject({ clean: true, findings: [{ code: 'source_not_read' }] });
    expect(started.code).toBe(0);
    expect(started.json()).toMatchObject({ clean: true, findings: [{ code: 'claims_alone' }] });
    expect(Number(started.json().states)).toBeGreaterThan(Number(fixed.json().states));
  });

  test('says in words that only the fixed phases were walked', async () => {
    const { code, stdout } = await check();

    expect(code).toBe(0);
    expect(stdout).toMatch(
      /metadata\.json: note source_not_read: only the phases that are fixed were walked/,
    );
  });

  test.each([
    ['spec_path=specs/none', /specs\/none/],
    ['spec_paht=specs/payments-retry', /no param `spec_paht` \(did you mean `spec_path`\?\)/],
  ])('refuses `--param %s` instead of walking something else', async (param, told) => {
    const { code, stderr, stdout } = await check('--param', param);

    expect(code).toBe(2);
    expect(stderr).toMatch(told);
    expect(stdout).toBe('');
  });
});

test('a property with two kinds, and one without a name, are reported', async () => {
  const two = YAML('B').replace('before: [A, B]', 'always: A, never: B');
  const nameless = YAML('B').replace('name: built first, ', '');

  for (const text of [two, nameless]) {
    expect((await makeShell({ 'agent_workflow.yaml': text }).call(['validate'])).code).toBe(2);
  }
});

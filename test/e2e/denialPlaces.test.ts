import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@phasegate/core';
import { expect, test } from 'vitest';
import { makeProject, phasegate, type TestProject } from './cli.ts';

const YAML = `workflow: lab
phases:
  PLAN:
    allowed_tools: [read_files, write_files]
    writes: ["docs/**"]
    postconditions:
      - { check: files, with: { absent: [docs/gone.txt] }, message: docs/gone.txt must go }
    next: LATER-SECRET
  LATER-SECRET:
    preconditions:
      - { check: files, with: { exist: [ready.txt] }, message: it must be ready }
`;

const TYPESCRIPT = `import { Outcome, StepDef, Workflow } from '@phasegate/sdk';
export const WORKFLOW = Workflow(
  'lab',
  StepDef({
    id: 'plan',
    title: 'Plan',
    actions: ['Plan it'],
    next: { [Outcome.OK]: null },
  }),
);
`;

const MARKDOWN = {
  'workflows/lab/metadata.json': '{ "workflow_type": "lab", "total_phases": 2 }',
  'workflows/lab/phases/0/phase.md': '# Phase 0: Plan\n\nPlan it.\n',
  'workflows/lab/phases/1/phase.md': '# Phase 1: Do\n\nDo it.\n',
};

test('a refused phase names each rule, its line as it was when the run began, and how to ask a human', async () => {
  const { project, run } = await begun({ 'agent_workflow.yaml': YAML, 'docs/gone.txt': '' });
  // Lines that move later are not those the run is held to.
  project.write('agent_workflow.yaml', `# moved\n\n\n${YAML}`);
  project.write('stray.txt', 's');

  const outside = await done(project, run);
  rmSync(join(project.root, 'stray.txt'));
  project.write('agent_workflow.yaml', YAML);
  const failed = await done(project, run);
  rmSync(join(project.root, 'docs/gone.txt'));
  const text = await phasegate(project, ['done', run, '--evidence', '-'], { stdin: '{}' });

  expect(outside.json.ask).toBe(`phasegate blocked ${run} --reason TEXT`);
  expect(rules(outside.json)).toContainEqual(['writes', 'agent_workflow.yaml:5']);
  expect(rules(failed.json)).toContainEqual(['postconditions.0', 'agent_workflow.yaml:7']);
  expect(text.stdout).toContain('rule: preconditions.0, agent_workflow.yaml:11');
  expect(text.stdout).toContain('to ask a human: phasegate blocked');
});

test('the place of a rule tells nothing of the phases to come', async () => {
  const { project, run } = await begun({ 'agent_workflow.yaml': YAML });

  const { stdout } = await phasegate(project, ['audit', 'export', '--run', run]);
  const [first = ''] = stdout.split('\n');
  const { places } = (JSON.parse(first) as { data: JsonObject }).data;

  expect(JSON.stringify(places)).not.toMatch(/SECRET|ready/);
  expect(places).toMatchObject([
    { phase: 'agent_workflow.yaml:3', allowed_tools: 4, writes: 5, 'postconditions.0': 7 },
    { phase: 'agent_workflow.yaml:9', 'preconditions.0': 11 },
  ]);
});

test.each([
  ['TypeScript', { 'lab.workflow.ts': TYPESCRIPT }, /^lab\.workflow\.ts:\d+$/],
  ['Markdown', MARKDOWN, /^workflows\/lab\/.+:\d+$/],
])('a phase written in %s has its place told, too', async (_, files, place) => {
  const { project, run } = await begun(files);
  project.write('stray.txt', 's');

  const { json } = await done(project, run);

  expect(json).toMatchObject({ error: 'scope_violation', blockers: [{ rule: 'writes' }] });
  expect((json.blockers as readonly JsonObject[])[0]?.rule_at).toMatch(place);
});

async function begun(files: Readonly<Record<string, string>>) {
  const project = makeProject(files);
  const { json, stderr } = await phasegate(project, ['start', 'lab', '--json']);
  expect(stderr).toBe('');
  return { project, run: String(json.run) };
}

function done(project: TestProject, run: string) {
  return phasegate(project, ['done', run, '--evidence', '-', '--json'], { stdin: '{}' });
}

function rules({ blockers }: JsonObject): readonly unknown[] {
  return (blockers as readonly JsonObject[]).map(({ rule, rule_at }) => [rule, rule_at]);
}

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { makeShell } from '../fixtures/callCli.ts';

const FOLDER = {
  'metadata.json': JSON.stringify({ workflow_type: 'survey', total_phases: 2 }),
  'phases/1/phase.md': '# Look\n\nLook around.\n',
  'phases/1/task-1.md': 'Look to the north.\n',
  'phases/1/gate-definition.yaml':
    'evidence_schema:\n  hills: { type: integer, description: how many there are }\n  notes: { type: string, required: false }\n',
  'phases/2/phase.md': '# Write\n\nWrite it down.\n',
  'phases/2/task-1.md': 'Write.\n',
  'phases/2/gate-definition.yaml': 'evidence_schema:\n  pages: { type: list }\n',
};

test('the text of a phase written in Markdown is followed by the evidence it asks for', async () => {
  const shell = makeShell();
  for (const [path, text] of Object.entries(FOLDER)) {
    const file = join(shell.root, 'workflows/survey', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const run = String((await shell.call(['start', 'survey', '--json'])).json().run);

  const { stdout } = await shell.call(['next', run]);
  await shell.call(['task', run, '1', '1']);
  const done = await shell.call(['done', run, '--evidence', '-'], '{"hills":3}');

  expect(stdout).toContain('Look around.');
  expect(stdout).toMatch(/Evidence to submit:\n- `hills` \(int\): how many there are\n- `notes`/);
  expect(done.stdout).toMatch(/now in phase 2[\s\S]*Evidence to submit:\n- `pages` \(list\)/);
});

test('a run that is over is said to be over once', async () => {
  const shell = makeShell({ 'w.workflow.yaml': 'workflow: w\nphases:\n  A: {}\n' });
  const run = String((await shell.call(['start', 'w', '--json'])).json().run);
  await shell.call(['done', run]);

  expect((await shell.call(['next', run])).stdout).toBe('the run is completed\n');
});

test('what the text of a phase lists already is not listed twice', async () => {
  const shell = makeShell({
    'agent_workflow.yaml':
      'workflow: w\nphases: { A: { instructions: Plan., required_evidence: { plan: { type: str } } } }\n',
  });
  const run = String((await shell.call(['start', 'w', '--json'])).json().run);

  const { stdout } = await shell.call(['next', run]);

  expect(stdout.split('Evidence to submit:')).toHaveLength(2);
});

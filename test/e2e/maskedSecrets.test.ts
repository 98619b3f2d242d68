import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeProject, phasegate, startRun } from './cli.ts';

const SECRET = `sk-ant-api03-${'a1B'.repeat(20)}`;
const WORKFLOW = `workflow: report
phases:
  WRITE:
    instructions: Report.
    required_artifacts: [{ type: note, schema: { type: object } }]
    gate:
      human:
        prompt: Publish?
        options: [{ label: Publish }, { label: Drop, next: null }]
`;

test('a secret that an agent hands in is in no answer, card, audit or file of the state', async () => {
  const project = makeProject({
    'report.workflow.yaml': WORKFLOW,
    'phasegate.config.yaml': 'secrets: ["BADGE-[0-9]+"]\n',
  });
  const run = await startRun(project, 'report');
  const evidence = { note: { text: `the key is ${SECRET}, the badge BADGE-123456` } };

  const done = await phasegate(project, ['done', run, '--evidence', '-', '--json'], {
    stdin: JSON.stringify(evidence),
  });
  const shown = await phasegate(project, ['status', run, '--json']);
  const audit = await phasegate(project, ['audit', 'export', run]);

  expect(done.code).toBe(0);
  for (const { stdout } of [done, shown, audit]) {
    expect(stdout).not.toContain(SECRET);
    expect(stdout).not.toContain('BADGE-123456');
  }
  const kept = ['state.db', 'state.db-wal'].map((name) => contentOf(join(project.stateDir, name))).join('');
  expect(kept).not.toContain(SECRET);
  expect(kept).toMatch(/the key is masked-[0-9a-f]{16}-73chars, the badge masked-[0-9a-f]{16}-12chars/);
  expect((await phasegate(project, ['audit', 'verify'])).code).toBe(0);
});

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openLocalProject } from '../../localProject.ts';

const SOURCE = `import { defineWorkflow } from '@phasegate/sdk';

export default defineWorkflow({
  type: 'declared',
  params: { book: { type: 'string' } },
  steps: [
    {
      name: 'first',
      body: (ctx) => ['First', \`plan: \${ctx.artifacts.plan}, approved: \${ctx.approved.plan}, book: \${ctx.book}\`],
      preconditions: [
        {
          name: 'nothing_yet',
          check: (ctx) => ctx.artifacts.plan === null && ctx.approved.plan === null && ctx.checkpoint.gateDecision === null,
        },
      ],
      postconditions: [{ name: 'known', check: (ctx) => ctx.result.sure === true }],
    },
    {
      name: 'second',
      requiredArtifacts: ['plan'],
      preconditions: [{ name: 'own', check: (ctx) => ctx.plan === null && ctx.result === null }],
      humanGate: { prompt: 'Good?', options: [{ label: 'Yes' }] },
    },
  ],
});
`;

test('functions of a run know what its workflow declares: preconditions, postconditions and bodies', async () => {
  const base = mkdtempSync(join(tmpdir(), 'phasegate-declared-'));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const projectDir = mkdtempSync(join(base, 'project-'));
  writeFileSync(join(projectDir, 'declared.workflow.ts'), SOURCE);
  const env = { ...process.env, HOME: base, XDG_STATE_HOME: join(base, 'state') };
  const project = await (await openLocalProject({ projectDir, env })).open();
  onTestFinished(() => project.close());
  const agent = project.as({ kind: 'agent', name: 'local' });

  const started = await agent.start({ workflow: 'declared' });
  if (started.view === null) throw new Error(JSON.stringify(started.verdict));
  const run = started.view.run;
  const wrong = await agent.submit(run, { kind: 'complete', phase: 'first', evidence: { shure: true } });
  const right = await agent.submit(run, { kind: 'complete', phase: 'first', evidence: { sure: true } });

  expect(started.view.current?.content).toContain('plan: null, approved: null, book: null');
  expect(wrong.verdict).toMatchObject({
    allowed: false,
    blockers: [
      { message: expect.stringContaining('there is no `sure` in `ctx.result` (did you mean `shure`?)') },
    ],
  });
  expect(right.verdict).toMatchObject({ allowed: true });
  expect(right.view.current?.id).toBe('second');
});

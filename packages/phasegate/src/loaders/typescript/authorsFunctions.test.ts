import { mkdtempSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json, JsonObject, Phasegate } from '@phasegate/core';
import { expect, onTestFinished, test } from 'vitest';
import { openTestProject } from '../../runtime/fixtures/openTestProject.ts';

const CONDITIONS = `import { defineWorkflow } from '@phasegate/sdk';

const later = () => new Promise((resolve) => setImmediate(resolve));

export default defineWorkflow({
  type: 'asked',
  steps: [
    {
      name: 'work',
      instructions: 'Do it.',
      postconditions: [
        { name: 'known_at_once', check: (ctx) => ctx.result.atOnce, error: 'Not there at once' },
        { name: 'known_later', check: async (ctx) => (await later(), ctx.result.later), error: 'Not there later' },
      ],
    },
    { name: 'rest', instructions: 'Rest.', next: null },
  ],
});
`;

const HYBRID = `import { ChoiceSet, StepDef, Workflow } from '@phasegate/sdk';

const STATIC_STEPS = { 1: ['Clarify', 'Say what is asked'], 2: ['Abstract', 'Say what kind it is'], 4: ['Report', 'Say what came out'] };
const given = (ctx) => JSON.stringify([ctx.params.mode, ctx.params.confidence, ctx.iteration, Object.keys(ctx).sort()]);
const DYNAMIC_STEPS = { 3: (ctx) => ['Dispatch in ' + ctx.params.mode, given(ctx)], 5: (ctx) => ['Refine in ' + ctx.params.mode, given(ctx)] };

export const WORKFLOW = Workflow(
  'hybrid',
  ...Object.entries({ ...STATIC_STEPS, ...DYNAMIC_STEPS }).map(([id, body]) => StepDef({ id, body })),
  { params: { mode: new ChoiceSet(['full', 'quick']), confidence: new ChoiceSet(['exploring', 'certain']) } },
);
`;

test.each<readonly [string, JsonObject, readonly (readonly [string, string])[]]>([
  ['both hold', { atOnce: true, later: true }, []],
  [
    'the one that answers at once does not',
    { atOnce: false, later: true },
    [['check_failed', 'Not there at once']],
  ],
  [
    'the one that answers later does not',
    { atOnce: true, later: false },
    [['check_failed', 'Not there later']],
  ],
])(
  'conditions answer at once or later, each with its name and its error: %s [S3.15 C10]',
  async (_, evidence, failed) => {
    const agent = await open('asked.workflow.ts', CONDITIONS);
    const run = await start(agent, 'asked');
    const told = (await agent.view(run)).current?.content;

    const { verdict } = await agent.submit(run, { kind: 'complete', phase: 'work', evidence });

    expect(told).toContain('- known_at_once\n- known_later');
    expect(verdict.allowed).toBe(failed.length === 0);
    const blockers = verdict.allowed ? [] : verdict.blockers;
    expect(blockers.map(({ code, message }) => [code, message])).toEqual(failed);
    expect((await agent.view(run)).phase).toBe(failed.length === 0 ? 'rest' : 'work');
  },
);

test('most steps are a title and a text; the few that are made all get the same parameters [S4.47]', async () => {
  const agent = await open('hybrid.workflow.ts', HYBRID);
  const run = await start(agent, 'hybrid', { mode: 'full', confidence: 'certain' });
  const told: string[] = [];
  for (let phase = (await agent.view(run)).phase; phase !== null; phase = (await agent.view(run)).phase) {
    told.push((await agent.view(run)).current?.content ?? '');
    await agent.submit(run, { kind: 'complete', phase, evidence: {} });
  }

  expect(told.map((text) => text.split('\n')[0])).toEqual([
    '# Phase 1: Clarify',
    '# Phase 2: Abstract',
    '# Phase 3: Dispatch in full',
    '# Phase 4: Report',
    '# Phase 5: Refine in full',
  ]);
  for (const [at, text] of [
    [0, 'Say what is asked'],
    [1, 'Say what kind it is'],
    [3, 'Say what came out'],
  ] as const)
    expect(told[at]).toContain(text);
  const given = [told[2], told[4]].map(
    (text) => JSON.parse(/^\[.*\]$/m.exec(text ?? '')?.[0] ?? 'null') as Json,
  );
  expect(given[0]).toEqual(['full', 'certain', 1, expect.arrayContaining(['params', 'iteration'])]);
  expect(given[1]).toEqual(given[0]);
});

async function open(file: string, source: string): Promise<Phasegate> {
  const folder = mkdtempSync(join(tmpdir(), 'phasegate-authors-'));
  const root = join(folder, 'project');
  await mkdir(root);
  await writeFile(join(root, file), source);
  const project = await openTestProject({
    projectDir: root,
    env: { XDG_STATE_HOME: join(folder, 'state') },
  });
  const opened = await project.open();
  onTestFinished(async () => {
    await opened.close();
    await rm(folder, { recursive: true, force: true });
  });
  return opened.as({ kind: 'agent', name: 'local' });
}

async function start(agent: Phasegate, workflow: string, params: JsonObject = {}): Promise<string> {
  const { view, verdict } = await agent.start({ workflow, params });
  if (view === null) throw new Error(JSON.stringify(verdict));
  return view.run;
}

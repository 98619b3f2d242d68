import type { StandardsResult } from '@phasegate/core/ports';
import { afterEach, expect, test } from 'vitest';
import { errorsOf, type FolderProject, makeProject, messagesOf } from './fixtures/project.ts';
import { loadPhaseContent } from './indexedPhases.ts';

const START = { params: {}, target: null };

let project: FolderProject;
afterEach(() => project.remove());

test('a workflow without phase files takes content and evidence from the documentation when a run starts [S0.18 S0.58]', async () => {
  project = makeProject([
    passage(1, 'First, look.', []),
    passage(1, 'Must provide `function_count`, at least one', ['checkpoint']),
    passage(2, 'Then, write. Must provide `file_list`', ['evidence']),
  ]);
  await project.write({ 'workflows/demo/metadata.json': '{ "workflow_type": "demo", "total_phases": 2 }' });

  const loaded = await project.load(undefined, START);

  expect(errorsOf(loaded)).toEqual([]);
  expect(loaded.workflow?.phases).toMatchObject([
    {
      id: 1,
      content: { kind: 'text', text: 'First, look.\n\nMust provide `function_count`, at least one' },
      evidence: { fields: [{ name: 'function_count', type: 'int', rule: 'positive' }] },
    },
    { id: 2, evidence: { fields: [{ name: 'file_list', type: 'list' }] } },
  ]);
  expect(project.queries.filter(({ phase }) => phase === 1)).toEqual([
    { query: 'Phase 1 requirements commands checkpoint', phase: 1, workflow: 'demo', limit: 3 },
    {
      query: 'demo Phase 1 checkpoint requirements evidence',
      phase: 1,
      workflow: 'demo',
      tags: ['checkpoint', 'evidence'],
      limit: 3,
    },
    {
      query: 'demo Phase 1 evidence examples',
      phase: 1,
      workflow: 'demo',
      tags: ['example', 'evidence'],
      limit: 2,
    },
  ]);
});

test('examples of evidence are merged from every passage that has some [S0.57]', async () => {
  project = makeProject([
    passage(1, 'Must provide `function_count`\n\n```json\n{ "function_count": 1 }\n```', ['evidence']),
    passage(1, 'Must provide `name_list`\n\n```json\n{ "function_count": 3, "name_list": ["a"] }\n```', [
      'example',
      'evidence',
    ]),
  ]);
  await project.write({ 'workflows/demo/metadata.json': '{ "workflow_type": "demo", "total_phases": 1 }' });

  const { workflow } = await project.load(undefined, START);

  expect(workflow?.phases[0]?.evidence.examples).toEqual({ function_count: 3, name_list: ['a'] });
});

test('content has its number, sources and tokens, and nothing of another phase [S0.59 S0.60 S0.61]', async () => {
  project = makeProject([]);
  const [own, other] = [passage(1, 'Own', []), passage(2, 'Other', [])];
  const leaking = {
    search: async () => ({
      results: [own, other, { ...own, content: 'More', file: 'docs/more.md' }],
      totalTokens: 12,
      retrievalMethod: 'text',
      queryTimeMs: 0,
      lowConfidence: false,
    }),
    sync: () => Promise.reject(new Error('not asked')),
    served: async () => [],
    close: async () => {},
  };

  expect(await loadPhaseContent(leaking, 'demo', 1)).toEqual({
    phaseNumber: 1,
    content: 'Own\n\nMore',
    sources: ['docs/1.md', 'docs/more.md'],
    totalTokens: 12,
  });
});

test.each([
  [[], 'no_content'],
  [[passage(1, 'Just do it', ['checkpoint'])], 'no_requirements'],
  [[passage(1, 'Required: something', ['checkpoint'])], 'unknown_field'],
])(
  'what the documentation does not say is an error and never a phase that asks for nothing [C19]',
  async (passages, code) => {
    project = makeProject(passages);
    await project.write({ 'workflows/demo/metadata.json': '{ "workflow_type": "demo", "total_phases": 1 }' });

    const loaded = await project.load(undefined, START);

    expect(loaded.workflow).toBeNull();
    expect(errorsOf(loaded).join()).toContain(code);
  },
);

test('without a run nothing is looked up: there are the phases that metadata.json names, and a note', async () => {
  project = makeProject([]);
  await project.write({
    'workflows/demo/metadata.json': JSON.stringify({
      workflow_type: 'demo',
      phases: [
        { phase_number: 0, phase_name: 'Look' },
        { phase_number: 1, purpose: 'Write it' },
      ],
    }),
  });

  const loaded = await project.load();

  expect(loaded.workflow?.phases.map(({ id, name }) => [id, name])).toEqual([
    [0, 'Look'],
    [1, 'Phase 1'],
  ]);
  expect(messagesOf(loaded, 'indexed_content').length).toBe(1);
  expect(project.queries).toEqual([]);
});

function passage(phase: number, content: string, tags: readonly string[]): StandardsResult {
  const file = `docs/${phase}.md`;
  return { content, file, line: 1, title: '', section: '', relevanceScore: 1, tokens: 4, tags, phase };
}

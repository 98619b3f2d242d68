import { UNFINISHED_STATUSES } from '@phasegate/core/contract';
import { describe, expect, test } from 'vitest';
import { connect, ERAS, makeTestBed } from './fixtures/connect.ts';
import { ERRAND, GATED } from './fixtures/workflows.ts';
import type { McpParts } from './tool.ts';
import { TOOLS } from './toolTable.ts';

const FILES = {
  'errand.workflow.yaml': ERRAND,
  'gated.workflow.yaml': GATED,
  'bad.workflow.yaml': 'workflow: bad\nphases: { A: { next: B } }\n',
  'throws.workflow.ts':
    "throw new Error('run by a listing');\nexport default defineWorkflow({ type: 'throws', name: 'Throws', steps: [] });\n",
};

describe.each(ERAS)('in the %s era', (era) => {
  test('workflows are listed with what starting one needs, and no code is run', async () => {
    const bed = await makeTestBed(FILES);
    const { call } = await connect(bed.parts(), { era });

    const { workflows } = await call('list_workflows');

    expect(workflows).toEqual(
      expect.arrayContaining([
        {
          id: 'errand',
          title: 'Run an errand',
          description: 'There and back',
          params: { mode: { type: 'string', required: false, choices: ['quick', 'full'], default: 'full' } },
          phases: 3,
        },
        expect.objectContaining({ id: 'gated', phases: 2 }),
        expect.objectContaining({ id: 'bad', problem: expect.stringContaining('bad.workflow.yaml:2') }),
      ]),
    );
    expect(JSON.stringify(workflows)).not.toMatch(/Look around|run by a listing/);
  });

  test('what a param may be is listed with it', async () => {
    const params =
      '{ n: { type: integer, min: 1, max: 5 }, share: { type: number, min: 0.5 }, fixed: { constant: 7 } }';
    const bed = await makeTestBed({
      'bounded.workflow.yaml': `workflow: bounded\nparams: ${params}\nphases: { A: {} }\n`,
    });
    const { call } = await connect(bed.parts(), { era });

    expect(await call('list_workflows')).toMatchObject({
      workflows: [
        { params: { n: { min: 1, max: 5 }, share: { type: 'number', min: 0.5 }, fixed: { constant: 7 } } },
      ],
    });
  });

  test('every workflow is a prompt that asks the agent to start it', async () => {
    const bed = await makeTestBed(FILES);
    const { client } = await connect(bed.parts(), { era });

    const { prompts } = await client.listPrompts();
    const { messages } = await client.getPrompt({
      name: 'errand',
      arguments: { target_file: 'town "x".md' },
    });

    expect(prompts.map(({ name }) => name)).toEqual(expect.arrayContaining(['errand', 'gated']));
    expect(messages).toEqual([
      {
        role: 'user',
        content: {
          type: 'text',
          text: expect.stringContaining(
            'start_workflow(workflow_type="errand", target_file="town \\"x\\".md")',
          ),
        },
      },
    ]);
    await expect(client.getPrompt({ name: 'errant' })).rejects.toThrow('`errant` (did you mean `errand`?)');
  });

  test("the current phase of each of the agent's runs is a resource", async () => {
    const bed = await makeTestBed(FILES);
    const { client, call } = await connect(bed.parts(), { era });
    const other = await connect(bed.parts({ kind: 'agent', name: 'other' }), { era });
    const { session_id } = await call('start_workflow', { workflow_type: 'errand' });
    const uri = `phasegate://runs/${String(session_id)}/phase`;

    const { resources } = await client.listResources();
    const { contents } = await client.readResource({ uri });

    expect(resources.map((resource) => resource.uri)).toEqual([uri]);
    expect(contents).toMatchObject([{ uri, mimeType: 'text/markdown' }]);
    expect(JSON.stringify(contents)).toContain('Look around first');
    expect(JSON.stringify(contents)).not.toContain('then go');
    expect((await client.listResourceTemplates()).resourceTemplates).toMatchObject([
      { uriTemplate: 'phasegate://runs/{id}/phase' },
    ]);
    expect((await other.client.listResources()).resources).toEqual([]);
    await expect(other.client.readResource({ uri })).rejects.toThrow(uri);
    await expect(client.readResource({ uri: 'phasegate://runs/none/phase' })).rejects.toThrow();
  });

  test('only what the agent holds is looked for when its resources are listed [S2.81]', async () => {
    const bed = await makeTestBed(FILES);
    const parts = bed.parts();
    const asked: unknown[] = [];
    const runs: McpParts['phasegate']['runs'] = (query) => {
      asked.push(query);
      return parts.phasegate.runs(query);
    };
    const { client } = await connect({ ...parts, phasegate: { ...parts.phasegate, runs } }, { era });

    await client.listResources();

    expect(asked).toEqual(
      UNFINISHED_STATUSES.map((status) => ({ status, held: true, limit: expect.any(Number) })),
    );
  });

  test('clients are told what a tool does and what comes back', async () => {
    const bed = await makeTestBed(FILES);
    const { client } = await connect(bed.parts(), { era });

    const { tools } = await client.listTools();

    expect(tools.map(({ name }) => name)).toEqual(TOOLS.map(({ name }) => name));
    for (const tool of tools) {
      expect(tool, tool.name).toMatchObject({
        inputSchema: { type: 'object' },
        outputSchema: { type: 'object' },
        annotations: { readOnlyHint: expect.any(Boolean), openWorldHint: expect.any(Boolean) },
      });
      expect(tool.description?.length, tool.name).toBeLessThan(2000);
    }
    expect(tools.filter(({ annotations }) => annotations?.readOnlyHint).map(({ name }) => name)).toEqual([
      'list_workflows',
      'get_workflow_state',
      'get_current_phase',
      'get_phase',
      'search_standards',
      'read_more',
    ]);
    expect(tools.filter(({ _meta }) => _meta?.['anthropic/alwaysLoad']).map(({ name }) => name)).toEqual([
      'list_workflows',
      'start_workflow',
      'get_current_phase',
      'complete_phase',
    ]);
    expect(client.getInstructions()?.length).toBeLessThan(2000);
    expect(client.getInstructions()).toContain('next_action');
  });

  test('a server for one run needs no session_id and serves no other', async () => {
    const bed = await makeTestBed(FILES);
    const free = await connect(bed.parts(), { era });
    const { session_id } = await free.call('start_workflow', { workflow_type: 'errand' });
    const { session_id: elsewhere = '' } = await free.call('start_workflow', { workflow_type: 'gated' });
    const { client, call } = await connect(bed.parts(undefined, String(session_id)), { era });

    expect(await call('get_current_phase')).toMatchObject({ session_id, phase: 'LOOK' });
    expect(await call('start_workflow', { workflow_type: 'errand' })).toMatchObject({
      session_id,
      resumed: true,
    });
    expect(await call('start_workflow', { workflow_type: 'gated' })).toMatchObject({ error: 'not_your_run' });
    expect(await call('get_workflow_state', { session_id: elsewhere })).toMatchObject({
      error: 'not_your_run',
    });
    expect((await client.listResources()).resources).toHaveLength(1);
    await expect(
      client.readResource({ uri: `phasegate://runs/${String(elsewhere)}/phase` }),
    ).rejects.toThrow();
  });
});

test('search takes its arguments as agents write them', async () => {
  const bed = await makeTestBed(FILES);
  const queries: object[] = [];
  const { call } = await connect(
    {
      ...bed.parts(),
      standards: {
        search: async (query) => {
          queries.push(query);
          const tags = ['a'];
          const found = { content: 'Text', file: 'a.md', line: 3, title: 'A', section: 'S', phase: null };
          return {
            results: [{ ...found, tags, relevanceScore: 0.5, tokens: 1 }],
            totalTokens: 1,
            retrievalMethod: 'bm25',
            queryTimeMs: 2,
            lowConfidence: true,
            hint: 'try terms',
          };
        },
        sync: bed.project.standards.sync,
        served: bed.project.standards.served,
        close: async () => undefined,
      },
    },
    { era: 'legacy' },
  );

  const answer = await call('search_standards', {
    query: 'how to test',
    terms: 'vitest, unit test',
    n_results: '3',
    filter_phase: '2',
    filter_tags: ['a'],
  });
  await call('search_standards', { query: 'x', n_results: 1e9 });

  expect(answer).toEqual({
    results: [{ content: 'Text', file: 'a.md', line: 3, section: 'S', relevance_score: 0.5, tokens: 1 }],
    total_tokens: 1,
    retrieval_method: 'bm25',
    query_time_ms: 2,
    low_confidence: true,
    hint: 'try terms',
  });
  expect(queries).toEqual([
    { query: 'how to test', terms: ['vitest', 'unit test'], limit: 3, phase: 2, tags: ['a'] },
    { query: 'x', terms: [], limit: 50 },
  ]);
});

import { describe, expect, test } from 'vitest';
import type { TestResult } from '../runtime/ports.ts';
import { cases } from './fixtures/tryCases.ts';

describe('what a test saw', () => {
  const files = {
    'w.workflow.yaml': `
workflow: w
phases:
  A: { instructions: A, forbidden_tools: [bash], gate: { human: { prompt: Good?, options: [{ label: Yes }] } } }
  B: { instructions: B }
`,
    'w.contract.yaml':
      'tests:\n  - { name: honest, agent: honest }\n  - { name: cheating, agent: cheating }\n',
  };

  test('is told of each run, with the workflow it had and all its records', async () => {
    const { results, seen } = await cases(files, { category: 'contract' });

    expect(results.map(({ status }) => status)).toEqual(['passed', 'passed']);
    expect(seen).toHaveLength(2);
    for (const { workflow, records } of seen) {
      expect(workflow.phases.map(({ id, humanGate }) => [id, humanGate !== null])).toEqual([
        ['A', true],
        ['B', false],
      ]);
      expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1));
      expect(records.at(0)?.event).toBe('run_started');
      expect(records.map(({ event }) => event)).toEqual(
        expect.arrayContaining(['gate_opened', 'phase_completed']),
      );
    }
    expect(seen[1]?.records.map(({ event }) => event)).toContain('tool_judged');
  });

  test('is told of cases too, where a run has its step as the beginning', async () => {
    const { seen } = await cases(files);

    expect(seen.map(({ workflow }) => workflow.entry)).toEqual(['A', 'B']);
  });

  test('changes nothing in the results', async () => {
    const names = ({ results }: { readonly results: readonly TestResult[] }) =>
      results.map(({ name, status }) => `${name} ${status}`);

    expect(names(await cases(files, { observe: false }))).toEqual(names(await cases(files)));
  });
});

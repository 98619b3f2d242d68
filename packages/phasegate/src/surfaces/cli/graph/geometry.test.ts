import type { Workflow } from '@phasegate/core';
import { graphOf, type WorkflowGraph } from '@phasegate/core/model';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../../../test/tier.ts';
import { holds, overlap, readPicture } from './fixtures/readPicture.ts';
import {
  editing,
  fivePhases,
  nasty,
  type PhaseSketch,
  runAt,
  when,
  workflowOf,
} from './fixtures/workflows.ts';
import { edgeLabel, nodeLabel } from './label.ts';
import { toSvg } from './svg.ts';

const thirty = workflowOf(
  'thirty',
  'Thirty phases',
  Array.from({ length: 30 }, (_, index): PhaseSketch => {
    const following = index === 29 ? null : `p${index + 1}`;
    const back = `p${Math.max(0, index - 5 - (index % 7))}`;
    return {
      id: `p${index}`,
      name: `Phase number ${index}`,
      ...(index % 3 === 2 ? { next: when(`result.score > ${index}`, following, back, 3) } : {}),
      ...(index % 10 === 7 ? { parallel: 'items' } : {}),
    };
  }),
);
const manyBack = workflowOf(
  'back',
  'Every phase leads back to every one before it',
  Array.from({ length: 8 }, (_, index): PhaseSketch => {
    const back = Array.from({ length: index + 1 }, (__, to) => ({
      label: `Back to phase ${to} for the reason that has the number ${to}`,
      next: `p${to}`,
    }));
    return { id: `p${index}`, human: [{ label: 'Go on' }, ...back, { label: 'Reject', next: null }] };
  }),
);
const entersLate: Workflow = {
  ...workflowOf('late', 'Late', [{ id: 'a' }, { id: 'b' }, { id: 'c' }]),
  entry: 'c',
};

describe('a picture keeps its words and lines apart', () => {
  test.each([
    ['five phases', graphOf(fivePhases)],
    ['with a run', graphOf(fivePhases, runAt('waiting', 'REVIEW', ['PLAN']))],
    ['eight steps', graphOf(editing)],
    ['nasty names', graphOf(nasty)],
    ['thirty phases', graphOf(thirty)],
    ['many ways back', graphOf(manyBack)],
    ['an entry that is not the first', graphOf(entersLate)],
    ['coverage', covered(graphOf(editing))],
    ['coverage of many ways back', covered(graphOf(manyBack))],
  ])('%s', (_, graph) => {
    expect(faultsIn(graph)).toEqual([]);
  });

  test('whatever the workflow is', () => {
    fc.assert(
      fc.property(workflows(), fc.boolean(), (workflow, seen) => {
        const graph = graphOf(workflow);
        expect(faultsIn(seen ? covered(graph) : graph)).toEqual([]);
      }),
      { numRuns: cases({ quick: 60, full: 2000 }) },
    );
  });
});

test('a word is never broken: the box grows with it', () => {
  const word = 'tests_exist_for_every_acceptance_criterion_of_the_plan_that_was_approved';
  const graph = graphOf(
    workflowOf('w', 'W', [
      { id: 'A', checks: [word] },
      { id: 'B', next: when(word, null, 'A', 2) },
    ]),
  );

  expect(faultsIn(graph)).toEqual([]);
  expect(readPicture(toSvg(graph)).lines.filter(({ words }) => words.includes(word))).toHaveLength(2);
});

/** All that lies where something else is, leaves the picture, or is not said in whole words. */
function faultsIn(graph: WorkflowGraph): readonly string[] {
  const { sheet, nodes, labels, lines, ways } = readPicture(toSvg(graph));
  const faults: string[] = [];
  for (const [index, label] of labels.entries()) {
    const { words } = label;
    if (ways.some((points) => points.some((point) => holds(label, point))))
      faults.push(`a way runs through "${words}"`);
    if (labels.some((other, at) => at !== index && overlap(label, other)))
      faults.push(`"${words}" lies on a label`);
    if (nodes.some((node) => overlap(label, node))) faults.push(`"${words}" lies on a node`);
  }
  for (const node of nodes) {
    if (nodes.some((other) => other !== node && overlap(node, other))) faults.push('two nodes overlap');
    const inside = { x: node.x + 1, y: node.y + 1, w: node.w - 2, h: node.h - 2 };
    // Ways touch a hexagon inside of the rectangle around it, so what counts is its middle half.
    const middle = { ...inside, x: node.x + 20, w: node.w - 40 };
    if (ways.some((points) => points.some((point) => holds(middle, point))))
      faults.push('a way runs through a node');
  }
  for (const line of lines) {
    const within = [sheet, ...nodes].some(
      (box) =>
        line.x >= box.x &&
        line.y >= box.y &&
        line.x + line.w <= box.x + box.w + 0.5 &&
        line.y + line.h <= box.y + box.h,
    );
    if (!within) faults.push(`"${line.words}" leaves the picture`);
  }
  for (const point of ways.flat()) if (!holds(sheet, point)) faults.push('a way leaves the picture');
  if (ways.length !== graph.edges.length + 1) faults.push('a way is missing');
  const said = lines.flatMap(({ words }) => words.split(' '));
  const meant = [
    ...graph.nodes.flatMap((node) => {
      const { title, details } = nodeLabel(node);
      return [title, ...details.map(({ text }) => text)];
    }),
    ...graph.edges.flatMap((edge) => [
      edgeLabel(edge),
      ...(edge.coverage === undefined ? [] : ['never seen']),
    ]),
  ].flatMap((text) => text.split(' ').filter((word) => word !== ''));
  if (said.toSorted().join(' ') !== meant.toSorted().join(' ')) faults.push('words are broken or missing');
  return [...new Set(faults)];
}

/** Workflows with ways of every kind between any two phases, and words of any length. */
function workflows(): fc.Arbitrary<Workflow> {
  const words = fc
    .array(fc.stringMatching(/^[a-zA-Z_."=&<>-]{1,24}$/u), { minLength: 1, maxLength: 6 })
    .map((some) => some.join(' '));
  return fc.integer({ min: 1, max: 9 }).chain((count) => {
    const target = fc.oneof(
      fc.constant(null),
      fc.integer({ min: 0, max: count - 1 }).map((index) => `p${index}`),
    );
    const sketch = fc.record(
      {
        name: words,
        checks: fc.array(words, { maxLength: 3 }),
        parallel: words,
        human: fc.array(fc.record({ label: words, next: target }), { minLength: 1, maxLength: 5 }),
        next: fc.oneof(
          fc.tuple(words, target, target).map(([condition, yes, no]) => when(condition, yes, no, 2)),
          target.map((to) => ({ kind: 'to', target: to }) as const),
        ),
      },
      { requiredKeys: ['name'] },
    );
    return fc.array(sketch, { minLength: count, maxLength: count }).map((sketches) =>
      workflowOf(
        'w',
        'W',
        sketches.map((one, index) => ({ id: `p${index}`, ...one })),
      ),
    );
  });
}

function covered(graph: WorkflowGraph): WorkflowGraph {
  const never = { tests: 0, runs: 0 };
  return {
    ...graph,
    coverage: { total: 5, seen: 2, tests: 1, runs: 1 },
    nodes: graph.nodes.map((node) => ({ ...node, coverage: { ...never, seen: 0, total: 4, parts: [] } })),
    edges: graph.edges.map((edge) => ({ ...edge, coverage: never })),
  };
}

import type { PhaseId, Workflow } from '@phasegate/core';
import { graphOf, type WorkflowGraph } from '@phasegate/core/model';
import { describe, expect, test } from 'vitest';
import { toDot } from './dot.ts';
import { editing, fivePhases, NASTY_NAMES, nasty, runAt, when, workflowOf } from './fixtures/workflows.ts';
import { toMermaid } from './mermaid.ts';
import { DARK, EDGE, EXTENTS, GROUND, HUMAN_EDGE, NEUTRAL, PALETTE, UNSEEN_EDGE } from './palette.ts';
import { toSvg } from './svg.ts';

describe('Mermaid', () => {
  test('draws phases, gates, a way back and the end', () => {
    expect(toMermaid(graphOf(fivePhases))).toBe(`flowchart TD
  accTitle: Workflow Test-driven change
  begin(("Start"))
  p0["1 · Plan the change<br/>PLAN<br/>claimed: plan_has_scope"]
  p1["2 · Write failing tests<br/>TDD<br/>claimed: tests_are_failing"]
  p2["3 · Make them pass<br/>IMPL<br/>claimed: tests_are_passing, no_skipped_tests"]
  p3{{"4 · Review<br/>human gate: decision"}}
  p4["5 · Complete"]
  finish((("End")))
  begin --> p0
  p0 --> p1
  p1 --> p2
  p2 --> p3
  p3 -.->|"Ask for changes"| p2
  p3 ==>|"Approve"| p4
  p4 --> finish
`);
  });

  test('colours the nodes of a run by where it stands', () => {
    const text = toMermaid(graphOf(fivePhases, runAt('waiting', 'REVIEW', ['PLAN', 'TDD', 'IMPL'])));

    expect(text).toContain('class p0,p1,p2 completed\n');
    expect(text).toContain('class p3 waiting\n');
    expect(text).toContain('class p4,finish ahead\n');
  });

  test('keeps every line in its form whatever the names are', () => {
    const label = /"(?:[^"#&<>`\\*~%:]|: |#\d+;|<br\/>)*"/u.source;
    const node = `p\\d+(?:\\[${label}\\]|\\{\\{${label}\\}\\})`;
    const edge = `(?:begin|p\\d+) (?:-->|==>|-\\.->)(?:\\|${label}\\|)? (?:finish|p\\d+)`;
    const line = new RegExp(
      `^ {2}(?:${node}|${edge}|begin\\(\\("Start"\\)\\)|finish\\(\\(\\("End"\\)\\)\\))$`,
      'u',
    );

    const lines = toMermaid(graphOf(nasty)).trimEnd().split('\n').slice(2);

    expect(lines.filter((text) => !line.test(text))).toEqual([]);
    expect(lines.filter((text) => /^ {2}p\d+[[{]/u.test(text))).toHaveLength(NASTY_NAMES.length + 1);
  });

  test('never uses an id or a name of the author outside a quoted label', () => {
    const words = toMermaid(
      graphOf(workflowOf('w', 'W', [{ id: 'end' }, { id: 7 }, { id: 'click', name: 'style' }])),
    )
      .replaceAll(/"[^"]*"/gu, '')
      .split('\n')
      .slice(2);

    expect(words.join(' ')).not.toMatch(/\bend\b|\b7\b|click|style/u);
  });

  test('cuts a name of 200 characters with an ellipsis', () => {
    const text = toMermaid(graphOf(workflowOf('w', 'W', [{ id: 'A', name: 'x'.repeat(200) }])));

    expect(text).toMatch(/"1 · x{75}…<br\/>A"/u);
  });
});

describe('DOT', () => {
  test('draws human gates as hexagons and ways back dashed', () => {
    const text = toDot(graphOf(editing));

    expect(text).toMatch(/p6 \[shape="hexagon", label="7 · human-gate\\nhuman gate: decision"/u);
    expect(text).toContain('p3 -> p2 [label="else (at most 3×)", style="dashed", constraint="false"];');
    expect(text).toContain('p6 -> finish [label="Reject and stop", style="bold"];');
  });

  test('quotes every string and keeps one statement a line, whatever the names are', () => {
    const string = /"(?:[^"\\\n]|\\["\\n])*"/gu;
    const left = toDot(graphOf(nasty)).replaceAll(string, '""').split('\n');

    expect(left.filter((line) => !/^(?:digraph workflow \{|\}|| {2}[\w ,=[\]";>-]+;)$/u.test(line))).toEqual(
      [],
    );
    expect(left.join('\n').replaceAll('""', '')).not.toContain('"');
  });

  test('escapes what Graphviz reads inside a string', () => {
    const text = toDot(graphOf(workflowOf('w', 'W', [{ id: 'A', name: 'a "b" \\N &amp; c' }])));

    expect(text).toContain('1 · a \\"b\\" \\\\N &amp;amp; c');
  });
});

describe('SVG', () => {
  test('stands alone: no script, font, image, link or id, and one style for dark pages', () => {
    const svg = toSvg(graphOf(nasty, runAt('active', 'n1', ['n0'])));

    expect(svg).toMatch(
      /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" class="phasegate-picture" role="img"/u,
    );
    const tags = new Set(Array.from(svg.matchAll(/<([a-z]+)/gu), (match) => match[1]));
    expect([...tags].sort()).toEqual(
      ['circle', 'desc', 'g', 'path', 'polygon', 'rect', 'style', 'svg', 'text', 'title', 'tspan'].sort(),
    );
    expect(svg).not.toMatch(/ (?:id|href|on\w+|style)=|url\(|@import/u);
    expect(svg.match(/<style>@media \(prefers-color-scheme: dark\) \{/gu)).toHaveLength(1);
  });

  test('is well-formed whatever the names are', () => {
    const svg = toSvg(graphOf(nasty));

    const text = svg.replaceAll(
      /<\/?[a-z]+(?: [a-z-]+="[^"<>]*"| xmlns="[^"]*"| viewBox="[^"]*")*\/?>/giu,
      '',
    );
    expect(text).not.toMatch(/[<>]/u);
    expect(text).not.toMatch(/&(?!(?:amp|lt|gt|quot);)/u);
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\ufffe\uffff\u202a-\u202e]/u);
    expect(svg.match(/<g>|<g /gu)?.length).toBe(svg.match(/<\/g>/gu)?.length);
  });

  test('tells in words what it shows', () => {
    const svg = toSvg(graphOf(fivePhases, runAt('waiting', 'REVIEW', ['PLAN', 'TDD', 'IMPL'])));

    expect(svg).toContain('<title>Workflow: Test-driven change</title>');
    expect(svg).toContain('5 phases, starting at Plan the change. The run is waiting at Review.');
    expect(svg).toContain('Review leads back to Make them pass, if a human chooses Ask for changes.');
    expect(svg).toContain('Complete leads to the end.');
  });

  test('draws the eight steps with every way back dashed and the human gate as a hexagon', () => {
    const graph = graphOf(editing);
    const svg = toSvg(graph);

    expect(svg.match(/<polygon/gu)).toHaveLength(1);
    expect(graph.edges.filter((edge) => edge.back)).toHaveLength(4);
    expect(svg.match(/stroke-dasharray/gu)).toHaveLength(4);
    for (const node of editing.phases) expect(svg).toContain(`· ${node.name}</tspan>`);
  });

  test('keeps everything inside the picture and nodes apart from each other', () => {
    for (const workflow of [fivePhases, editing, nasty]) {
      const svg = toSvg(graphOf(workflow));
      const [, width = 0, height = 0] = (/viewBox="0 0 (\d+) (\d+)"/u.exec(svg) ?? []).map(Number);
      const [, left = 0, top = 0] = (/translate\((\S+) (\S+)\)/u.exec(svg) ?? []).map(Number);
      const boxes = Array.from(
        svg.matchAll(/<rect x="([\d.-]+)" y="([\d.-]+)" width="([\d.]+)" height="([\d.]+)" rx="(?:7|19)"/gu),
        ([, x, y, w, h]) => ({ x: Number(x) + left, y: Number(y) + top, w: Number(w), h: Number(h) }),
      );

      expect(boxes.length).toBeGreaterThan(2);
      for (const box of boxes) {
        expect(box.x).toBeGreaterThanOrEqual(0);
        expect(box.y).toBeGreaterThanOrEqual(0);
        expect(box.x + box.w).toBeLessThanOrEqual(width);
        expect(box.y + box.h).toBeLessThanOrEqual(height);
        const touched = boxes.filter(
          (other) =>
            other.x < box.x + box.w &&
            box.x < other.x + other.w &&
            other.y < box.y + box.h &&
            box.y < other.y + other.h,
        );
        expect(touched).toEqual([box]);
      }
    }
  });

  test('draws a way back to the same phase at that phase', () => {
    const svg = toSvg(graphOf(workflowOf('w', 'W', [{ id: 'A', next: when('result.done', null, 'A', 5) }])));

    const [, x = 0, width = 0] = (
      /<rect x="([\d.]+)" y="[\d.]+" width="(\d+)" height="\d+" rx="7"/u.exec(svg) ?? []
    ).map(Number);
    const [, start = 0] = (/<path d="M([\d.]+) [^>]+stroke-dasharray/u.exec(svg) ?? []).map(Number);
    expect(start).toBeCloseTo(x, 1);
    expect(width).toBeGreaterThan(0);
  });

  test('has a legend with a run, and none without', () => {
    const plain = toSvg(graphOf(fivePhases));
    const placed = toSvg(graphOf(fivePhases, runAt('escalated', 'TDD', ['PLAN'])));

    expect(plain).not.toContain('>ahead</text>');
    for (const status of ['completed', 'escalated', 'ahead']) expect(placed).toContain(`>${status}</text>`);
    expect(placed).not.toContain('>waiting</text>');
  });

  test('tells apart what is claimed and what the engine looks at, with a legend', () => {
    const graph = graphOf(fivePhases);
    const nodes = graph.nodes.map((node) =>
      node.id === 'TDD'
        ? {
            ...node,
            evidence: ['tests'],
            checks: [...node.checks, { label: 'really_fail', class: 'verified' as const, warns: false }],
          }
        : node,
    );
    const marked = toSvg({ ...graph, nodes });

    expect(toSvg(graph)).toContain(">claimed: the agent's word</text>");
    expect(toSvg(graph)).not.toContain('verified');
    expect(marked).toContain('>evidence: tests</tspan>');
    expect(marked).toContain('verified: the engine looks for itself</text>');
    expect(marked).toContain(
      'Write failing tests asks for evidence tests; tests_are_failing (claimed); really_fail (verified).',
    );
    // One on the node and one in the legend; all others are rings.
    expect(marked.match(/<circle [^>]*r="3\.6" fill="#/gu)).toHaveLength(2);
    expect(toMermaid({ ...graph, nodes })).toContain(
      'evidence: tests<br/>claimed: tests_are_failing<br/>verified: really_fail"',
    );
  });

  test('is the same for the same graph', () => {
    expect(toSvg(graphOf(editing))).toBe(toSvg(graphOf(editing)));
  });
});

describe('coverage', () => {
  test('is drawn as text on every node and edge, with a legend and the share of all', () => {
    const graph = covered(fivePhases, ['PLAN', 'TDD']);
    const svg = toSvg(graph);

    for (const text of [toMermaid(graph).replaceAll('#37;', '%'), toDot(graph), svg]) {
      expect(text).toContain('40% seen (2 of 5), 20% by tests, 20% by runs');
      expect(text).toContain('tests 3×, runs 1×');
      expect(text.match(/never seen/gu)?.length).toBeGreaterThan(6);
      expect(text).toContain('seen in part');
    }
    expect(svg).toContain('Complete: never seen.');
    expect(svg).toContain('Make them pass leads to Review (never seen).');
  });

  test('draws what was never seen with a broken line, not by colour alone', () => {
    const graph = covered(fivePhases, ['PLAN', 'TDD']);
    const unseen = graph.nodes.filter(({ coverage }) => coverage?.tests === 0).length;
    const ways = graph.edges.filter(({ coverage }) => coverage?.tests === 0).length;
    const svg = toSvg(graph);

    // One more is the legend's.
    expect(svg.match(/stroke-dasharray="5 4"/gu)).toHaveLength(unseen + 1);
    expect(svg.match(/stroke-dasharray="2 4"/gu)).toHaveLength(ways);
    expect(toDot(graph).match(/style="filled,dashed"/gu)).toHaveLength(unseen);
    expect(toDot(graph).match(/style="dotted"/gu)).toHaveLength(ways);
    expect(toMermaid(graph)).toContain('linkStyle 2,3,4,5,6 stroke:');
    expect(toMermaid(graph)).toContain('class p2,p3,p4,finish seen_never\n');
  });

  test('is the legend of a way alone that was never gone', () => {
    const graph = covered(fivePhases, ['PLAN', 'TDD', 'IMPL', 'REVIEW', 'COMPLETE', null]);

    expect(toMermaid(graph)).not.toContain('never seen');
    expect(toMermaid({ ...graph, edges: graph.edges.map(unseenWay) })).toContain(
      'never seen: grey, broken line',
    );
  });

  test('keeps every form whatever the names are', () => {
    const graph = covered(nasty, ['n0', 'n1']);
    const left = toDot(graph)
      .replaceAll(/"(?:[^"\\\n]|\\["\\n])*"/gu, '""')
      .split('\n');

    expect(left.filter((line) => !/^(?:digraph workflow \{|\}|| {2}[\w ,=[\]";>-]+;)$/u.test(line))).toEqual(
      [],
    );
    expect(toSvg(graph)).not.toMatch(/ (?:id|href|on\w+|style)=/u);
  });

  test('changes nothing where it is not marked', () => {
    expect(toMermaid(graphOf(fivePhases))).not.toMatch(/seen|legend/u);
    expect(toDot(graphOf(fivePhases))).not.toContain('seen');
  });
});

test('text can be read on every colour, light and dark: contrast of at least 7 to 1', () => {
  const pairs = [
    ...Object.values(PALETTE),
    ...Object.values(EXTENTS),
    NEUTRAL,
    ...[UNSEEN_EDGE, EDGE, HUMAN_EDGE, NEUTRAL.text].map((text) => ({ fill: GROUND, text })),
  ];
  const ratios = pairs.flatMap(({ fill, text }) => [
    contrast(fill, text),
    contrast(DARK[fill] ?? '', DARK[text] ?? ''),
  ]);

  expect(Math.min(...ratios)).toBeGreaterThanOrEqual(7);
});

/** The graph with these nodes seen, and the ways between them. */
function covered(workflow: Workflow, seen: readonly (PhaseId | null)[]): WorkflowGraph {
  const graph = graphOf(workflow);
  const times = (was: boolean) => (was ? { tests: 3, runs: 1 } : { tests: 0, runs: 0 });
  const parts = [
    { what: 'blockers', seen: 1, total: 4 },
    { what: 'deny rules', seen: 0, total: 12 },
  ];
  return {
    ...graph,
    coverage: { total: 5, seen: 2, tests: 1, runs: 1 },
    nodes: graph.nodes.map((node) => ({
      ...node,
      coverage: { ...times(seen.includes(node.id)), seen: 1, total: 4, parts: node.id === null ? [] : parts },
    })),
    edges: graph.edges.map((edge) => ({
      ...edge,
      coverage: times(seen.includes(edge.from) && seen.includes(edge.to)),
    })),
  };
}

function unseenWay<T>(edge: T): T & { readonly coverage: { readonly tests: number; readonly runs: number } } {
  return { ...edge, coverage: { tests: 0, runs: 0 } };
}

/** The contrast ratio of WCAG 2. */
function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

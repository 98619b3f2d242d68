import { graphOf } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { toDot } from './dot.ts';
import { editing, fivePhases, NASTY_NAMES, nasty, runAt, when, workflowOf } from './fixtures/workflows.ts';
import { toMermaid } from './mermaid.ts';
import { NEUTRAL, PALETTE } from './palette.ts';
import { toSvg } from './svg.ts';

describe('Mermaid', () => {
  test('draws phases, gates, a way back and the end', () => {
    expect(toMermaid(graphOf(fivePhases))).toBe(`flowchart TD
  accTitle: Workflow Test-driven change
  begin(("start"))
  p0["1 · Plan the change<br/>PLAN<br/>gate: plan_has_scope"]
  p1["2 · Write failing tests<br/>TDD<br/>gate: tests_are_failing"]
  p2["3 · Make them pass<br/>IMPL<br/>gate: tests_are_passing, no_skipped_tests"]
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
      `^ {2}(?:${node}|${edge}|begin\\(\\("start"\\)\\)|finish\\(\\(\\("End"\\)\\)\\))$`,
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
  test('stands alone: no script, style, font, image, link or id', async () => {
    const svg = await toSvg(graphOf(nasty, runAt('active', 'n1', ['n0'])));

    expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" role="img"/u);
    const tags = new Set(Array.from(svg.matchAll(/<([a-z]+)/gu), (match) => match[1]));
    expect([...tags].sort()).toEqual(
      ['circle', 'desc', 'g', 'path', 'polygon', 'rect', 'svg', 'text', 'title', 'tspan'].sort(),
    );
    expect(svg).not.toMatch(/ (?:id|href|on\w+|style)=/u);
  });

  test('is well-formed whatever the names are', async () => {
    const svg = await toSvg(graphOf(nasty));

    const text = svg.replaceAll(
      /<\/?[a-z]+(?: [a-z-]+="[^"<>]*"| xmlns="[^"]*"| viewBox="[^"]*")*\/?>/giu,
      '',
    );
    expect(text).not.toMatch(/[<>]/u);
    expect(text).not.toMatch(/&(?!(?:amp|lt|gt|quot);)/u);
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\ufffe\uffff\u202a-\u202e]/u);
    expect(svg.match(/<g>|<g /gu)?.length).toBe(svg.match(/<\/g>/gu)?.length);
  });

  test('tells in words what it shows', async () => {
    const svg = await toSvg(graphOf(fivePhases, runAt('waiting', 'REVIEW', ['PLAN', 'TDD', 'IMPL'])));

    expect(svg).toContain('<title>Workflow: Test-driven change</title>');
    expect(svg).toContain('5 phases, starting at Plan the change. The run is waiting at Review.');
    expect(svg).toContain('Review leads back to Make them pass, if a human chooses Ask for changes.');
    expect(svg).toContain('Complete leads to the end.');
  });

  test('draws the eight steps with every way back dashed and the human gate as a hexagon', async () => {
    const graph = graphOf(editing);
    const svg = await toSvg(graph);

    expect(svg.match(/<polygon/gu)).toHaveLength(1);
    expect(graph.edges.filter((edge) => edge.back)).toHaveLength(4);
    expect(svg.match(/stroke-dasharray/gu)).toHaveLength(4);
    for (const node of editing.phases) expect(svg).toContain(`· ${node.name}</tspan>`);
  });

  test('keeps everything inside the picture and nodes apart from each other', async () => {
    for (const workflow of [fivePhases, editing, nasty]) {
      const svg = await toSvg(graphOf(workflow));
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

  test('draws a way back to the same phase at that phase', async () => {
    const svg = await toSvg(
      graphOf(workflowOf('w', 'W', [{ id: 'A', next: when('result.done', null, 'A', 5) }])),
    );

    const [, x = 0, width = 0] = (
      /<rect x="([\d.]+)" y="[\d.]+" width="(\d+)" height="\d+" rx="7"/u.exec(svg) ?? []
    ).map(Number);
    const [, start = 0] = (/<path d="M([\d.]+) [^>]+stroke-dasharray/u.exec(svg) ?? []).map(Number);
    expect(start).toBeCloseTo(x + width, 1);
  });

  test('has a legend with a run, and none without', async () => {
    const plain = await toSvg(graphOf(fivePhases));
    const placed = await toSvg(graphOf(fivePhases, runAt('escalated', 'TDD', ['PLAN'])));

    expect(plain).not.toContain('>ahead</text>');
    for (const status of ['completed', 'escalated', 'ahead']) expect(placed).toContain(`>${status}</text>`);
    expect(placed).not.toContain('>waiting</text>');
  });

  test('is the same for the same graph', async () => {
    expect(await toSvg(graphOf(editing))).toBe(await toSvg(graphOf(editing)));
  });
});

test('text can be read on every colour: contrast of at least 7 to 1', () => {
  const ratios = [...Object.values(PALETTE), NEUTRAL].map(({ fill, text }) => contrast(fill, text));

  expect(Math.min(...ratios)).toBeGreaterThanOrEqual(7);
});

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

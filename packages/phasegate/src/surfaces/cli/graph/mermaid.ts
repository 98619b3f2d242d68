import type { PhaseId } from '@phasegate/core';
import type { GraphEdge, GraphNode, WorkflowGraph } from '@phasegate/core/model';
import { coverageText, edgeLabel, nodeLines, plain, timesText } from './label.ts';
import { type Colours, EXTENTS, extentOf, extentsIn, isUnseen, PALETTE, UNSEEN_EDGE } from './palette.ts';

/**
 * The graph as Mermaid text. Node ids are made here (`p0`, `p1`, …), because an author's own id may be a word
 * of the language (`end`), and every label is quoted with its special characters as entities.
 */
export function toMermaid(graph: WorkflowGraph): string {
  const ids = new Map(
    graph.nodes.map((node, index) => [node.id, node.kind === 'end' ? 'finish' : `p${index}`]),
  );
  const name = (id: PhaseId | null) => ids.get(id) ?? 'finish';
  const lines = ['flowchart TD', `  accTitle: ${entities(plain(`Workflow ${graph.title}`, 120))}`];
  lines.push('  begin(("Start"))');
  for (const node of graph.nodes) lines.push(`  ${name(node.id)}${shape(node)}`);
  lines.push(`  begin --> ${name(graph.entry)}`);
  for (const edge of graph.edges) lines.push(`  ${name(edge.from)} ${arrow(edge)} ${name(edge.to)}`);
  lines.push(...colours(graph, name), ...coverage(graph, name));
  return `${lines.join('\n')}\n`;
}

function shape(node: GraphNode): string {
  const text = `"${nodeLines(node).map(entities).join('<br/>')}"`;
  if (node.kind === 'end') return `(((${text})))`;
  return node.human ? `{{${text}}}` : `[${text}]`;
}

function arrow(edge: GraphEdge): string {
  const line = edge.back ? '-.->' : edge.human ? '==>' : '-->';
  const seen = edge.coverage === undefined ? '' : timesText(edge.coverage);
  const label = [edgeLabel(edge), seen].filter((part) => part !== '').join(' · ');
  return label === '' ? line : `${line}|"${entities(label)}"|`;
}

function colours(graph: WorkflowGraph, name: (id: PhaseId | null) => string): readonly string[] {
  if (graph.run === null) return [];
  return Object.entries(PALETTE).flatMap(([status, paint]) => {
    const nodes = graph.nodes.filter((node) => node.status === status).map((node) => name(node.id));
    return classOf(status, paint, { nodes, more: '' });
  });
}

function coverage(graph: WorkflowGraph, name: (id: PhaseId | null) => string): readonly string[] {
  if (graph.coverage === undefined) return [];
  const lines: string[] = [];
  const words = [coverageText(graph.coverage)];
  for (const extent of extentsIn(graph)) {
    const nodes = graph.nodes.filter((node) => extentOf(node) === extent).map((node) => name(node.id));
    const more = extent === 'never' ? ',stroke-dasharray:5 4' : '';
    lines.push(...classOf(`seen_${extent}`, EXTENTS[extent], { nodes, more }));
    words.push(`${EXTENTS[extent].words}: ${EXTENTS[extent].look}`);
  }
  // Links are counted as they are written; the first is the one from the start.
  const unseen = graph.edges.flatMap((edge, index) => (isUnseen(edge.coverage) ? [index + 1] : []));
  if (unseen.length > 0)
    lines.push(`  linkStyle ${unseen.join(',')} stroke:${UNSEEN_EDGE},stroke-dasharray:2 4`);
  return [`  legend["${words.map(entities).join('<br/>')}"]`, LEGEND, '  class legend seen_legend', ...lines];
}

const LEGEND = '  classDef seen_legend fill:#ffffff,stroke:none,color:#1b2440';

function classOf(
  word: string,
  { fill, stroke, text }: Colours,
  { nodes, more }: { readonly nodes: readonly string[]; readonly more: string },
): readonly string[] {
  if (nodes.length === 0) return [];
  return [
    `  classDef ${word} fill:${fill},stroke:${stroke},color:${text},stroke-width:2px${more}`,
    `  class ${nodes.join(',')} ${word}`,
  ];
}

/**
 * Mermaid reads `#number;` in a label as a character. Besides what ends a label, this hides what its preprocessor
 * (`%%`, `style…:`), its Markdown (emphasis, lists), its maths (`$$`), its icons (`fa:fa-car`) and HTML would take
 * for their own. The last two are looked for after entities are read, so a space of no width parts them.
 */
function entities(text: string): string {
  return text
    .replace(/["#&<>`\\*~%]|:(?! )/gu, entity)
    .replace(/\$(?=\$)|#58;(?=fa-)/gu, (sign) => `${sign}#8203;`)
    .replace(/^(\d+)([.)])/u, (_, digits: string, mark: string) => digits + entity(mark))
    .replace(/^[-+=]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, entity);
}

function entity(character: string): string {
  return `#${character.codePointAt(0)};`;
}

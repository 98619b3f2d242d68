import type { PhaseId } from '@phasegate/core';
import type { GraphEdge, GraphNode, WorkflowGraph } from '@phasegate/core/model';
import { coverageText, edgeLabel, nodeLines, plain, timesText } from './label.ts';
import { coloursOf, EXTENTS, extentOf, extentsIn, isUnseen, UNSEEN_EDGE } from './palette.ts';

/** The graph in Graphviz's language. Node ids are made here, labels are quoted strings. */
export function toDot(graph: WorkflowGraph): string {
  const ids = new Map(
    graph.nodes.map((node, index) => [node.id, node.kind === 'end' ? 'finish' : `p${index}`]),
  );
  const name = (id: PhaseId | null) => ids.get(id) ?? 'finish';
  const lines = [
    `digraph workflow {`,
    `  label=${quoted(headingOf(graph))}; labelloc="t"; rankdir="TB";`,
    `  fontname="sans-serif"; node [fontname="sans-serif", style="filled"]; edge [fontname="sans-serif", fontsize=10];`,
    `  begin [shape="circle", label="Start", fontsize=10, fillcolor="#ffffff"];`,
  ];
  for (const node of graph.nodes) lines.push(`  ${name(node.id)} [${nodeAttributes(node)}];`);
  lines.push(`  begin -> ${name(graph.entry)};`);
  for (const edge of graph.edges) {
    lines.push(`  ${name(edge.from)} -> ${name(edge.to)}${edgeAttributes(edge)};`);
  }
  lines.push('}');
  return `${lines.join('\n')}\n`;
}

function headingOf(graph: WorkflowGraph): string {
  const title = plain(graph.title, 120);
  if (graph.coverage === undefined) return title;
  const legend = extentsIn(graph).map((extent) => `${EXTENTS[extent].words}: ${EXTENTS[extent].look}`);
  return [title, coverageText(graph.coverage), legend.join('; ')].join('\n');
}

function nodeAttributes(node: GraphNode): string {
  const { fill, stroke, text } = coloursOf(node);
  const shape = node.kind === 'end' ? 'doublecircle' : node.human ? 'hexagon' : 'box';
  return [
    `shape="${shape}"`,
    `label=${quoted(nodeLines(node).join('\n'))}`,
    `fillcolor="${fill}", color="${stroke}", fontcolor="${text}"`,
    ...(extentOf(node) === 'never' ? ['style="filled,dashed"'] : []),
  ].join(', ');
}

function edgeAttributes(edge: GraphEdge): string {
  const attributes: string[] = [];
  const seen = edge.coverage === undefined ? '' : timesText(edge.coverage);
  const label = [edgeLabel(edge), seen].filter((part) => part !== '').join('\n');
  if (label !== '') attributes.push(`label=${quoted(label)}`);
  const unseen = isUnseen(edge.coverage);
  if (unseen) attributes.push('style="dotted"', `color="${UNSEEN_EDGE}"`, `fontcolor="${UNSEEN_EDGE}"`);
  else if (edge.back) attributes.push('style="dashed"');
  else if (edge.human) attributes.push('style="bold"');
  if (edge.back) attributes.push('constraint="false"');
  return attributes.length === 0 ? '' : ` [${attributes.join(', ')}]`;
}

// Graphviz reads backslash escapes and HTML entities inside a quoted string, so both signs are escaped.
function quoted(text: string): string {
  const escaped = text
    .replaceAll('&', '&amp;')
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n');
  return `"${escaped}"`;
}

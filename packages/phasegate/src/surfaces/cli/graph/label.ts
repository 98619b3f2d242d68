import type { GraphEdge, GraphNode } from '@phasegate/core';

/** The words on a node: its title, and lines of detail below it. */
export interface NodeLabel {
  readonly title: string;
  readonly details: readonly string[];
}

/** What is written on a node, the same in every format. */
export function nodeLabel(node: GraphNode): NodeLabel {
  if (node.kind === 'end') return { title: plain(node.name, TITLE_LENGTH), details: [] };
  const details: string[] = [];
  if (node.id !== null && saysMore(node.id, node)) details.push(plain(String(node.id), DETAIL_LENGTH));
  if (node.parallel !== null) details.push(plain(`for each of ${node.parallel}`, DETAIL_LENGTH));
  if (node.gate !== null)
    details.push(plain(`${node.human ? 'human gate' : 'gate'}: ${node.gate}`, DETAIL_LENGTH));
  return { title: plain(`${node.number} · ${named(node)}`, TITLE_LENGTH), details };
}

/** What is written on an edge: what leads this way, and how often at most. */
export function edgeLabel(edge: GraphEdge): string {
  const limit = edge.max === null ? '' : `(at most ${edge.max}×)`;
  return [plain(edge.label, EDGE_LENGTH), limit].filter((part) => part !== '').join(' ');
}

/** One line of visible text: no control or direction-changing characters, cut with an ellipsis. */
export function plain(text: string, limit: number): string {
  const visible = text.toWellFormed().replace(INVISIBLE, ' ').replace(/\s+/gu, ' ').trim();
  const characters = Array.from(visible);
  if (characters.length <= limit) return visible;
  return `${characters
    .slice(0, limit - 1)
    .join('')
    .trimEnd()}…`;
}

const TITLE_LENGTH = 80;
const DETAIL_LENGTH = 100;
const EDGE_LENGTH = 100;

// Control characters, bidirectional overrides that would reorder what stands beside them, and what XML forbids.
const INVISIBLE = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/gu;

function named(node: GraphNode): string {
  return plain(node.name, TITLE_LENGTH) === '' ? String(node.id) : node.name;
}

function saysMore(id: string | number, node: GraphNode): boolean {
  const letters = (text: string) =>
    text
      .toLowerCase()
      .replace(/[\s_-]+/gu, ' ')
      .trim();
  return letters(String(id)) !== letters(named(node)) && id !== node.number;
}

import type { GraphCoverage, GraphEdge, GraphNode, TimesSeen } from '@phasegate/core/model';

/** The words on a node: its title, and lines of detail below it. */
export interface NodeLabel {
  readonly title: string;
  readonly details: readonly string[];
}

/** What is written on a node, the same in every format. */
export function nodeLabel(node: GraphNode): NodeLabel {
  if (node.kind === 'end') return { title: plain(node.name, TITLE_LENGTH), details: seenOf(node) };
  const details: string[] = [];
  if (node.id !== null && saysMore(node.id, node)) details.push(plain(String(node.id), DETAIL_LENGTH));
  if (node.parallel !== null) details.push(plain(`for each of ${node.parallel}`, DETAIL_LENGTH));
  if (node.gate !== null)
    details.push(plain(`${node.human ? 'human gate' : 'gate'}: ${node.gate}`, DETAIL_LENGTH));
  return {
    title: plain(`${node.number} · ${named(node)}`, TITLE_LENGTH),
    details: [...details, ...seenOf(node)],
  };
}

/** How often something was seen, in words. */
export function timesText({ tests, runs }: TimesSeen): string {
  return tests + runs === 0 ? 'never seen' : `tests ${tests}×, runs ${runs}×`;
}

/** How much of the workflow was seen, in words. */
export function coverageText({ total, seen, tests, runs }: GraphCoverage): string {
  return `${percent(seen, total)} seen (${seen} of ${total}), ${percent(tests, total)} by tests, ${percent(runs, total)} by runs`;
}

/** Whole percents, rounded down: all is only said of all. */
export function percent(part: number, whole: number): string {
  return `${whole === 0 ? 100 : Math.floor((100 * part) / whole)}%`;
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

function seenOf({ coverage }: GraphNode): readonly string[] {
  if (coverage === undefined) return [];
  // A count stays on one line with what it counts.
  const parts = coverage.parts.map(({ what, seen, total }) =>
    `${what} ${seen}/${total}`.replaceAll(' ', '\u00a0'),
  );
  return [timesText(coverage), ...(parts.length === 0 ? [] : [parts.join(', ')])];
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

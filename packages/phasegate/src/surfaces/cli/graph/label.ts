import type {
  EvidenceClass,
  GraphCheck,
  GraphCoverage,
  GraphEdge,
  GraphNode,
  TimesSeen,
} from '@phasegate/core/model';

/** The words on a node: its title, and lines of detail below it. */
export interface NodeLabel {
  readonly title: string;
  readonly details: readonly Detail[];
}

/** One detail of a node; with a class, it is something the phase asks for. */
export interface Detail {
  readonly text: string;
  readonly class: EvidenceClass | null;
}

/** What is written on a node, one detail for each thing it asks for. */
export function nodeLabel(node: GraphNode): NodeLabel {
  const details: Detail[] = [];
  const say = (text: string, evidence: EvidenceClass | null = null) => {
    details.push({ text: plain(text, DETAIL_LENGTH), class: evidence });
  };
  if (node.id !== null && saysMore(node.id, node)) say(String(node.id));
  if (node.parallel !== null) say(`for each of ${node.parallel}`);
  if (node.evidence.length > 0) {
    details.push({ text: `evidence: ${listed(node.evidence)}`, class: 'claimed' });
  }
  for (const check of node.checks) say(checkText(check), check.class);
  if (node.humanGate !== null) say(`human gate: ${node.humanGate}`);
  for (const text of seenOf(node)) details.push({ text, class: null });
  return { title: titleOf(node), details };
}

/** The same in lines of words alone, for formats that have no marks: checks of one class stand together. */
export function nodeLines(node: GraphNode): readonly string[] {
  const lines: string[] = [titleOf(node)];
  const say = (text: string) => lines.push(plain(text, DETAIL_LENGTH));
  if (node.id !== null && saysMore(node.id, node)) say(String(node.id));
  if (node.parallel !== null) say(`for each of ${node.parallel}`);
  if (node.evidence.length > 0) lines.push(`evidence: ${listed(node.evidence)}`);
  for (const evidence of ['claimed', 'observed', 'verified'] as const) {
    const some = node.checks.filter((check) => check.class === evidence);
    if (some.length > 0) lines.push(`${evidence}: ${listed(some.map(checkText))}`);
  }
  if (node.humanGate !== null) say(`human gate: ${node.humanGate}`);
  return [...lines, ...seenOf(node)];
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
  const kept = characters.slice(0, limit - 1).join('');
  // After a word, if one ends in the second half of what there is room for.
  const space = characters[limit - 1] === ' ' ? kept.length : kept.lastIndexOf(' ');
  return `${(space > kept.length / 2 ? kept.slice(0, space) : kept).trimEnd()}…`;
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
const LIST_LENGTH = 160;
const EDGE_LENGTH = 100;

// Control characters, bidirectional overrides that would reorder what stands beside them, and what XML forbids.
const INVISIBLE = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/gu;

function titleOf(node: GraphNode): string {
  if (node.kind === 'end') return plain(node.name, TITLE_LENGTH);
  return plain(`${node.number} · ${named(node)}`, TITLE_LENGTH);
}

function checkText({ label, warns }: GraphCheck): string {
  return warns ? `${label} (warns)` : label;
}

/** Names one after another, as many as there is room for; the others are counted. */
function listed(names: readonly string[]): string {
  let text = '';
  for (const [index, name] of names.entries()) {
    const longer = `${text === '' ? '' : `${text}, `}${plain(name, DETAIL_LENGTH)}`;
    if (text !== '' && longer.length > LIST_LENGTH) return `${text} and ${names.length - index} more`;
    text = longer;
  }
  return text;
}

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

import type { ImportedKey } from '../../../runtime/ports.ts';

/** A line of a Markdown file that says something of its own. */
export interface Marked {
  readonly line: number;
  readonly kind: 'heading' | 'box' | 'item' | 'label';
  readonly level: number;
  readonly text: string;
  /** The mark in the box, for example `x`; empty otherwise. */
  readonly mark: string;
}

/** The headings, boxes, list items and labels such as `**Goal**: …` of a Markdown text, without those in fenced code. */
export function markedLines(text: string): readonly Marked[] {
  const found: Marked[] = [];
  let fence = '';
  text.split(/\r?\n/).forEach((raw, index) => {
    const opens = /^\s*(`{3,}|~{3,})/.exec(raw)?.[1] ?? '';
    if (fence === '' ? opens !== '' : opens.startsWith(fence)) fence = fence === '' ? opens : '';
    else if (fence === '') found.push(...markedIn(raw).map((marked) => ({ ...marked, line: index + 1 })));
  });
  return found;
}

function markedIn(raw: string): readonly Omit<Marked, 'line'>[] {
  const [, hashes = '', heading = ''] = /^(#{1,6})\s+(.*?)\s*#*$/.exec(raw) ?? [];
  if (hashes !== '') return [{ kind: 'heading', level: hashes.length, text: heading, mark: '' }];
  const [, tick = '', star = '', boxed = ''] = /^\s*[-*+]\s+\[(.)\](\*?)\s+(.*)$/.exec(raw) ?? [];
  if (boxed !== '') return [{ kind: 'box', level: 0, text: boxed, mark: `${tick}${star}` }];
  const [, label = '', value = ''] = /^\s*(?:[-*+]\s+)?\*\*([^*]+?):?\*\*:?\s*(.*)$/.exec(raw) ?? [];
  if (label !== '' && !NOT_LABELS.test(label)) {
    return [{ kind: 'label', level: 0, text: value === '' ? label : value, mark: '' }];
  }
  const [, item = ''] = /^\s*(?:[-*+]|\d+[.)])\s+(.*)$/.exec(raw) ?? [];
  return item === '' ? [] : [{ kind: 'item', level: 0, text: item, mark: '' }];
}

/** Bold words that begin a criterion. */
const NOT_LABELS = /^(?:FR|NFR|SC)-\d|^(?:WHEN|THEN|GIVEN|AND|IF)$/i;

/** Words only, so that a text is found again whatever marks were taken off it. */
export function wordsOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** A line of the report about a Markdown file. */
export function markdownKey(
  file: string,
  line: number,
  about: Pick<ImportedKey, 'key' | 'became' | 'text'>,
): ImportedKey {
  return { file, line, column: 1, ...about };
}

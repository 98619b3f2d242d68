import { type DiffLine, lineDiff, oneLine, replaceUnseen } from '@phasegate/core/model';
import type { FileTexts, TrustCard } from '../../../runtime/ports.ts';
import type { Output } from '../output.ts';
import { broken } from './foreignLines.ts';

/** A file that is to be accepted, and what it says. */
export interface ShownFile extends FileTexts, Pick<TrustCard['files'][number], 'path' | 'change'> {}

/** How much is shown, and on what. */
export interface DiffScreen extends Pick<Output, 'paint' | 'width'> {
  /** Lines of a file at most. */
  readonly most: number;
  /** How to see the rest. */
  readonly rest: string;
}

/**
 * What of a file is new to the human who accepts it: the lines that differ, or all of a new file. An agent may have
 * written it, so every line stands behind a mark, none is broken by the terminal, and nothing in it is obeyed. Only what
 * we say of a line stands at the left edge.
 */
export function fileDiff(file: ShownFile, screen: DiffScreen): string {
  const { paint, most, rest } = screen;
  const lines = linesFor(file, screen);
  const shown = cut(lines, most);
  const more = lines.length - shown.filter(({ rank }) => rank !== 'gap').length;
  return [
    paint.bold(`${oneLine(file.path)} (${file.change})`),
    ...(file.missing === null ? [] : [`note: ${oneLine(file.missing)}`]),
    ...endNotes(file, paint),
    ...shown.map(({ text }) => text),
    ...(more === 0 ? [] : [paint.yellow(`${more} more lines are not shown: ${rest}`)]),
  ].join('\n');
}

/** A line on the screen, and what it belongs to. */
interface ScreenLine {
  readonly text: string;
  readonly rank: DiffLine['kind'] | 'head' | 'gap';
}

function linesFor({ before, after }: ShownFile, screen: DiffScreen): readonly ScreenLine[] {
  if (after === null) return [];
  const fresh = linesIn(after);
  if (before === null) return fresh.flatMap((text) => printed({ kind: 'added', text }, screen));
  const diff = lineDiff(linesIn(before), fresh);
  const parts = partsOf(diff);
  if (parts.length === 0) return [{ text: 'the bytes differ, and the text does not', rank: 'head' }];
  return parts.flatMap(({ line, lines }) => [
    { text: screen.paint.dim(`line ${line}:`), rank: 'head' as const },
    ...lines.flatMap((one) => printed(one, screen)),
  ]);
}

/** As many lines as there may be: what was added is what a human accepts, so it goes before what is gone. */
function cut(lines: readonly ScreenLine[], most: number): readonly ScreenLine[] {
  if (lines.length <= most) return lines;
  const chosen = new Set<ScreenLine>();
  for (const ranks of [['added', 'head'], ['same'], ['removed']])
    for (const line of lines) if (ranks.includes(line.rank) && chosen.size < most) chosen.add(line);
  let left = 0;
  return lines.flatMap((line): readonly ScreenLine[] => {
    if (!chosen.has(line)) {
      left += 1;
      return [];
    }
    const gap = left === 0 ? [] : [{ text: `(lines left out here: ${left})`, rank: 'gap' as const }];
    left = 0;
    return [...gap, line];
  });
}

// Everything that ends a line in JavaScript or in a version of YAML.
const LINES = /(?:\r\n|[\n\r\u0085\u2028\u2029])/;
const LINES_WITH_ENDS = new RegExp(`(?<=${LINES.source})(?<!\\r(?=\\n))`);
const END = new RegExp(`${LINES.source}$`);

/** The lines of a file, each with what ends it. */
function linesIn(text: string): readonly string[] {
  return text === '' ? [] : text.split(LINES_WITH_ENDS);
}

function endOf(line: string): string {
  return END.exec(line)?.[0] ?? '';
}

/** What is to be known of the line ends of the whole file. */
function endNotes({ after }: ShownFile, paint: DiffScreen['paint']): readonly string[] {
  const ends = new Set(linesIn(after ?? '').map(endOf));
  const unusual = [...ends].filter((end) => !USUAL.has(end));
  return [
    ...(unusual.length === 0
      ? []
      : [paint.red(`warning: contains unusual line ends (${unusual.map(nameOf).join(', ')})`)]),
    ...(ends.has('\r\n') ? [`note: ${ends.has('\n') ? 'some lines end' : 'lines end'} with CR LF`] : []),
  ];
}

const USUAL: ReadonlySet<string> = new Set(['', '\n', '\r\n']);

function nameOf(end: string): string {
  return end === '\r' ? 'CR' : `U+${end.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
}

const SIGNS = { same: ' ', removed: '-', added: '+' } as const;
const GOES_ON = '| . ';

function printed({ kind, text }: DiffLine, { paint, width }: DiffScreen): readonly ScreenLine[] {
  const mark = `| ${SIGNS[kind]} `;
  const colour = kind === 'same' ? (line: string) => line : kind === 'added' ? paint.green : paint.red;
  const end = endOf(text);
  const words = replaceUnseen(text.slice(0, text.length - end.length), escapeOf);
  // One column stays free: some terminals break a line that fills the last.
  const parts = broken(words, Math.max(20, width - mark.length - 1));
  const lines = parts.map((part, place) => colour(`${place === 0 ? mark : GOES_ON}${part}`));
  return [...lines, ...signOf(end, paint)].map((line) => ({ text: line, rank: kind }));
}

/** Under a line that does not end as lines do. */
function signOf(end: string, paint: DiffScreen['paint']): readonly string[] {
  if (end === '') return ['^ no line break at the end'];
  return USUAL.has(end)
    ? []
    : [paint.red(`^ ends with ${nameOf(end)}, which some programs take for a line break`)];
}

function escapeOf(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** Lines around a difference that are shown with it. */
const AROUND = 3;

interface Part {
  /** The number of its first line in the file as it is now. */
  readonly line: number;
  readonly lines: readonly DiffLine[];
}

/** The differences, each with a few lines around it; those near to each other are one part. */
function partsOf(diff: readonly DiffLine[]): readonly Part[] {
  const near = new Set<number>();
  diff.forEach(({ kind }, at) => {
    if (kind === 'same') return;
    for (let place = at - AROUND; place <= at + AROUND; place += 1) near.add(place);
  });
  const parts: { line: number; lines: DiffLine[] }[] = [];
  let number = 1;
  let open: { line: number; lines: DiffLine[] } | undefined;
  diff.forEach((line, at) => {
    if (!near.has(at)) open = undefined;
    else if (open === undefined) {
      open = { line: number, lines: [line] };
      parts.push(open);
    } else open.lines.push(line);
    if (line.kind !== 'removed') number += 1;
  });
  return parts;
}

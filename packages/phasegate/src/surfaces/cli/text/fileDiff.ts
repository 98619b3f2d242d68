import { oneLine } from '@phasegate/core/model';
import type { FileTexts, TrustCard } from '../../../runtime/ports.ts';
import type { Output } from '../output.ts';
import { broken } from './foreignLines.ts';
import { type DiffLine, lineDiff } from './lineDiff.ts';

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
 * written it, so every line stands behind a mark, none is broken by the terminal, and nothing in it is obeyed.
 */
export function fileDiff(file: ShownFile, screen: DiffScreen): string {
  const { paint, most, rest } = screen;
  const lines = linesFor(file, screen);
  const shown = lines.slice(0, most);
  const more = lines.length - shown.length;
  return [
    paint.bold(`${oneLine(file.path)} (${file.change})`),
    ...(file.missing === null ? [] : [`note: ${file.missing}`]),
    ...shown,
    ...(more === 0 ? [] : [paint.yellow(`${more} more lines are not shown: ${rest}`)]),
  ].join('\n');
}

function linesFor({ before, after }: ShownFile, screen: DiffScreen): readonly string[] {
  if (after === null) return [];
  const fresh = linesIn(after);
  if (before === null) return fresh.flatMap((text) => printed({ kind: 'added', text }, screen));
  const diff = lineDiff(linesIn(before), fresh);
  const parts = partsOf(diff);
  if (parts.length === 0) return ['the bytes differ, and the text does not'];
  return parts.flatMap(({ line, lines }) => [
    screen.paint.dim(`line ${line}:`),
    ...lines.flatMap((one) => printed(one, screen)),
  ]);
}

/** The lines of a file; one without an end says so. */
function linesIn(text: string): readonly string[] {
  return text.endsWith('\n')
    ? text.slice(0, -1).split('\n')
    : [...text.split('\n'), '(no line break at the end)'];
}

const SIGNS = { same: ' ', removed: '-', added: '+' } as const;

function printed({ kind, text }: DiffLine, { paint, width }: DiffScreen): readonly string[] {
  const mark = `| ${SIGNS[kind]} `;
  const colour = kind === 'same' ? (line: string) => line : kind === 'added' ? paint.green : paint.red;
  // One column stays free: some terminals break a line that fills the last.
  return broken(oneLine(text), Math.max(20, width - mark.length - 1)).map((part) => colour(`${mark}${part}`));
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

import { existsSync, realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { Problem } from '@phasegate/core';
import { oneLine } from '@phasegate/core/model';
import { readRegular } from '../../../files/readRegular.ts';
import type { Paint } from '../paint.ts';

/** How an excerpt is drawn. */
export interface Excerpting {
  readonly paint: Paint;
  /** Columns there are. */
  readonly width: number;
}

/** Reads the lines of a project's files, each file once; null for what cannot be shown. */
export function createSources(root: string): (problem: Pick<Problem, 'file' | 'line'>) => string | null {
  const files = new Map<string, readonly string[] | null>();
  return ({ file, line }) => {
    if (!files.has(file)) files.set(file, linesIn(root, file));
    return files.get(file)?.[line - 1] ?? null;
  };
}

/** The line a problem is in, with a caret under the place; nothing where the line cannot be shown. */
export function excerpt(
  source: string | null,
  { line, column }: Pick<Problem, 'line' | 'column'>,
  { paint, width }: Excerpting,
): readonly string[] {
  if (source === null || source.trim() === '') return [];
  const gutter = `  ${line} | `;
  const room = Math.max(20, width - gutter.length - 1);
  const before = show(source.slice(0, column - 1));
  const all = before + show(source.slice(column - 1));
  // A long line begins where its place is still in sight.
  const from = columnsOf(before) > room - 8 ? Math.max(0, before.length - Math.floor(room / 2)) : 0;
  const head = from === 0 ? '' : '...';
  const text = fitted(head + all.slice(from), room);
  const blank = ' '.repeat(columnsOf(head + before.slice(from)));
  return [
    `${paint.dim(gutter)}${text}`,
    `${paint.dim(`${' '.repeat(gutter.length - 2)}| `)}${blank}${paint.red('^')}`,
  ];
}

/** Larger than any definition. */
const LARGEST = 4 * 1024 * 1024;

/** INVARIANT: nothing outside of the project is shown, wherever a link leads, and nothing that is not a file is opened. */
function linesIn(root: string, file: string): readonly string[] | null {
  const path = join(root, file);
  try {
    if (!existsSync(path) || !realpathSync(path).startsWith(realpathSync(root) + sep)) return null;
    const text = readRegular(path, { most: LARGEST, links: 'follow' }).toString('utf8');
    return text.split(/\r\n|[\n\r]/);
  } catch {
    // The problem itself says what is wrong with the file.
    return null;
  }
}

/** A tab is as wide as a blank here: the caret must find its place. */
function show(text: string): string {
  return oneLine(text.replaceAll('\t', ' '));
}

function fitted(text: string, room: number): string {
  let taken = 0;
  let shown = '';
  for (const character of text) {
    taken += columnsOf(character);
    if (taken > room) return `${shown.slice(0, -3)}...`;
    shown += character;
  }
  return shown;
}

function columnsOf(text: string): number {
  return [...text].reduce((sum, character) => sum + (WIDE.test(character) ? 2 : 1), 0);
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

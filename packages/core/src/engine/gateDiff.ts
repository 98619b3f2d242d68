import type { JsonObject } from '../json.ts';
import { type DiffLine, lineDiff } from '../model/lineDiff.ts';
import type { TreeChange } from './run.ts';

/** A file that a phase changed, on both sides as the engine measured it and not as the workspace has it now. */
export interface ChangedFile extends Pick<TreeChange, 'path' | 'how'> {
  /** SHA-256 of what it held; null where it was not there, or is nothing that holds anything. */
  readonly before: string | null;
  readonly after: string | null;
  /** Not in the phase's scope: a human accepted it, or it is only on record. */
  readonly outside?: true;
  /** What may be done with it, where that is other than before, in words. */
  readonly permissions?: string;
  /** The texts, where both could be had as such. */
  readonly texts?: { readonly before: string; readonly after: string };
  /** Why there are none. */
  readonly untold?: string;
}

/** What a phase changed, for the card of its gate. */
export interface GateDiff {
  readonly files: readonly ChangedFile[];
  /** Files beyond those: how many, and a hash over all their paths and contents. */
  readonly rest?: { readonly files: number; readonly hash: string };
}

/** How much of a difference is told; hashes stand for what is not. */
interface Room {
  readonly lines: number;
  readonly characters: number;
  readonly longestLine: number;
  /** What differs more is told as removed and added. */
  readonly edits: number;
}

/** So many characters of all files are on a card. It is made at every look, of many files. */
const MOST_CHARACTERS = 60_000;
const ON_CARD = { lines: 200, longestLine: 500, edits: 200 } as const;
/** Where one file is asked for. */
const BY_ITSELF: Room = { lines: 50_000, characters: 1_000_000, longestLine: 10_000, edits: 1_000 };
/** Lines around a difference that are shown with it. */
const AROUND = 3;

/** The sections of a gate card about it; nothing is written where no file changed. */
export function diffSections({ files, rest }: GateDiff): JsonObject {
  let left = MOST_CHARACTERS;
  const told = files.map((file, place): JsonObject => {
    // What one file leaves the next may use: none takes all the room.
    const share = Math.floor(left / (files.length - place));
    const written = tellFile(file, { ...ON_CARD, characters: share });
    left -= written.diff?.length ?? 0;
    return { ...written };
  });
  return {
    ...(told.length === 0 ? {} : { diff: told }),
    ...(rest === undefined ? {} : { diff_rest: { ...rest } }),
  };
}

/** A changed file as a card spells it. */
export type ToldFile = {
  readonly path: string;
  readonly how: string;
  readonly outside?: true;
  readonly permissions?: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly untold?: string;
  readonly added?: number;
  readonly removed?: number;
  readonly diff?: string;
  readonly lines_cut?: number;
  readonly lines_shortened?: number;
};

/** One file with more of its difference than the card has room for. */
export function wholeFile(file: ChangedFile): ToldFile {
  return tellFile(file, BY_ITSELF);
}

function tellFile(file: ChangedFile, room: Room): ToldFile {
  const { path, how, before, after, outside } = file;
  const written = file.texts === undefined ? null : writeDiff(file.texts, room);
  return {
    path,
    how,
    ...(outside === undefined ? {} : { outside }),
    ...(file.permissions === undefined ? {} : { permissions: file.permissions }),
    before,
    after,
    ...(file.untold === undefined ? {} : { untold: file.untold }),
    ...(written === null ? {} : { added: written.added, removed: written.removed, diff: written.text }),
    ...(written === null || written.cut === 0 ? {} : { lines_cut: written.cut }),
    ...(written === null || written.shortened === 0 ? {} : { lines_shortened: written.shortened }),
  };
}

interface WrittenDiff {
  readonly text: string;
  readonly added: number;
  readonly removed: number;
  /** Lines that found no room. */
  readonly cut: number;
  /** Lines of which only the beginning is shown. */
  readonly shortened: number;
}

function writeDiff(
  { before, after }: { readonly before: string; readonly after: string },
  room: Room,
): WrittenDiff {
  const diff = lineDiff(linesIn(before), linesIn(after), room.edits);
  const lines = shownLines(diff, room.longestLine);
  const chosen: string[] = [];
  let size = 0;
  for (const line of lines) {
    if (chosen.length >= room.lines || size + line.length + 1 > room.characters) break;
    chosen.push(line);
    size += line.length + 1;
  }
  const count = (kind: DiffLine['kind']) => diff.filter((line) => line.kind === kind).length;
  return {
    text: chosen.join('\n'),
    added: count('added'),
    removed: count('removed'),
    cut: lines.length - chosen.length,
    shortened: diff.filter(({ kind, text }) => kind !== 'same' && text.length > room.longestLine).length,
  };
}

const SIGNS = { same: ' ', removed: '-', added: '+' } as const;

/** The differences with a few lines around each, and where in the file as it is now each begins. */
function shownLines(diff: readonly DiffLine[], longest: number): readonly string[] {
  const near = new Set<number>();
  diff.forEach(({ kind }, at) => {
    if (kind === 'same') return;
    for (let place = at - AROUND; place <= at + AROUND; place += 1) near.add(place);
  });
  const lines: string[] = [];
  let [number, open] = [1, false];
  diff.forEach(({ kind, text }, at) => {
    if (near.has(at)) {
      if (!open) lines.push(`@@ line ${number}`);
      lines.push(`${SIGNS[kind]}${brief(text, longest)}`);
    }
    open = near.has(at);
    if (kind !== 'removed') number += 1;
  });
  return lines;
}

function linesIn(text: string): readonly string[] {
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

function brief(line: string, longest: number): string {
  if (line.length <= longest) return onItsLine(line);
  return `${onItsLine(line.slice(0, longest))} … (${line.length} characters)`;
}

/**
 * A line of a file, without anything that ends a line where it is shown: what would stand on a line of its own there
 * has no sign, and could pretend to one.
 */
function onItsLine(line: string): string {
  return line.replace(LINE_ENDS, (end) => `\\u{${end.charCodeAt(0).toString(16)}}`);
}

const LINE_ENDS = /[\r\v\f\u0085\u2028\u2029]/g;

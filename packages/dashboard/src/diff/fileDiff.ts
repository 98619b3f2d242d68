import { cardLines, type DiffLine, gitLines } from './diffLines.ts';

/** One changed file as it is shown. */
export interface FileDiff {
  readonly path: string;
  readonly how: string;
  /** Not in the phase's scope. */
  readonly outside: boolean;
  readonly permissions: string | null;
  /** Hashes of what it held and holds; null where it was or is not there, or nobody says. */
  readonly before: string | null;
  readonly after: string | null;
  /** Why there are no lines. */
  readonly untold: string | null;
  readonly added: number;
  readonly removed: number;
  readonly lines: readonly DiffLine[];
  /** Lines that are not among them. */
  readonly cut: number;
  /** Lines of which only the beginning is. */
  readonly shortened: number;
  /** Its lines were not asked for yet. */
  readonly unread: boolean;
}

type Data = Readonly<Record<string, unknown>>;

/** A file as a gate card, or what goes with it, spells it. */
export function fileFromCard(file: Data): FileDiff {
  const text = (key: string) => (typeof file[key] === 'string' ? String(file[key]) : null);
  const number = (key: string) => (typeof file[key] === 'number' ? Number(file[key]) : 0);
  return {
    path: text('path') ?? '',
    how: text('how') ?? 'changed',
    outside: file.outside === true,
    permissions: text('permissions'),
    before: text('before'),
    after: text('after'),
    untold: text('untold'),
    added: number('added'),
    removed: number('removed'),
    lines: cardLines(text('diff') ?? ''),
    cut: number('lines_cut'),
    shortened: number('lines_shortened'),
    unread: false,
  };
}

/** The files of what `git diff` writes, and what stands before the first of them. */
export function filesFromGit(diff: string): {
  readonly notes: readonly string[];
  readonly files: readonly FileDiff[];
} {
  const lines = diff.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const starts = lines.flatMap((line, at) => (line.startsWith('diff --git ') ? [at] : []));
  return {
    notes: lines.slice(0, starts[0] ?? lines.length).filter((line) => line !== ''),
    files: starts.map((start, index) => gitFile(lines.slice(start, starts[index + 1] ?? lines.length))),
  };
}

/** What lies in front of a path, as Phasegate and as others have git write it. */
const HEAD = /^diff --git (?:before|after|a|b)\/(.*) (?:before|after|a|b)\/\1$/;

function gitFile([head = '', ...rest]: readonly string[]): FileDiff {
  const begins = rest.findIndex((line) => line.startsWith('@@ '));
  const about = begins === -1 ? rest : rest.slice(0, begins);
  const lines = gitLines(begins === -1 ? [] : rest.slice(begins));
  const says = (words: RegExp) => about.some((line) => words.test(line));
  const count = (kind: DiffLine['kind']) => lines.filter((line) => line.kind === kind).length;
  const modes = about.filter((line) => /^(?:old|new) mode /.test(line));
  return {
    path: HEAD.exec(head)?.[1] ?? head.slice('diff --git '.length),
    how: says(/^new file mode /) ? 'added' : says(/^deleted file mode /) ? 'removed' : 'changed',
    outside: false,
    permissions: modes.length === 0 ? null : modes.join(', '),
    before: null,
    after: null,
    untold: says(/^Binary files /) ? 'it is not text' : null,
    added: count('add'),
    removed: count('del'),
    lines,
    cut: 0,
    shortened: 0,
    unread: false,
  };
}

/** One line of a difference as it is shown. */
export interface DiffLine {
  readonly kind: 'hunk' | 'add' | 'del' | 'same' | 'note';
  readonly text: string;
  /** Its number before and now; null where it has none, or nobody says. */
  readonly old: number | null;
  readonly now: number | null;
}

/** Reads one file's part of what `git diff` writes; a line it would not write is a note. */
export function gitLines(lines: readonly string[]): readonly DiffLine[] {
  let [old, now, inside] = [0, 0, false];
  return lines.map((text): DiffLine => {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(text);
    if (hunk !== null) {
      [old, now, inside] = [Number(hunk[1]), Number(hunk[2]), true];
      return { kind: 'hunk', text, old: null, now: null };
    }
    if (!inside) return note(text);
    if (text.startsWith('+')) return { kind: 'add', text: text.slice(1), old: null, now: now++ };
    if (text.startsWith('-')) return { kind: 'del', text: text.slice(1), old: old++, now: null };
    if (text.startsWith(' ')) return { kind: 'same', text: text.slice(1), old: old++, now: now++ };
    return note(text);
  });
}

/** Reads the lines of a file on a gate card, which say where in the file as it is now each part begins. */
export function cardLines(diff: string): readonly DiffLine[] {
  if (diff === '') return [];
  let now = 1;
  return diff.split('\n').map((text): DiffLine => {
    const place = /^@@ line (\d+)$/.exec(text);
    if (place !== null) {
      now = Number(place[1]);
      return { kind: 'hunk', text: `from line ${now}`, old: null, now: null };
    }
    if (text.startsWith('+')) return { kind: 'add', text: text.slice(1), old: null, now: now++ };
    if (text.startsWith('-')) return { kind: 'del', text: text.slice(1), old: null, now: null };
    if (text.startsWith(' ')) return { kind: 'same', text: text.slice(1), old: null, now: now++ };
    return note(text);
  });
}

function note(text: string): DiffLine {
  return { kind: 'note', text, old: null, now: null };
}

/** One line of a difference as it is shown. */
export interface DiffLine {
  readonly kind: 'file' | 'hunk' | 'add' | 'del' | 'same' | 'note';
  readonly text: string;
  readonly old: number | null;
  readonly now: number | null;
}

/** Reads what `git diff` writes; a line it would not write is a note. */
export function diffLines(diff: string): readonly DiffLine[] {
  const lines = diff.split('\n');
  if (lines.at(-1) === '') lines.pop();
  let [old, now, inside] = [0, 0, false];
  return lines.map((text): DiffLine => {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(text);
    if (hunk !== null) {
      [old, now, inside] = [Number(hunk[1]), Number(hunk[2]), true];
      return { kind: 'hunk', text, old: null, now: null };
    }
    if (/^diff --git /.test(text)) {
      inside = false;
      return { kind: 'file', text: text.replace(/^diff --git a\/(.*) b\/\1$/, '$1'), old: null, now: null };
    }
    if (!inside) return { kind: 'note', text, old: null, now: null };
    if (text.startsWith('+')) return { kind: 'add', text: text.slice(1), old: null, now: now++ };
    if (text.startsWith('-')) return { kind: 'del', text: text.slice(1), old: old++, now: null };
    if (text.startsWith(' ')) return { kind: 'same', text: text.slice(1), old: old++, now: now++ };
    return { kind: 'note', text, old: null, now: null };
  });
}

import { lineDiff } from '@phasegate/core/model';
import type { GateCard } from '@phasegate/wire';
import type { DiffLine } from '../diff/diffLines.ts';
import type { FileDiff } from '../diff/fileDiff.ts';

/** Which parts of a card are not as they were, and how each differs, line by line. */
export function changedSections(seen: GateCard['card'], now: GateCard['card']): readonly FileDiff[] {
  const keys = [...new Set([...Object.keys(seen), ...Object.keys(now)])];
  return keys
    .filter((key) => JSON.stringify(seen[key]) !== JSON.stringify(now[key]))
    .map((key) => sectionOf(key, seen[key], now[key]));
}

/** Lines around a difference that are shown with it. */
const AROUND = 3;

function sectionOf(key: string, seen: unknown, now: unknown): FileDiff {
  const diff = lineDiff(linesOf(seen), linesOf(now));
  const near = new Set<number>();
  for (const [at, { kind }] of diff.entries()) {
    if (kind !== 'same') for (let place = at - AROUND; place <= at + AROUND; place += 1) near.add(place);
  }
  const lines = diff.flatMap(({ kind, text }, at): readonly DiffLine[] =>
    near.has(at) ? [{ kind: KINDS[kind], text, old: null, now: null }] : [],
  );
  return {
    path: key.replaceAll('_', ' '),
    how: seen === undefined ? 'added' : now === undefined ? 'removed' : 'changed',
    outside: false,
    permissions: null,
    before: null,
    after: null,
    untold: null,
    added: lines.filter(({ kind }) => kind === 'add').length,
    removed: lines.filter(({ kind }) => kind === 'del').length,
    lines,
    cut: 0,
    shortened: 0,
    unread: false,
  };
}

const KINDS = { added: 'add', removed: 'del', same: 'same' } as const;

/** As a person reads it: what is a text within the value has its own lines. */
function linesOf(value: unknown): readonly string[] {
  if (value === undefined) return [];
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return text.replaceAll('\\n', '\n').split('\n');
}

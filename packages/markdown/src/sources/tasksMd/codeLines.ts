import { isDocumentHeading, isStrongHeader, startsKnownLabel } from './strongHeader.ts';

/**
 * Which lines are code. Real documents nest fences and leave them open, so pairing alone would swallow whole
 * phases: a phase or task header after a blank line ends every fence that is open, and the fences between two
 * such headers are paired on their own.
 */
export function codeLines(raws: readonly string[]): readonly boolean[] {
  const code = raws.map(() => false);
  const fences = raws.flatMap((raw, index) => fenceOf(raw, index) ?? []);
  if (fences.length === 0) return code;
  const trusted = trustedLines(raws, fences);
  const ends = [...resynchronisations(raws, trusted), raws.length];
  const events = trusted === null ? withLabels(raws, fences) : fences;
  let next = 0;
  for (const end of ends) {
    const inside: Mark[] = [];
    for (let mark = events[next]; mark !== undefined && mark.index < end; mark = events[++next])
      inside.push(mark);
    for (const region of pair(inside, end)) paint(code, raws, region);
  }
  return code;
}

interface Fence {
  readonly index: number;
  readonly character: string;
  readonly length: number;
  readonly info: string;
}

/** A label that every task has. Where fences are broken, it shows that we are in the document again. */
interface LabelLine {
  readonly index: number;
  readonly character: '';
}

type Mark = Fence | LabelLine;

interface Region {
  readonly opener: Fence;
  /** The line after the region. */
  readonly end: number;
  /** False where the author never closed it. */
  readonly closed: boolean;
}

function fenceOf(raw: string, index: number): Fence | null {
  const match = /^[ \t>]*(?:[-*+][ \t]+)?(`{3,}|~{3,})[ \t]*([^`]*)$/.exec(raw);
  if (match === null) return null;
  const mark = match[1] ?? '';
  return { index, character: mark[0] ?? '', length: mark.length, info: (match[2] ?? '').trim() };
}

/**
 * The lines of blocks with a language, where every fence of the document is paired without any doubt: a header in
 * one is an example, or a comment. Null when there is doubt.
 */
function trustedLines(raws: readonly string[], fences: readonly Fence[]): ReadonlySet<number> | null {
  const trusted = new Set<number>();
  let open: Fence | null = null;
  for (const fence of fences) {
    if (open === null) open = fence;
    else if (isContent(open, fence)) continue;
    else if (fence.info !== '') return null;
    else if (isSuspicious(raws, open, fence)) return null;
    else {
      if (open.info !== '') for (let line = open.index; line <= fence.index; line++) trusted.add(line);
      open = null;
    }
  }
  return open === null ? trusted : null;
}

/** A paired block that holds what only the document does: two mistakes may look like no mistake. */
function isSuspicious(raws: readonly string[], open: Fence, close: Fence): boolean {
  if (mayHoldLabels(open)) return false;
  for (let index = open.index + 1; index < close.index; index++) {
    const raw = raws[index] ?? '';
    if (open.info !== '' ? startsKnownLabel(raw) : raws[index - 1] === '' && isStrongHeader(raw)) return true;
  }
  return false;
}

/** Headers at which an open fence ends. */
function resynchronisations(raws: readonly string[], trusted: ReadonlySet<number> | null): readonly number[] {
  const found: number[] = [];
  for (let index = 1; index < raws.length; index++) {
    const before = raws[index - 1] ?? '';
    const raw = raws[index] ?? '';
    if (before.trim() !== '' && !/^[ \t]*-{3,}$/.test(before)) continue;
    if (trusted === null ? isStrongHeader(raw) || isDocumentHeading(raw) : isStrongHeader(raw)) {
      if (trusted?.has(index) !== true) found.push(index);
    }
  }
  return found;
}

function withLabels(raws: readonly string[], fences: readonly Fence[]): readonly Mark[] {
  const labels = raws.flatMap((raw, index): readonly LabelLine[] =>
    startsKnownLabel(raw) ? [{ index, character: '' }] : [],
  );
  return [...fences, ...labels].sort((a, b) => a.index - b.index);
}

/** A shorter fence, or one of the other character, cannot close the open one. */
function isContent(open: Fence, fence: Fence): boolean {
  return fence.character !== open.character || fence.length < open.length;
}

function isLabel(mark: Mark): mark is LabelLine {
  return mark.character === '';
}

/** A block of Markdown may well hold a label; one of Python or of nothing in particular does not. */
function mayHoldLabels(open: Fence): boolean {
  return /^(?:markdown|md|mdx)\b/i.test(open.info);
}

function pair(marks: readonly Mark[], end: number): readonly Region[] {
  const nested = pairNested(marks, end);
  return nested.every(({ closed }) => closed) ? nested : pairFlat(marks, end);
}

/** A fence with a language inside an open one opens a further one. */
function pairNested(marks: readonly Mark[], end: number): readonly Region[] {
  const regions: Region[] = [];
  let open: Fence[] = [];
  for (const mark of marks) {
    const outermost = open[0];
    const innermost = open.at(-1);
    if (outermost === undefined || innermost === undefined) {
      if (!isLabel(mark)) open.push(mark);
    } else if (isLabel(mark)) {
      if (mayHoldLabels(outermost)) continue;
      regions.push({ opener: outermost, end: mark.index, closed: false });
      open = [];
    } else if (isContent(innermost, mark)) continue;
    else if (mark.info !== '') open.push(mark);
    else {
      open.pop();
      if (open.length === 0) regions.push({ opener: innermost, end: mark.index + 1, closed: true });
    }
  }
  const [outermost] = open;
  if (outermost !== undefined) regions.push({ opener: outermost, end, closed: false });
  return regions;
}

/** A fence with a language ends an open one, which the author forgot to close. */
function pairFlat(marks: readonly Mark[], end: number): readonly Region[] {
  const regions: Region[] = [];
  let open: Fence | null = null;
  for (const mark of marks) {
    if (open === null) {
      if (!isLabel(mark)) open = mark;
    } else if (isLabel(mark)) {
      if (mayHoldLabels(open)) continue;
      regions.push({ opener: open, end: mark.index, closed: false });
      open = null;
    } else if (isContent(open, mark)) continue;
    else if (mark.info !== '') {
      regions.push({ opener: open, end: mark.index, closed: false });
      open = mark;
    } else {
      regions.push({ opener: open, end: mark.index + 1, closed: true });
      open = null;
    }
  }
  if (open !== null) regions.push({ opener: open, end, closed: false });
  return regions;
}

/** In a region nobody closed, code lasts until something that is clearly the document again. */
function paint(code: boolean[], raws: readonly string[], region: Region): void {
  const { opener, closed } = region;
  let { end } = region;
  if (!closed) {
    for (let index = opener.index + 1; index < end; index++) {
      const raw = raws[index] ?? '';
      const prose = startsKnownLabel(raw) || (opener.info === '' && /^[ \t]*[-*+] \[[ xX]\] /.test(raw));
      if (prose) end = index;
    }
  }
  for (let index = opener.index; index < end; index++) code[index] = true;
}

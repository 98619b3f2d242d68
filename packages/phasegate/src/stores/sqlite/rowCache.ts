/** Rows kept parsed, true to the database although other processes write to it. */
export interface RowCache<Row> {
  /** The newest committed row, or within a batch the row as the batch has made it. */
  current(key: string): Row | undefined;
  /** The batch has made a row into this, or has dropped it. */
  change(key: string, row: Row | null): void;
  /** To be called when another process may have written: what is kept must be looked at again. */
  doubt(): void;
  /** The batch is on disk. */
  committed(): void;
  /** The batch never happened. */
  discarded(): void;
}

/** Where the rows come from. */
export interface RowSource<Row> {
  read(key: string): Row | undefined;
  /** Whether the stored row still is this one, for less than it takes to read it. */
  unchanged(key: string, row: Row): boolean;
  /** Whether a row is worth keeping. */
  keeps(row: Row): boolean;
  /** Whether it is worth keeping too that there is no row: everybody asks for some that most never have. */
  readonly keepsAbsent?: boolean;
  /** How many rows are kept at most; those used longest ago go first. */
  readonly most: number;
  /** How large a row is, where rows differ much. */
  size?(row: Row): number;
  /**
   * How large all that are kept may be together. The one used last stays, however large it is, and counts as no more than
   * a large one: no others go for the rest of it, and it is the first to go for them.
   */
  readonly mostSize?: number;
  /**
   * The row without what is large and seldom asked for, which it reads again where it is; the row itself where it has
   * nothing of that. Where rows are too large together they are made light before any goes.
   */
  light?(row: Row): Row;
  /** Whether all are kept light from the beginning. */
  readonly isAlwaysLight?: boolean;
}

/** Makes a cache over a table. */
export function createRowCache<Row>(source: RowSource<Row>): RowCache<Row> {
  const kept = new Map<string, Kept<Row>>();
  const batch = new Map<string, Row | null>();
  /** Those that may have something to leave, in the order of their last use. */
  const heavy = new Set<string>();
  const { most, mostSize = Number.POSITIVE_INFINITY } = source;
  /** From here on a row is a large one. */
  const large = mostSize / LARGE_SHARE;
  let generation = 0;
  /** Of all that are kept. */
  let total = 0;

  function isTooLarge(used: string): boolean {
    const size = kept.get(used)?.size ?? 0;
    return total - Math.max(0, size - large) > mostSize;
  }

  function drop(key: string): void {
    total -= kept.get(key)?.size ?? 0;
    kept.delete(key);
    heavy.delete(key);
  }

  /** What is kept of a row; undefined where it is not worth it. */
  function worthKeeping(row: Row | null | undefined): Row | null | undefined {
    if (row === null || row === undefined) return source.keepsAbsent === true ? null : undefined;
    if (!source.keeps(row)) return undefined;
    return source.isAlwaysLight === true ? source.light?.(row) : row;
  }

  function keep(key: string, given: Row | null | undefined): void {
    drop(key);
    const found = worthKeeping(given);
    if (found === undefined) return;
    // A large one is light from the beginning: what it leaves out would be most of what is kept.
    const isLarge = found !== null && (source.size?.(found) ?? 0) > large;
    const row = isLarge ? (source.light?.(found) ?? found) : found;
    const size = row === null ? 0 : (source.size?.(row) ?? 0);
    kept.set(key, { row, generation, size });
    total += size;
    if (source.light !== undefined && source.isAlwaysLight !== true) heavy.add(key);
    // Asked first: to find the oldest, a map goes past all that was taken out at its front.
    if (isTooLarge(key)) makeSmaller(key);
    if (kept.size > most) drop(kept.keys().next().value as string);
  }

  /** No more than needed, and never the one that is used now. */
  function makeSmaller(used: string): void {
    lighten(used);
    for (const key of largeFirst(kept.keys())) {
      if (!isTooLarge(used)) break;
      if (key !== used) drop(key);
    }
  }

  function lighten(used: string): void {
    for (const key of largeFirst(heavy)) {
      if (!isTooLarge(used)) break;
      if (key === used) continue;
      heavy.delete(key);
      const found = kept.get(key);
      if (found === undefined || found.row === null) continue;
      const row = source.light?.(found.row) ?? found.row;
      const size = source.size?.(row) ?? 0;
      // In its place: that it takes less room is no use of it.
      kept.set(key, { ...found, row, size });
      total += size - found.size;
    }
  }

  /**
   * From the one used longest ago on, those that are too large by themselves first, then the large ones. INVARIANT: one who
   * has a few large rows pushes out those, and not the many small ones that others work with.
   */
  function largeFirst(keys: Iterable<string>): readonly string[] {
    const shares: [string[], string[], string[]] = [[], [], []];
    for (const key of keys) {
      const size = kept.get(key)?.size ?? 0;
      shares[size > mostSize ? 0 : size > large ? 1 : 2].push(key);
    }
    return shares.flat();
  }

  function stands(key: string, { row, generation: seen }: Kept<Row>): boolean {
    return seen === generation || (row !== null && source.unchanged(key, row));
  }

  return {
    current(key) {
      const changed = batch.get(key);
      if (changed !== undefined) return changed ?? undefined;
      const known = kept.get(key);
      if (known !== undefined && stands(key, known)) {
        // Which row was used last matters only where one may have to go.
        const full = kept.size * 2 > most || total * 2 > mostSize;
        if (known.generation !== generation || full) keep(key, known.row);
        return known.row ?? undefined;
      }
      const row = source.read(key);
      keep(key, row);
      return row;
    },
    change(key, row) {
      batch.set(key, row);
    },
    doubt() {
      generation += 1;
    },
    committed() {
      for (const [key, row] of batch) keep(key, row);
      batch.clear();
    },
    discarded() {
      batch.clear();
    },
  };
}

/** A row of more than this share of all is a large one. */
const LARGE_SHARE = 16;

interface Kept<Row> {
  /** Null where there was none. */
  readonly row: Row | null;
  readonly generation: number;
  readonly size: number;
}

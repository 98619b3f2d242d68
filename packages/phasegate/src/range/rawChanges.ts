/** One line of git's raw differences. */
export interface RawChange {
  /** Null where the name is not UTF-8; `shown` stands for it then. */
  readonly path: string | null;
  readonly shown: string;
  readonly mode: string;
  readonly id: string;
  readonly isGone: boolean;
}

/** The differences of one commit, from one of its parents. */
export interface RawDiff {
  /** Empty where two trees were compared. */
  readonly commit: string;
  readonly changes: readonly RawChange[];
}

/** Reads what `git diff-tree -z --raw` printed; names stand in it as the bytes they are. */
export function rawChanges(printed: Buffer): readonly RawDiff[] {
  const diffs: { commit: string; changes: RawChange[] }[] = [];
  for (let at = 0; at < printed.length; ) {
    const end = endOf(printed, at);
    const head = printed.toString('latin1', at, end);
    at = end + 1;
    if (!head.startsWith(':')) {
      diffs.push({ commit: head.trim(), changes: [] });
      continue;
    }
    const [, mode = '', , id = '', status = ''] = head.slice(1).split(' ');
    const until = endOf(printed, at);
    const name = printed.subarray(at, until);
    at = until + 1;
    if (diffs.length === 0) diffs.push({ commit: '', changes: [] });
    diffs.at(-1)?.changes.push({ ...nameOf(name), mode, id, isGone: status.startsWith('D') });
  }
  return diffs;
}

function endOf(bytes: Buffer, from: number): number {
  const end = bytes.indexOf(0, from);
  return end === -1 ? bytes.length : end;
}

function nameOf(bytes: Buffer): Pick<RawChange, 'path' | 'shown'> {
  try {
    const path = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { path, shown: path };
  } catch {
    return { path: null, shown: bytes.toString('latin1') };
  }
}

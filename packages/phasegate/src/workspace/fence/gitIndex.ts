/** Why an index cannot be read. */
export class IndexUnreadable extends Error {}

/**
 * The paths in a git index, without git: running git in a workspace runs what its config says. Only names are read;
 * submodules and folders of a sparse index are left out.
 */
export function pathsInIndex(bytes: Buffer): readonly string[] {
  if (bytes.length < 12 || bytes.toString('latin1', 0, 4) !== 'DIRC')
    throw new IndexUnreadable('it has no header');
  const version = bytes.readUInt32BE(4);
  if (version < 2 || version > 4) throw new IndexUnreadable(`its version is ${version}`);
  const count = bytes.readUInt32BE(8);
  for (const idLength of [20, 32]) {
    const found = readPaths(bytes, { version, count, idLength });
    if (found !== null) return found;
  }
  throw new IndexUnreadable('its entries do not fit its length');
}

interface Shape {
  readonly version: number;
  readonly count: number;
  /** Of object ids: SHA-1 or SHA-256. */
  readonly idLength: number;
}

/** Null where the entries are not of this shape. */
function readPaths(bytes: Buffer, { version, count, idLength }: Shape): readonly string[] | null {
  const paths: string[] = [];
  let at = 12;
  let before: Buffer = Buffer.alloc(0);
  for (let entry = 0; entry < count; entry += 1) {
    const start = at;
    const flagsAt = start + 40 + idLength;
    if (flagsAt + 2 > bytes.length) return null;
    const mode = bytes.readUInt32BE(start + 24);
    const extended = (bytes.readUInt16BE(flagsAt) & 0x4000) !== 0;
    if (!KINDS.has(mode >>> 12)) return null;
    at = flagsAt + (extended ? 4 : 2);
    if (version === 4) {
      const cut = readOffset(bytes, at);
      if (cut === null || cut.value > before.length) return null;
      const end = bytes.indexOf(0, cut.end);
      if (end === -1) return null;
      before = Buffer.concat([before.subarray(0, before.length - cut.value), bytes.subarray(cut.end, end)]);
      at = end + 1;
    } else {
      const end = bytes.indexOf(0, at);
      if (end === -1) return null;
      before = bytes.subarray(at, end);
      // Padded with zeros to a multiple of eight, one at least.
      at = start + Math.ceil((end - start + 1) / 8) * 8;
    }
    if (mode >>> 12 === 0o10 || mode >>> 12 === 0o12) paths.push(before.toString('utf8'));
  }
  return at + idLength <= bytes.length ? paths : null;
}

/** Files, folders of a sparse index, links and submodules. */
const KINDS: ReadonlySet<number> = new Set([0o10, 0o04, 0o12, 0o16]);

/** A number as packs write it. */
function readOffset(bytes: Buffer, start: number): { readonly value: number; readonly end: number } | null {
  let at = start;
  let byte = bytes[at];
  if (byte === undefined) return null;
  let value = byte & 0x7f;
  while (byte & 0x80) {
    at += 1;
    byte = bytes[at];
    if (byte === undefined) return null;
    value = ((value + 1) << 7) + (byte & 0x7f);
  }
  return { value, end: at + 1 };
}

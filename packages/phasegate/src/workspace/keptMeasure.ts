import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { canonicalJson, isJsonObject, type JsonObject } from '@phasegate/core';

/** What the guard's own files have to be: kind and digest by path, and the folders nobody looked into. */
export interface Measure {
  readonly files: Readonly<Record<string, MeasuredFile>>;
  readonly beyond: readonly string[];
}

interface MeasuredFile {
  readonly kind: 'file' | 'link' | 'other';
  readonly digest: string;
  readonly mode?: number;
}

/** Where a measure is kept, and what seals it. */
export interface Keeping {
  /** In the state directory. */
  readonly folder: string;
  /** Real path of the workspace: worktrees share a state directory, and have files of their own. */
  readonly root: string;
  readonly seal: { sign(text: string): string; verifySignature(text: string, signature: string): boolean };
}

/** Keeps a measure in place of the one before. */
export async function keepMeasure({ folder, root, seal }: Keeping, measure: Measure): Promise<void> {
  const entries = Object.entries(measure.files).map(([path, { kind, digest, mode }]) => [
    path,
    { kind, digest, ...(mode === undefined ? {} : { mode }) },
  ]);
  const kept: JsonObject = { root, files: Object.fromEntries(entries), beyond: measure.beyond };
  const signature = seal.sign(sealedText(kept));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, `${randomBytes(8).toString('hex')}.draft`);
  await writeFile(draft, `${JSON.stringify({ kept, signature })}\n`, { mode: 0o600, flag: 'wx' });
  await rename(draft, fileIn(folder, root));
}

/** Null where none was ever kept. INVARIANT: what we did not write is a measure that nothing meets. */
export async function readMeasure({ folder, root, seal }: Keeping): Promise<Measure | null> {
  let text: string;
  try {
    text = await readFile(fileIn(folder, root), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
  const kept = sealed(text, seal);
  return kept !== null && kept.root === root ? (kept as unknown as Measure) : { files: {}, beyond: [] };
}

function sealed(text: string, seal: Keeping['seal']): JsonObject | null {
  try {
    const { kept, signature } = JSON.parse(text) as Record<string, unknown>;
    if (!isJsonObject(kept) || typeof signature !== 'string') return null;
    return seal.verifySignature(sealedText(kept), signature) ? kept : null;
  } catch {
    return null;
  }
}

/** No other text that is signed with the same key begins like this. */
function sealedText(kept: JsonObject): string {
  return `guarded files ${canonicalJson(kept)}`;
}

function fileIn(folder: string, root: string): string {
  return join(folder, `${createHash('sha256').update(root).digest('hex').slice(0, 32)}.json`);
}

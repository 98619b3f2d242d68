import { canonicalJson, isJsonObject, type Json, own } from '@phasegate/core';
import type { Attestation, FileContent, JudgedFile, PinnedKeys } from '../runtime/ports.ts';
import { isSignedBy } from './pinnedKeys.ts';

/** What a human's signature stands for. */
export interface Attested {
  readonly human: string;
  readonly reason: string;
  readonly at: string;
  readonly files: readonly { readonly path: string; readonly now: FileContent | null }[];
}

/**
 * The text a human signs: contents, so that it holds after a rebase, and the project, so that it counts nowhere else.
 * Paths are those of the repository.
 */
export function attestationText(
  files: readonly Pick<JudgedFile, 'path' | 'now'>[],
  about: {
    readonly project: string;
    readonly human: string;
    readonly reason: string;
    readonly at: string;
    readonly base: string;
    readonly head: string;
  },
): string {
  const listed = files.map(({ path, now }) => (now === null ? [path] : [path, now.mode, now.sha256]));
  return canonicalJson({ purpose: PURPOSE, ...about, files: listed });
}

/** What an attestation says, where a key that is believed signed it for this project; null otherwise. */
export function readAttestation({ human, text, signature }: Attestation, keys: PinnedKeys): Attested | null {
  const isSigned = keys.humans.some(({ name, key }) => name === human && isSignedBy(key, text, signature));
  if (!isSigned) return null;
  const told = parsed(text);
  const [project, files] = [own(told, 'project'), own(told, 'files')];
  if (own(told, 'purpose') !== PURPOSE || own(told, 'human') !== human || !Array.isArray(files)) return null;
  if (typeof project !== 'string' || !keys.project.includes(project)) return null;
  return {
    human,
    reason: String(own(told, 'reason') ?? ''),
    at: String(own(told, 'at') ?? ''),
    files: files.flatMap(fileOf),
  };
}

/** No other text a human signs has it. */
const PURPOSE = 'phasegate range attestation';

function parsed(text: string): Json {
  try {
    const value = JSON.parse(text) as Json;
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

function fileOf(file: Json): readonly Attested['files'][number][] {
  if (!Array.isArray(file)) return [];
  const [path, mode, sha256] = file;
  if (typeof path !== 'string') return [];
  if (file.length === 1) return [{ path, now: null }];
  return typeof mode === 'string' && typeof sha256 === 'string' ? [{ path, now: { mode, sha256 } }] : [];
}

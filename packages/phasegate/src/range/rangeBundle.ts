import { isJsonObject, type Json, own, PhasegateError } from '@phasegate/core';
import { reasonOf } from '@phasegate/core/model';
import { NotRegular, readRegular } from '../files/readRegular.ts';
import type {
  CommitRange,
  FileContent,
  KnownContents,
  KnownEnd,
  PinnedKeys,
  Uncounted,
} from '../runtime/ports.ts';
import { isSignedBy } from './pinnedKeys.ts';

/** A bundle as it is stored: its body is one text, so that what is signed is what is read. */
export async function writeBundle(
  known: KnownContents,
  by: {
    readonly range: CommitRange | null;
    readonly prefix: string;
    readonly project: string;
    readonly at: string;
    readonly sign: (text: string) => Promise<string>;
  },
): Promise<string> {
  const { range, prefix, project, at } = by;
  const wanted = range === null ? null : new Set(range.changes.map(({ path }) => path));
  const isWanted = (path: string) => wanted === null || wanted.has(`${prefix}${path}`);
  const body = JSON.stringify({
    purpose: PURPOSE,
    version: VERSION,
    project,
    prefix,
    made_at: at,
    range: range === null ? null : { base: range.base, head: range.head },
    ends: known.ends.filter(({ path }) => isWanted(path)),
    uncounted: known.uncounted.filter(({ path }) => isWanted(path)),
    attestations: known.attestations,
  });
  return `${JSON.stringify({ phasegate: FORMAT, body, signature: await by.sign(body) })}\n`;
}

/**
 * What a bundle says. INVARIANT: it is believed for a key that was given beside it, and for nothing that is in it: an agent
 * can write the file.
 */
export function readBundle(file: string, keys: PinnedKeys): KnownContents {
  const outer = parsed(textOf(file));
  const [body, signature] = [own(outer, 'body'), own(outer, 'signature')];
  if (own(outer, 'phasegate') !== FORMAT || typeof body !== 'string' || typeof signature !== 'string') {
    throw invalid(file, 'is not a bundle of `phasegate verify-range --export`');
  }
  const signer = keys.project.find((key) => isSignedBy(key, body, signature));
  if (signer === undefined) throw invalid(file, 'is not signed by a key that is pinned here');
  const told = parsed(body);
  // Signed by the project, so it has the shape we give it, unless it is a signature over something else.
  if (own(told, 'purpose') !== PURPOSE || own(told, 'project') !== signer) {
    throw invalid(file, 'is signed, and is not a bundle of that project');
  }
  if (own(told, 'version') !== VERSION) throw invalid(file, 'was written by a newer version of Phasegate');
  const { prefix, ends, attestations, uncounted } = told as unknown as Required<KnownContents>;
  return { prefix, ends: ends.map(endOf), attestations, uncounted: uncounted as readonly Uncounted[] };
}

const FORMAT = 'range-bundle';
const PURPOSE = 'phasegate range bundle';
const VERSION = 1;
/** A bundle of one range is small; one of a whole project may have many contents. */
const LARGEST_BUNDLE = 256 * 1024 * 1024;

function endOf(end: KnownEnd): KnownEnd {
  const now: FileContent | null = end.now === null ? null : { mode: end.now.mode, sha256: end.now.sha256 };
  return { ...end, now };
}

function textOf(file: string): string {
  try {
    return readRegular(file, { most: LARGEST_BUNDLE, links: 'follow' }).toString('utf8');
  } catch (cause) {
    const reason = cause instanceof NotRegular ? `it ${cause.message}` : reasonOf(cause);
    throw new PhasegateError('file_unreadable', `the bundle \`${file}\` cannot be read: ${reason}`, {
      cause,
    });
  }
}

function parsed(text: string): Json {
  try {
    const value = JSON.parse(text) as Json;
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

function invalid(file: string, what: string): PhasegateError {
  return new PhasegateError('bundle_invalid', `\`${file}\` ${what}, so nothing in it is believed`, {
    hint: 'make it anew where the project is: `phasegate verify-range BASE..HEAD --export FILE`',
  });
}

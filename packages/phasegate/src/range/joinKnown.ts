import { PhasegateError } from '@phasegate/core';
import type { KnownContents } from '../runtime/ports.ts';

/** What several bundles and the audit know together, the newest last: a bundle may know runs that were archived since. */
export function joinKnown(all: readonly KnownContents[]): KnownContents {
  const [first, ...more] = all;
  if (first === undefined) return { ends: [], attestations: [], uncounted: [] };
  if (more.length === 0) return first;
  const prefixes = new Set(all.flatMap((one) => one.prefix ?? []));
  if (prefixes.size > 1) {
    throw new PhasegateError('bundle_invalid', 'the bundles are of several folders of a repository', {
      hint: 'judge by bundles of one project at a time',
    });
  }
  const [prefix] = prefixes;
  const ends = new Map(
    all
      .flatMap((one) => one.ends)
      .map((end) => [JSON.stringify([end.run, end.phase, end.at, end.path, end.now]), end]),
  );
  return {
    ...(prefix === undefined ? {} : { prefix }),
    ends: [...ends.values()].toSorted((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0)),
    attestations: all.flatMap((one) => one.attestations),
    uncounted: all.flatMap((one) => one.uncounted),
  };
}

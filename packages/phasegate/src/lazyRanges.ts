import { lazy, lazyPort } from './lazyPort.ts';
import type { Ranges } from './runtime/ports.ts';

/** Ranges of commits, read and judged by code that is loaded when one is asked about. */
export function lazyRanges(root: string, env: Readonly<Record<string, string | undefined>>): Ranges {
  return lazyPort(
    lazy(async () => (await import('./localRanges.ts')).localRanges(root, env)),
    { calls: ['read', 'judge', 'writeBundle', 'readBundles', 'readPins', 'writePins', 'attest'] },
  );
}

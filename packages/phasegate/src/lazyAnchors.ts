import { lazy, lazyPort } from './lazyPort.ts';
import type { Anchors } from './runtime/ports.ts';

/** Anchors of a project, made by code that is loaded when one is asked for. */
export function lazyAnchors(place: {
  readonly root: string;
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}): Anchors {
  return lazyPort(
    lazy(async () => (await import('./localAnchors.ts')).localAnchors(place)),
    { calls: ['configured', 'require', 'make', 'read', 'keep'] },
  );
}

import type { OpenServer } from './runtime/ports.ts';

export { openLocalProject } from './localProject.ts';
export { openKeys, rotateTokenSecret } from './runtime/keys.ts';
export { createOpenProject } from './runtime/openProject.ts';
export type * from './runtime/ports.ts';
export { createSeal } from './runtime/seal.ts';
export { createTokens } from './runtime/tokens/tokens.ts';
export { createMemoryStore } from './stores/memory.ts';
export { openSqliteStore } from './stores/sqlite/openSqliteStore.ts';

/** Serves a project as `phasegate serve` does. What that takes is loaded here, not with this module. */
export const openLocalServer: OpenServer = async (request) =>
  (await import('./localServer.ts')).openLocalServer(request);

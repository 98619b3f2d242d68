import type { Principal } from '@phasegate/core';

/** The engine itself, where it acts on its own. */
export const ENGINE: Principal = { kind: 'engine', name: 'phasegate' };

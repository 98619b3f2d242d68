import type { JsonObject } from '@phasegate/core';

/** Parameter: files that decide about the outcome. */
export const VERIFIER: JsonObject = {
  type: 'array',
  items: { type: 'string', minLength: 1, description: 'A path or glob' },
  description:
    'Files that decide how it is judged, beside the script that is run and the config of its runner, which are known. Where the phase may write one of them, the answer is not `verified`',
};

/** Parameter: which frozen dependencies it is run with. */
export const DEPENDENCIES: JsonObject = {
  type: 'array',
  items: { enum: ['npm', 'pnpm', 'pip', 'uv', 'go', 'cargo'] },
  description:
    'The frozen dependencies it needs to be `verified`; left out: those of every lockfile in the folder it runs in, or at the root of the project. Empty: none',
};

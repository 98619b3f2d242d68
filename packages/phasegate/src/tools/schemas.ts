import type { JsonObject } from '@phasegate/core';

/** A path, as every file tool takes it. */
export const PATH: JsonObject = {
  type: 'string',
  minLength: 1,
  maxLength: 4000,
  description: 'Relative to the workspace; links are not followed',
};

/** Several paths. */
export const PATHS: JsonObject = { type: 'array', minItems: 1, maxItems: 100, items: PATH };

/** A glob that narrows what is looked at. */
export const GLOB: JsonObject = {
  type: 'string',
  minLength: 1,
  maxLength: 1000,
  description: 'Glob over paths relative to the workspace, e.g. `src/**/*.ts`',
};

import type { Json, JsonObject } from '@phasegate/core';

/** A request that does something. */
export interface ActRequest {
  readonly method: string;
  /** From `/api` on. */
  readonly path: string;
  readonly query: JsonObject;
  readonly body: Json;
}

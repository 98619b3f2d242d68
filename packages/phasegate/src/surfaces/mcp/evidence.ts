import { isJsonObject, type Json, type JsonObject } from '@phasegate/core';
import { kindOf } from './arguments.ts';

/** The most evidence one call may hold, as JSON. */
export const EVIDENCE_LIMIT = 10 * 1024 * 1024;

// Deeper than any evidence made by hand or tool, and shallow enough for every recursive reader behind us.
const DEPTH_LIMIT = 200;

/** Evidence as it was submitted, or why it cannot be read. Left out, it is empty. */
export function readEvidence(
  value: Json | undefined,
): { readonly evidence: JsonObject } | { readonly problem: string } {
  if (value === undefined) return { evidence: {} };
  if (!isJsonObject(value)) return { problem: `evidence must be a JSON object, got ${kindOf(value)}` };
  if (tooDeep(value)) return { problem: `evidence is nested deeper than ${DEPTH_LIMIT} levels` };
  if (Buffer.byteLength(JSON.stringify(value)) > EVIDENCE_LIMIT) {
    return { problem: 'evidence is over the limit of 10 MB' };
  }
  return { evidence: value };
}

function tooDeep(value: Json): boolean {
  let level: readonly Json[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEPTH_LIMIT) return true;
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
  }
  return false;
}

import { isJsonObject, type Json, type JsonObject, jsonProblem } from '@phasegate/core';
import { kindOf } from './arguments.ts';

/** The most evidence one call may hold, as JSON. */
export const EVIDENCE_LIMIT = 10 * 1024 * 1024;

/** Evidence as it was submitted, or why it cannot be read. Left out, it is empty. */
export function readEvidence(
  value: Json | undefined,
): { readonly evidence: JsonObject } | { readonly problem: string } {
  if (value === undefined) return { evidence: {} };
  if (!isJsonObject(value)) return { problem: `evidence must be a JSON object, got ${kindOf(value)}` };
  const unfit = jsonProblem(value);
  if (unfit !== null) return { problem: `evidence ${unfit}` };
  if (Buffer.byteLength(JSON.stringify(value)) > EVIDENCE_LIMIT) {
    return { problem: 'evidence is over the limit of 10 MB' };
  }
  return { evidence: value };
}

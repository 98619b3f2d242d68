import { isJsonObject, type Json, type JsonObject } from '@phasegate/core';
import { EVIDENCE_LIMIT, kindOf } from '@phasegate/core/contract';
import { jsonBytes, jsonProblem } from '@phasegate/core/model';

/** Evidence as it was submitted, or why it cannot be read. Left out, it is empty. */
export function readEvidence(
  value: Json | undefined,
): { readonly evidence: JsonObject } | { readonly problem: string } {
  if (value === undefined) return { evidence: {} };
  if (!isJsonObject(value)) return { problem: `evidence must be a JSON object, got ${kindOf(value)}` };
  const unfit = jsonProblem(value);
  if (unfit !== null) return { problem: `evidence ${unfit}` };
  if (jsonBytes(value, EVIDENCE_LIMIT) > EVIDENCE_LIMIT) {
    return { problem: 'evidence is over the limit of 1 MB' };
  }
  return { evidence: value };
}

import { isJsonObject, type JsonObject, type Phase, type Workflow } from '@phasegate/core';
import { findPhase } from '@phasegate/core/engine';
import { EVIDENCE_LIMIT, edgesOf, jsonBytes, jsonProblem } from '@phasegate/core/model';
import { type LastLine, LINE_LIMIT } from './outputLines.ts';
import type { StepEnd } from './parts.ts';

/**
 * What a command's last line says. Only `result` and `error` are taken: whether postconditions hold is the
 * engine's to find out, and `nextStepHint` must be a phase this one can lead to.
 */
export function readStepOutput(
  last: LastLine | null,
  { workflow, phase }: { readonly workflow: Workflow; readonly phase: Phase },
): StepEnd & { readonly kind: 'result' | 'failed' } {
  const read = readJsonLine(last, 'the command');
  if ('reason' in read) return { kind: 'failed', reason: read.reason };
  const { success, result, error, nextStepHint: hint } = read.value;
  if (typeof success !== 'boolean') {
    return failed('the last line of the command has no `success` that is true or false');
  }
  // A process it left behind may print after it, and which of the two is the command's nobody can tell.
  if (last?.contradicts === true) {
    return failed('the command says twice what came of it, and not the same; it must print one result');
  }
  if (!success) {
    if (error !== undefined && error !== null && typeof error !== 'string') {
      return failed('the command reported failure, and its `error` is not text');
    }
    const said = error?.trim() ?? '';
    return failed(said === '' ? 'the command reported failure and gave no `error`' : cut(said));
  }
  if (result !== undefined && result !== null && !isJsonObject(result)) {
    return failed('`result` of the command is not a JSON object');
  }
  const evidence = isJsonObject(result) ? result : {};
  if (hint === undefined || hint === null) return { kind: 'result', evidence };
  const target = findPhase(workflow, hint)?.id;
  const ways = [...new Set(edgesOf(phase).flatMap(({ to }) => (to === null ? [] : [to])))];
  if (target === undefined || !ways.includes(target)) {
    const known =
      ways.length === 0 ? 'it only leads to the end' : `it can lead to ${ways.map(quoted).join(', ')}`;
    return failed(
      `\`nextStepHint\` ${quoted(hint)} is not a phase that ${quoted(phase.id)} leads to; ${known}`,
    );
  }
  return { kind: 'result', evidence, target };
}

/** The last line as a JSON object, or what is wrong with it. `who` printed it. */
export function readJsonLine(
  last: LastLine | null,
  who: string,
): { readonly value: JsonObject } | { readonly reason: string } {
  if (last === null) return { reason: `${who} printed nothing; its last line must be a JSON object` };
  if (!last.whole) return { reason: `the last line of ${who} is longer than ${LINE_LIMIT} characters` };
  let value: unknown;
  try {
    value = JSON.parse(last.text);
  } catch {
    return { reason: `the last line of ${who} is not JSON: ${quoted(cut(last.text.trim(), 200))}` };
  }
  const unfit = jsonProblem(value);
  if (unfit !== null) return { reason: `the last line of ${who} ${unfit}` };
  if (jsonBytes(value, EVIDENCE_LIMIT) > EVIDENCE_LIMIT) {
    return { reason: `the last line of ${who} is over the limit of 1 MB` };
  }
  if (isJsonObject(value)) return { value };
  return { reason: `the last line of ${who} is not a JSON object: ${quoted(cut(last.text.trim(), 200))}` };
}

function failed(reason: string): StepEnd & { readonly kind: 'failed' } {
  return { kind: 'failed', reason };
}

/** A reason is shown to people and to the next attempt; a whole log is neither's. */
export function cut(text: string, length = 2000): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`;
}

function quoted(value: unknown): string {
  return `\`${typeof value === 'string' || typeof value === 'number' ? value : JSON.stringify(value)}\``;
}

import {
  type ErrorCode,
  isJsonObject,
  type JsonObject,
  own,
  type PhasegateError,
  type Problem,
} from '@phasegate/core';
import type { Unaccepted } from '@phasegate/core/model';

/** A place in a definition and what is wrong with it. */
export type WireDefect = {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly code: string;
  readonly message: string;
};

/** A fault: what went wrong, and what to do about it. */
export type Fault = {
  readonly error: ErrorCode;
  readonly message: string;
  readonly hint?: string;
  /** It may have been carried out all the same. */
  readonly uncertain?: true;
  readonly problems?: readonly WireDefect[];
  readonly unaccepted?: Unaccepted;
};

/** What went wrong. */
export function encodeFault(error: PhasegateError): Fault {
  const { code, message, hint, uncertain, problems, unaccepted } = error;
  return {
    error: code,
    message,
    ...(hint === undefined ? {} : { hint }),
    ...(uncertain ? { uncertain } : {}),
    ...(problems.length === 0 ? {} : { problems: encodeDefects(problems) }),
    ...(unaccepted === undefined ? {} : { unaccepted }),
  };
}

/** What is wrong with a definition, place by place. */
export function encodeDefects(problems: PhasegateError['problems']): readonly WireDefect[] {
  return problems.map(({ file, line, column, code, message }) => ({ file, line, column, code, message }));
}

/** What an answer says is wrong with a definition. Problems of a request have no place in a file, and are left out. */
export function decodeDefects(answer: JsonObject): readonly Problem[] {
  const list = own(answer, 'problems');
  if (!Array.isArray(list)) return [];
  return list.filter(isJsonObject).flatMap(({ file, line, column, code, message }) => {
    if (typeof file !== 'string' || typeof line !== 'number' || typeof column !== 'number') return [];
    return [{ file, line, column, code: String(code), message: String(message), severity: 'error' as const }];
  });
}

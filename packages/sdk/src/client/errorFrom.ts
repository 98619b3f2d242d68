import { isJsonObject, type JsonObject, own } from '@phasegate/core';
import { readBlockers } from '#wire';
import { PhasegateClientError, type WireProblem } from './PhasegateClientError.ts';

/** The error an answer stands for: problem+json, a refusal with blockers, or what a proxy says in their place. */
export function errorFrom(status: number, body: unknown, retryAfterMs: number | null): PhasegateClientError {
  const fields = isJsonObject(body) ? body : {};
  const blockers = readBlockers(fields);
  const [first] = blockers;
  const code =
    text(fields, 'error') ?? first?.code ?? text(fields, 'code') ?? CODE_OF_STATUS[status] ?? 'internal';
  const message =
    text(fields, 'message') ??
    text(fields, 'detail') ??
    text(fields, 'reason') ??
    (first === undefined
      ? `the server answered ${status} without a reason`
      : blockers.map((blocker) => blocker.message).join('; '));
  return new PhasegateClientError(code, message, {
    status,
    blockers,
    problems: problemsIn(fields),
    nextAction: text(fields, 'next_action') ?? first?.next_action ?? null,
    uncertain: own(fields, 'uncertain') === true,
    retryAfterMs,
    answer: fields,
  });
}

/** The time a `Retry-After` header names, in milliseconds from `now`; null where there is none. */
export function readRetryAfter(value: string | null, now: number): number | null {
  if (value === null || value.trim() === '') return null;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

// Only for answers that do not say it themselves, such as those of a proxy.
const CODE_OF_STATUS: Readonly<Record<number, string>> = {
  401: 'credential_invalid',
  403: 'not_permitted',
  404: 'route_unknown',
  405: 'route_unknown',
  413: 'too_large',
  422: 'request_invalid',
  429: 'rate_limited',
  502: 'server_unreachable',
  503: 'store_unavailable',
  504: 'server_unreachable',
};

function problemsIn(fields: JsonObject): readonly WireProblem[] {
  return objectsIn(fields, 'problems').map((problem) => ({
    field: text(problem, 'field') ?? '',
    message: text(problem, 'message') ?? '',
  }));
}

function objectsIn(fields: JsonObject, key: string): readonly JsonObject[] {
  const value = own(fields, key);
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function text(fields: JsonObject, key: string): string | undefined {
  const value = own(fields, key);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

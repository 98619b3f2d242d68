import { z } from '@hono/zod-openapi';
import { isJsonObject, type Json, type JsonObject } from '@phasegate/core';
import { CAPABILITY } from '@phasegate/core/model';
import { CAPABILITY_LIMIT, NAME_LIMIT, WORD_LIMIT } from '../limits.ts';

/** Any JSON value. */
export const anyJson = z
  .custom<Json>((value) => value !== undefined, 'is missing')
  .openapi({ type: ['object', 'array', 'string', 'number', 'boolean', 'null'] });

/** A JSON object with keys nobody knows beforehand. */
export const jsonObject = z
  .custom<JsonObject>(isJsonObject, {
    error: ({ input }) => (input === undefined ? 'is missing' : 'must be a JSON object'),
  })
  .openapi({ type: 'object', additionalProperties: true });

/** Text that says something. */
export function textUpTo(limit: number) {
  return z.string().min(1).max(limit);
}

/** Where the run stood when the work for a request was begun. */
export const workedAt = z
  .strictObject({
    epoch: z.int().min(0).openapi({ description: '`epoch` of the run when the work was begun' }),
    visit: z.int().min(1).optional().openapi({ description: 'the how-manieth visit of the phase it was' }),
  })
  .optional()
  .openapi({
    description:
      'where the run stood when this work was begun; where it has moved on since, the answer is 409 `run_changed` and nothing is done. A fresh token does not make old work fresh',
  });

/** What a human acts by where the session alone does not do. */
export const actPassphrase = textUpTo(1024).optional().openapi({
  description:
    'of the human, for this one act; this or `passkey` is needed where the session is a cookie or came from a link',
});

const base64url = (limit: number) =>
  z
    .string()
    .min(1)
    .max(limit)
    .regex(/^[\w-]+$/, { error: 'must be base64url' });

/** What an authenticator signed for one act. */
export const assertion = z
  .strictObject({
    id: base64url(1366).openapi({ description: 'of the credential' }),
    nonce: base64url(64).openapi({ description: 'of the challenge' }),
    authenticator_data: base64url(2048),
    client_data_json: base64url(8192),
    signature: base64url(1024),
  })
  .openapi('Assertion');

/** The fresh proof of the human that goes with an act. */
export const actProof = {
  passphrase: actPassphrase,
  passkey: assertion.optional().openapi({
    description: 'instead of the passphrase: a passkey that signed the challenge of this very act',
  }),
};

/** A named schema, or null: the document cannot say `nullable` of what it only refers to. */
export function orNull<Schema extends z.ZodType>(schema: Schema) {
  return z.union([schema, z.null()]);
}

/** A list that is not written to. */
export function listOf<Item extends z.ZodType>(item: Item) {
  return z.array(item).readonly();
}

/** A list in a request. */
export function atMost<Item extends z.ZodType>(limit: number, item: Item) {
  return z.array(item).max(limit).readonly();
}

/** A whole number in a query, where everything is text. */
export function numberInQuery(range: {
  readonly min: number;
  readonly max: number;
  readonly preset: number;
}) {
  const { min, max, preset } = range;
  const error = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, { error, abort: true })
    .transform(Number)
    .pipe(z.int().min(min, { error }).max(max, { error }))
    .default(preset)
    .openapi({ type: 'integer', minimum: min, maximum: max, default: preset });
}

/** The id of a phase: text, or a number where the author wrote one. */
export const phaseId = z.union([z.string(), z.number()]).openapi({ example: 'PLAN' });

/** A phase as a caller names it. */
export const phaseNamed = z.union([textUpTo(WORD_LIMIT), z.int()], {
  error: `must be a phase: text of at most ${WORD_LIMIT} characters, or a whole number`,
});

/** The name of an agent or human. */
export const agentName = textUpTo(NAME_LIMIT).openapi({ example: 'agent-7' });

const capability = z
  .string()
  .max(NAME_LIMIT)
  .regex(new RegExp(CAPABILITY), { error: 'must be letters, digits, `.`, `_` and `-`' });

/** What an agent can do. */
export const capabilityList = atMost(CAPABILITY_LIMIT, capability).openapi({
  example: ['typescript'],
});

/** An ISO 8601 time. */
export const time = z.string().openapi({ format: 'date-time', example: '2026-11-15T12:00:00.000Z' });

/** The states a run can be in. */
export const runStatus = z.enum(['queued', 'active', 'waiting', 'escalated', 'completed', 'stopped']);

/** When what holds between fields is looked at: also where a field is wrong, so that everything is said at once. */
export function isObject({ value }: { readonly value: unknown }): boolean {
  return isJsonObject(value);
}

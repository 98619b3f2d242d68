import type { z } from '@hono/zod-openapi';
import type { Json } from '@phasegate/core';
import type { Caller, RouteParts } from '../parts.ts';

/** The kinds of credential that open a route. */
export type Who = Exclude<Caller['kind'], 'nobody' | 'hook'>;

/** One way a route answers. */
export interface Answer {
  readonly description: string;
  /** Of the body; left out where there is none. */
  readonly schema?: z.ZodType;
  readonly example?: Json;
}

/** The answers of a route by their status. */
export type Answers = Readonly<Record<number, Answer>>;

/** What a handler answers: one of its route's answers, or a problem. */
export type Reply<A extends Answers> =
  | { readonly [S in keyof A & number]: ReplyWith<S, A[S]> }[keyof A & number]
  | Response;

type ReplyWith<S extends number, A extends Answer | undefined> = A extends {
  readonly schema: infer Z extends z.ZodType;
}
  ? { readonly status: S; readonly body: z.input<Z>; readonly headers?: Readonly<Record<string, string>> }
  : { readonly status: S };

/** A request that was let in and read. */
export interface Call<W extends Who = Who, P = unknown, Q = unknown, B = unknown> {
  readonly caller: Extract<Caller, { kind: W }>;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly parts: RouteParts;
  /** The path that was asked for, for `instance` of a problem. */
  readonly instance: string;
}

/** A route: what it takes, who may call it, what it answers. The document is made of these and requests are read by them. */
export interface Endpoint<
  W extends Who = Who,
  P extends z.ZodType = z.ZodType,
  Q extends z.ZodType = z.ZodType,
  B extends z.ZodType = z.ZodType,
  A extends Answers = Answers,
> {
  readonly method: 'get' | 'post' | 'delete';
  /** Under `/api/v1`, with `{name}` for its parts. */
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly who: readonly W[];
  readonly summary: string;
  readonly description: string;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  readonly answers: A;
  /** Statuses of problems beside those every route has. */
  readonly problems?: Readonly<Record<number, Answer>>;
  /** Whether it changes nothing, although it is no `get`: then it is no act and needs no proof. */
  readonly asks?: true;
  /** What the human signs by it; left out where an act leaves no signature. */
  signs?(call: Call<W, z.output<P>, z.output<Q>, z.output<B>>): Promise<string>;
  handle(call: Call<W, z.output<P>, z.output<Q>, z.output<B>>): Promise<Reply<A>>;
}

/** Checks a route against its own schemas and forgets them, so that routes can stand in one list. */
export function endpoint<
  const W extends Who,
  P extends z.ZodType,
  Q extends z.ZodType,
  B extends z.ZodType,
  const A extends Answers,
>(definition: Endpoint<W, P, Q, B, A>): Endpoint {
  return definition as unknown as Endpoint;
}

/** An answer with a body. */
export function reply<const S extends number, B>(
  status: S,
  body: B,
): { readonly status: S; readonly body: B } {
  return { status, body };
}

/** An answer without a body. */
export function empty<const S extends number>(status: S): { readonly status: S } {
  return { status };
}

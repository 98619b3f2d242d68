import { createHmac } from 'node:crypto';
import type { Json, JsonObject } from '@phasegate/core';

/** The parts of a token. */
export interface Parts {
  readonly header: JsonObject;
  readonly claims: JsonObject;
}

/** What a token says, without asking whether it is true. */
export function partsOf(token: string): Parts {
  const [header = '', claims = ''] = token.split('.');
  return { header: decoded(header), claims: decoded(claims) };
}

/** A token of these parts, signed by HMAC with this secret whatever its header says. */
export function forge({ header, claims }: Parts, secret: string | Buffer, hash = 'sha256'): string {
  return signText(`${encoded(header)}.${encoded(claims)}`, secret, hash);
}

/** Any two parts with their signature. */
export function signText(text: string, secret: string | Buffer, hash = 'sha256'): string {
  return `${text}.${createHmac(hash, secret).update(text).digest('base64url')}`;
}

/** One part of a token. */
export function encoded(value: Json): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** A token with one part exchanged for another text. */
export function withPart(token: string, index: 0 | 1 | 2, part: string): string {
  return token.split('.').with(index, part).join('.');
}

function decoded(part: string): JsonObject {
  return JSON.parse(Buffer.from(part, 'base64url').toString()) as JsonObject;
}

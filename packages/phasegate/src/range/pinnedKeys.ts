import { createPublicKey, verify } from 'node:crypto';
import { PhasegateError } from '@phasegate/core';
import { isPrincipalName } from '@phasegate/core/contract';
import type { PinnedKeys } from '../runtime/ports.ts';

/** Public keys as they are written down where commits are judged: `project=KEY` and `human:NAME=KEY`. */
export function writePins({ project, humans }: PinnedKeys): readonly string[] {
  return [
    ...project.map((key) => `project=${key}`),
    ...humans.map(({ name, key }) => `human:${name}=${key}`),
  ];
}

/** Reads them, several in a text or one in each; a line that begins with `#` says nothing. */
export function readPins(texts: readonly string[]): PinnedKeys {
  const words = texts
    .flatMap((text) => text.split('\n'))
    .filter((line) => !line.trimStart().startsWith('#'))
    .flatMap((line) => line.split(/[\s,]+/))
    .filter((word) => word !== '');
  const pins: { project: string[]; humans: { name: string; key: string }[] } = { project: [], humans: [] };
  for (const word of words) {
    const [, who = '', key = ''] = /^([^=]+)=([A-Za-z0-9_-]+)$/.exec(word) ?? [];
    const name = who.startsWith('human:') ? who.slice('human:'.length) : null;
    const isKnown = who === 'project' || (name !== null && isPrincipalName(name));
    if (!isKnown || !isKey(key)) throw notAPin(word);
    if (name === null) pins.project.push(key);
    else pins.humans.push({ name, key });
  }
  if (pins.project.length > 0) return pins;
  throw new PhasegateError('usage', "the project's public key is not pinned, so no bundle can be believed", {
    hint: 'print it with `phasegate verify-range --pins` where the project is, and give it with `--pin` or PHASEGATE_PINS',
  });
}

/** Whether an Ed25519 signature over a text was made with the private half of this key. Malformed input is a no. */
export function isSignedBy(key: string, text: string, signature: string): boolean {
  try {
    const publicKey = createPublicKey({ key: Buffer.from(key, 'base64url'), type: 'spki', format: 'der' });
    const bytes = Buffer.from(signature, 'base64url');
    return publicKey.asymmetricKeyType === 'ed25519' && verify(null, Buffer.from(text), publicKey, bytes);
  } catch {
    return false;
  }
}

function isKey(text: string): boolean {
  try {
    const key = createPublicKey({ key: Buffer.from(text, 'base64url'), type: 'spki', format: 'der' });
    return key.asymmetricKeyType === 'ed25519';
  } catch {
    return false;
  }
}

function notAPin(word: string): PhasegateError {
  const told = word.length > 40 ? `${word.slice(0, 40)}…` : word;
  return new PhasegateError('usage', `\`${told}\` is not a pinned key`, {
    hint: 'write `project=KEY` or `human:NAME=KEY`, as `phasegate verify-range --pins` prints them',
  });
}

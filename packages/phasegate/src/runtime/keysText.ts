import { isJsonObject, type Json, own, PhasegateError } from '@phasegate/core';

/** The secrets of one project, as kept in `keys.json` outside the workspace. All values are base64url. */
export interface ProjectKeys {
  /** Ed25519; signs audit heads and receipts. SPKI and PKCS8, DER. */
  readonly audit: { readonly publicKey: string; readonly privateKey: string };
  /** 32 bytes; seals the rows of runs. */
  readonly rows: string;
  readonly tokens: TokenSecrets;
}

/** Secrets of the phase tokens: one signs, the one before it still verifies. */
export interface TokenSecrets {
  readonly current: TokenSecret;
  readonly previous: TokenSecret | null;
}

/** One secret and the name tokens know it by. */
export interface TokenSecret {
  readonly kid: string;
  readonly secret: string;
}

/** Reads keys from the text of a file. */
export function keysFrom(file: string, text: string): ProjectKeys {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    throw corruptKeys(file, 'it is not JSON', error);
  }
  return parseKeys(file, value);
}

/** The fault of a file of keys that is there and cannot be used. */
export function corruptKeys(file: string, reason: string, cause?: unknown): PhasegateError {
  return new PhasegateError('store_corrupt', `the keys in \`${file}\` cannot be read: ${reason}`, {
    cause,
    hint: 'put the file back from where it was kept; it is never made anew, as that would void all state',
  });
}

function parseKeys(file: string, value: Json): ProjectKeys {
  const audit = own(value, 'audit');
  const tokens = own(value, 'tokens');
  const previous = own(tokens, 'previous');
  return {
    audit: {
      publicKey: secretAt(file, own(audit, 'publicKey'), { name: 'audit.publicKey', bytes: 44 }),
      privateKey: secretAt(file, own(audit, 'privateKey'), { name: 'audit.privateKey', bytes: 48 }),
    },
    rows: secretAt(file, own(value, 'rows'), { name: 'rows', bytes: 32 }),
    tokens: {
      current: tokenSecretAt(file, own(tokens, 'current'), 'tokens.current'),
      previous: previous === null ? null : tokenSecretAt(file, previous, 'tokens.previous'),
    },
  };
}

function tokenSecretAt(file: string, value: Json | undefined, name: string): TokenSecret {
  const kid = own(value, 'kid');
  if (!isJsonObject(value) || typeof kid !== 'string' || kid === '') {
    throw corruptKeys(file, `\`${name}\` is missing or damaged`);
  }
  return { kid, secret: secretAt(file, own(value, 'secret'), { name: `${name}.secret`, bytes: 32 }) };
}

function secretAt(
  file: string,
  value: Json | undefined,
  expected: { readonly name: string; readonly bytes: number },
): string {
  const sound = typeof value === 'string' && Buffer.from(value, 'base64url').length === expected.bytes;
  if (!sound) throw corruptKeys(file, `\`${expected.name}\` is missing or damaged`);
  return value;
}

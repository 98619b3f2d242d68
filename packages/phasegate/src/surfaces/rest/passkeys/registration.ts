import { createPublicKey, type JsonWebKey, randomBytes } from 'node:crypto';
import type { NewPasskey } from '../../../runtime/ports.ts';
import { RequestRefused } from '../problem.ts';

/** What a browser says of a passkey it made. */
export interface MadePasskey {
  readonly id: string;
  readonly clientDataJson: string;
  readonly attestationObject: string;
  readonly transports: readonly string[];
}

/** Options a browser makes a passkey by: one that verifies who uses it, on an authenticator that has none of these. */
export function creationOptions(asked: {
  readonly origin: string;
  readonly human: string;
  readonly challenge: string;
  readonly known: readonly { readonly id: string; readonly transports?: readonly string[] }[];
}) {
  const { origin, human, challenge, known } = asked;
  const name = `${human} at ${new URL(origin).host}`;
  return {
    rp: { id: new URL(origin).hostname, name: 'Phasegate' },
    // Never the same twice: an authenticator keeps one passkey for each, and projects on other ports share the site.
    user: { id: randomBytes(32).toString('base64url'), name, displayName: name },
    challenge,
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key' as const, alg })),
    timeout: TIMEOUT,
    attestation: 'none' as const,
    excludeCredentials: known.map(described),
    authenticatorSelection: { residentKey: 'preferred' as const, userVerification: 'required' as const },
  };
}

/** Options a browser asks a passkey by. */
export function requestOptions(asked: {
  readonly origin: string;
  readonly challenge: string;
  readonly known: readonly { readonly id: string; readonly transports?: readonly string[] }[];
}) {
  return {
    rpId: new URL(asked.origin).hostname,
    challenge: asked.challenge,
    timeout: TIMEOUT,
    userVerification: 'required' as const,
    allowCredentials: asked.known.map(described),
  };
}

/** Reads what a browser says of a passkey it made for one of our pages, with the library that is made for it. */
export async function readRegistration(
  made: MadePasskey,
  { origin, challenge }: { readonly origin: string; readonly challenge: string },
): Promise<Omit<NewPasskey, 'label'>> {
  // Loaded when the first passkey is made: it is large, and nothing else needs it.
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
  const { decodeCredentialPublicKey } = await import('@simplewebauthn/server/helpers');
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: {
        id: made.id,
        rawId: made.id,
        type: 'public-key',
        clientExtensionResults: {},
        response: { clientDataJSON: made.clientDataJson, attestationObject: made.attestationObject },
      },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: new URL(origin).hostname,
      requireUserVerification: true,
      supportedAlgorithmIDs: [...ALGORITHMS],
    });
    if (!verified) throw new TypeError('it could not be verified');
    const { credential } = registrationInfo;
    if (credential.id !== made.id) throw new TypeError('it has another id than it says');
    const jwk = jwkOf(decodeCredentialPublicKey(credential.publicKey));
    const key = createPublicKey({ key: jwk, format: 'jwk' });
    return {
      id: credential.id,
      publicKey: key.export({ type: 'spki', format: 'der' }).toString('base64url'),
      origin,
      transports: made.transports.filter((name) => /^[\w-]+$/.test(name)),
      counter: credential.counter,
    };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.slice(0, 200) : 'it cannot be read';
    throw new RequestRefused('request_invalid', `this passkey cannot be registered: ${why}`);
  }
}

/** ES256, EdDSA and RS256, in the order they are wanted. */
const ALGORITHMS = [-7, -8, -257] as const;
const TIMEOUT = 120_000;

function described({ id, transports }: { readonly id: string; readonly transports?: readonly string[] }) {
  return { id, type: 'public-key' as const, ...(transports === undefined ? {} : { transports }) };
}

/** A COSE key as the JWK it is: -1 is the curve or the modulus, -2 and -3 are what belongs to it. */
function jwkOf(cose: unknown): JsonWebKey {
  const key = cose as { get(label: number): unknown };
  const text = (label: number) => Buffer.from(key.get(label) as Uint8Array).toString('base64url');
  switch (key.get(1)) {
    case 1:
      return { kty: 'OKP', crv: 'Ed25519', x: text(-2) };
    case 2:
      return { kty: 'EC', crv: 'P-256', x: text(-2), y: text(-3) };
    case 3:
      return { kty: 'RSA', n: text(-1), e: text(-2) };
    default:
      throw new TypeError('its key is of a kind that is not known here');
  }
}

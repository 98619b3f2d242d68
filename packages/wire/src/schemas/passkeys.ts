import { z } from '@hono/zod-openapi';
import { actPassphrase, jsonObject, listOf, textUpTo, time } from './values.ts';

/** The passkeys one may see, and where they can be used. */
export const passkeyList = z
  .object({
    origin: z
      .string()
      .nullable()
      .openapi({ description: 'the address of the pages that passkeys are for; null where there is none' }),
    problem: z.string().optional().openapi({ description: 'why there is none' }),
    passkeys: listOf(
      z.object({
        id: z.string(),
        human: z.string(),
        label: z.string(),
        origin: z.string().openapi({ description: 'of the pages it is for, with the port' }),
        added_at: time,
      }),
    ),
  })
  .openapi('PasskeyList');

/** What a browser makes a passkey by. */
export const passkeyOptions = z
  .object({
    nonce: z.string(),
    options: z
      .looseObject({})
      .openapi({ description: '`PublicKeyCredentialCreationOptionsJSON` of WebAuthn, for this one try' }),
  })
  .openapi('PasskeyOptions');

/** A passkey that a browser made. */
export const passkeyRequest = z
  .strictObject({
    passphrase: actPassphrase,
    label: textUpTo(64).openapi({ description: 'what you call it', example: 'laptop' }),
    nonce: textUpTo(64),
    client_data_json: textUpTo(8192).openapi({ description: 'base64url' }),
    attestation_object: textUpTo(32 * 1024).openapi({ description: 'base64url' }),
    id: textUpTo(1366).openapi({ description: 'of the credential, base64url' }),
    transports: z.array(textUpTo(32)).max(8).readonly().optional(),
  })
  .openapi('PasskeyRequest', {
    example: {
      passphrase: '…',
      label: 'laptop',
      nonce: 'mYJ0Yy4yKf3n1m2o',
      id: 'AAECAwQFBgcICQoLDA0ODw',
      client_data_json: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0',
      attestation_object: 'o2NmbXRkbm9uZQ',
    },
  });

/** The act that a passkey is to prove. */
export const challengeRequest = z
  .strictObject({
    method: z.enum(['POST', 'DELETE']),
    path: textUpTo(2048).openapi({ description: 'under `/api/v1`', example: '/runs/b7e2/stop' }),
    body: jsonObject.openapi({ description: 'of the act, as it will be sent, without the proof' }),
  })
  .openapi('ChallengeRequest', {
    example: { method: 'POST', path: '/runs/b7e2/stop', body: { reason: 'no longer needed' } },
  });

/** What a passkey signs to prove that act. */
export const challenge = z
  .object({
    nonce: z.string(),
    options: z
      .looseObject({})
      .openapi({ description: '`PublicKeyCredentialRequestOptionsJSON` of WebAuthn, for this one act' }),
  })
  .openapi('Challenge');

/** The path of one passkey. */
export const passkeyPath = z.strictObject({
  id: textUpTo(1366).openapi({ param: { name: 'id', in: 'path' }, example: 'AAECAwQFBgcICQoLDA0ODw' }),
});

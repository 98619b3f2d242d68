import { queryOptions, useQuery } from '@tanstack/react-query';
import { act, ask, Problem } from './ask.ts';
import { sessionQuery } from './queries.ts';

/** A passkey of somebody. */
export interface ListedPasskey {
  readonly id: string;
  readonly human: string;
  readonly label: string;
  readonly origin: string;
  readonly added_at: string;
}

/** The passkeys one may see, and the address of the pages they can be used on. */
export interface PasskeyList {
  readonly origin: string | null;
  readonly problem?: string;
  readonly passkeys: readonly ListedPasskey[];
}

/** What a passkey signed for one act. */
export interface Assertion {
  readonly id: string;
  readonly nonce: string;
  readonly authenticator_data: string;
  readonly client_data_json: string;
  readonly signature: string;
}

/** The passkeys. */
export const passkeysQuery = queryOptions({
  queryKey: ['project', 'passkeys'],
  queryFn: ({ signal }) => ask<PasskeyList>('/passkeys', {}, signal),
});

/** Whether the human who is signed in has a passkey for this page; and where it would work, if not here. */
export function useOwnPasskeys(): { readonly here: boolean; readonly elsewhere: string | null } {
  const me = useQuery(sessionQuery).data?.name;
  const list = useQuery(passkeysQuery).data;
  const own = list?.passkeys.filter(({ human, origin }) => human === me && origin === list.origin) ?? [];
  if (own.length === 0 || list === undefined) return { here: false, elsewhere: null };
  const here = list.origin === location.origin && canUsePasskeys();
  return { here, elsewhere: here ? null : list.origin };
}

/** Whether this browser can use passkeys on this page. */
export function canUsePasskeys(): boolean {
  return 'PublicKeyCredential' in window && window.isSecureContext;
}

/** Has a passkey sign one act. Throws a `Problem`. */
export async function assertAct(what: {
  readonly path: string;
  readonly method?: 'POST' | 'DELETE';
  readonly body: Readonly<Record<string, unknown>>;
}): Promise<Assertion> {
  const { path, method = 'POST', body } = what;
  const { nonce, options } = await act<Offered>('/passkeys/challenge', { method, path, body });
  const { startAuthentication } = await import('@simplewebauthn/browser');
  const { id, response } = await used(() => startAuthentication({ optionsJSON: options as never }));
  return {
    id,
    nonce,
    authenticator_data: response.authenticatorData,
    client_data_json: response.clientDataJSON,
    signature: response.signature,
  };
}

/** Has the browser make a passkey, and says what is to be sent to register it. Throws a `Problem`. */
export async function makePasskey(): Promise<Readonly<Record<string, unknown>>> {
  const { nonce, options } = await act<Offered>('/passkeys/options', {});
  const { startRegistration } = await import('@simplewebauthn/browser');
  const { id, response } = await used(() => startRegistration({ optionsJSON: options as never }));
  return {
    nonce,
    id,
    client_data_json: response.clientDataJSON,
    attestation_object: response.attestationObject,
    ...(response.transports === undefined ? {} : { transports: response.transports }),
  };
}

interface Offered {
  readonly nonce: string;
  readonly options: unknown;
}

async function used<T>(use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    const known = error instanceof Error && error.name === 'InvalidStateError';
    const message = known
      ? 'this device has a passkey of yours for this page already'
      : 'no passkey was used';
    throw new Problem(message, {
      status: 0,
      code: 'passkey_unused',
      hint: known ? null : 'try again, or use the passphrase',
    });
  }
}

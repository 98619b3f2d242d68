import { browserSupportsWebAuthn, startAuthentication } from '@simplewebauthn/browser';
import { act } from '../api/ask.ts';
import type { Act } from './ActForm.tsx';

/** Whether this page may ask for a passkey at all: it needs a name, and 127.0.0.1 is not one. */
export function passkeysWork(): boolean {
  return browserSupportsWebAuthn() && !/^[\d.]+$|:/.test(location.hostname);
}

/** Has the human confirm exactly this act with a passkey: what is signed is the hash of the act. */
export async function passkeyProof({ path, method = 'POST', body }: Act): Promise<{ passkey: unknown }> {
  type Options = Parameters<typeof startAuthentication>[0]['optionsJSON'];
  const optionsJSON = await act<Options>('/passkeys/challenge', { method, path, body });
  return { passkey: await startAuthentication({ optionsJSON }) };
}

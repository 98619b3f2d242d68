import type { RestParts } from './parts.ts';
import type { ListedSession } from './sessions.ts';

/** Puts on record that a session was ended: whose it was, by whom, and how. */
export async function noteEnd(
  project: RestParts['project'],
  { id, name, carrier }: ListedSession,
  { by, how }: { readonly by: string; readonly how: 'signed_out' | 'revoked' | 'crowded_out' },
): Promise<void> {
  await project.server.note(
    'signed_out',
    { kind: 'human', name: by },
    { session: id, of: name, carrier, how },
  );
}

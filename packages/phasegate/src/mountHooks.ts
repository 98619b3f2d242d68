import { isHookKey } from './runtime/hooks/hookKey.ts';
import { type HookClient, isHookClient, type OpenProject } from './runtime/ports.ts';
import { readUserRecord } from './settings/userSettings.ts';
import { answerHook, HOOK_LIMIT } from './surfaces/hooks/answerHook.ts';
import { createPairing } from './surfaces/hooks/pairing.ts';
import { sessionIn } from './surfaces/hooks/sessionIn.ts';
import type { HookMount, Log } from './surfaces/rest/parts.ts';

/** Hooks of clients, for the one who has the project's key for them or the user's own socket. */
export function mountHooks(stateDir: string, project: () => OpenProject, log: Log): HookMount {
  const pairing = createPairing(
    // Pairs are remembered by this process alone.
    Date.now,
    (client) =>
      readUserRecord(stateDir)?.projects.some(
        (one) => one.stateDir === stateDir && one.clients.includes(client),
      ) === true,
  );
  return {
    knows: isHookClient,
    isKey: (secret) => isHookKey(stateDir, secret),
    limit: HOOK_LIMIT,
    sessionOf: sessionIn,
    answer: ({ client, ...event }) =>
      answerHook(
        { client: client as HookClient, ...event },
        {
          hooks: project().hooks,
          pairing,
          onError: (error) =>
            log.error({ cause: error instanceof Error ? error.message : String(error) }, 'hook'),
        },
      ),
  };
}

import { rmSync, writeFileSync } from 'node:fs';
import { reasonOf } from '@phasegate/core/model';
import { hookSocketFor, makeSocketFolder, pidFileOf } from './settings/hookSocket.ts';
import { type HttpOptions, serveHttp } from './surfaces/rest/httpServer.ts';

/** Where hooks of clients come in. */
export interface HookDoor {
  /** Null where none could be opened: then hooks block. */
  readonly socket: string | null;
  close(): Promise<void>;
}

/**
 * Opens the socket for hooks. Who connects is this user, as nobody else can enter its folder, and that is good for
 * `/hooks` and nothing more: no other route is there. INVARIANT: the number of the process lies beside the socket only
 * while it is served; a hook that finds none starts a server.
 */
export async function openHookDoor(
  stateDir: string,
  app: HttpOptions['app'],
  told: { readonly hot: NonNullable<HttpOptions['hot']>; log(line: string): void },
): Promise<HookDoor> {
  const socket = hookSocketFor(stateDir);
  const pidFile = pidFileOf(socket);
  try {
    makeSocketFolder(socket);
    const http = await serveHttp({
      app: {
        fetch: (request, env) =>
          OPEN.test(new URL(request.url).pathname)
            ? app.fetch(request, { ...env, local: true })
            : new Response('{"error":"route_unknown"}', { status: 404, headers: JSON_TYPE }),
        endStreams: () => undefined,
      },
      // Counts as use; what is fast elsewhere is not served here.
      hot: told.hot,
      socket: { path: socket, group: false },
      // Those who ask are on this machine, and have the whole event in hand.
      limits: { headersMs: 5_000, requestMs: 10_000 },
    });
    writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 });
    return {
      socket,
      async close() {
        rmSync(pidFile, { force: true });
        await http.close();
      },
    };
  } catch (error) {
    told.log(`hooks cannot reach this server: ${reasonOf(error)}`);
    return { socket: null, close: async () => undefined };
  }
}

const OPEN = /^\/(?:api\/v1\/hooks\/[a-z-]+|healthz)$/;
const JSON_TYPE = { 'content-type': 'application/json' };

import { rmSync, writeFileSync } from 'node:fs';
import { reasonOf } from '@phasegate/core/model';
import { hookSocketFor, isServedBy, makeSocketFolder, pidFileOf } from './settings/hookSocket.ts';
import { type HttpOptions, type HttpServer, serveHttp } from './surfaces/rest/httpServer.ts';

/** Where hooks of clients come in. */
export interface HookDoor {
  /** Null where none could be opened: then hooks block. */
  readonly socket: string | null;
  /** Opens it again where its socket or the file beside it was removed: no hook finds the server without them. */
  keep(): void;
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
  const open = async (): Promise<HttpServer> => {
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
    return http;
  };
  const failed = (error: unknown) => told.log(`hooks cannot reach this server: ${reasonOf(error)}`);
  try {
    return keptDoor({ socket, http: await open(), open, failed });
  } catch (error) {
    failed(error);
    return { socket: null, keep: () => undefined, close: async () => undefined };
  }
}

interface Opened {
  readonly socket: string;
  readonly http: HttpServer;
  open(): Promise<HttpServer>;
  failed(error: unknown): void;
}

function keptDoor({ socket, http, open, failed }: Opened): HookDoor {
  // All that were opened: what is under way at an earlier one is answered too.
  const opened = [http];
  let opening: Promise<void> | null = null;
  let closed = false;
  const openAgain = async () => {
    // Node removes what lies at the path of a socket as soon as it closes it, so this comes before the next is there.
    void opened.at(-1)?.close();
    try {
      opened.push(await open());
    } catch (error) {
      failed(error);
    }
    opening = null;
  };
  return {
    socket,
    keep() {
      if (!closed && opening === null && !isServedBy(socket, process.pid)) opening = openAgain();
    },
    async close() {
      closed = true;
      await opening;
      rmSync(pidFileOf(socket), { force: true });
      await Promise.all(opened.map((one) => one.close()));
    },
  };
}

const OPEN = /^\/(?:api\/v1\/hooks\/[a-z-]+|healthz)$/;
const JSON_TYPE = { 'content-type': 'application/json' };

import { rmSync } from 'node:fs';
import { subprocessAdapter } from './agents/subprocessAdapter.ts';
import type { RunWorker } from './runtime/ports.ts';
import { makeOwnFolder } from './worker/ownFolder.ts';
import { runWorker } from './worker/runWorker.ts';
import { workspacesIn } from './worker/workspaces.ts';

/** Runs a worker on this machine, in a folder of its own that is gone when it ends, unless something is to stay. */
export function localWorker(env: Readonly<Record<string, string | undefined>>): RunWorker {
  return async (request) => {
    const folder = makeOwnFolder(request.folder);
    const ending = new AbortController();
    let stays = false;
    const noticing: typeof request = {
      ...request,
      report(event) {
        if (event.event === 'kept') stays = true;
        request.report(event);
      },
    };
    const workspaces = workspacesIn(folder, noticing, { env, signal: ending.signal });
    const adapter = subprocessAdapter({
      logFile: request.logFile,
      terminal: false,
      keepsLines: true,
      enclose: () => Promise.reject(new Error('a worker holds no program in a sandbox')),
    });
    try {
      return await runWorker(
        { request: noticing, adapter, workspaces, folder, env, ending: ending.signal },
        () => ending.abort(),
      );
    } finally {
      if (!stays) rmSync(folder, { recursive: true, force: true });
    }
  };
}

import { makeFolder } from './config/makeFolder.ts';
import { loadConfig } from './config.ts';
import { hookKeyOf } from './runtime/hooks/hookKey.ts';
import type { HttpHooks } from './runtime/ports.ts';

/** Where a client on this machine asks the server of a project by HTTP, and with which key. */
export async function localHttpHooks({
  root,
  stateDir,
}: {
  readonly root: string;
  readonly stateDir: string;
}): Promise<HttpHooks> {
  const { port } = await loadConfig(root);
  makeFolder(stateDir);
  return { port, key: hookKeyOf(stateDir) };
}

import { isAbsolute, join, resolve } from 'node:path';
import { loadConfig } from './config.ts';
import { lazy, lazyPort } from './lazyPort.ts';
import { ownFolders } from './ownFolders.ts';
import type { Sandbox } from './runtime/ports.ts';
import type { Sandboxing } from './runtime/sandboxing.ts';

/** Where a project is, and what is not to be seen of it. */
export interface SandboxPlace {
  readonly root: string;
  /** Null where there can be no state. */
  readonly stateDir: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Sandboxes on this machine, made when a program is first to be held. */
export function lazySandbox({ root, stateDir, env }: SandboxPlace): Sandboxing {
  const settings = async () => {
    const { sandbox, workflows } = await loadConfig(root);
    const home = env.HOME;
    const place = (path: string) =>
      path.startsWith('~/') && home !== undefined && isAbsolute(home)
        ? join(home, path.slice(2))
        : resolve(root, path);
    const { read = [], write = [], hosts = [], memory } = typeof sandbox === 'string' ? {} : sandbox;
    const hidden = stateDir === null ? [] : ownFolders({ root, stateDir, env });
    const places = { hidden, home, read: read.map(place), write: write.map(place) };
    return { ...places, hosts, definitions: workflows, ...(memory === undefined ? {} : { memory }) };
  };
  // Where the engine is isolated, every program is held, and that as another user.
  const isIsolated = (env.PHASEGATE_ISOLATED ?? '') !== '';
  const sandbox = lazy<Sandbox>(async () => {
    const made = (await import('./sandbox/bubblewrap.ts')).createBubblewrap(settings);
    return isIsolated ? (await import('./localIsolation.ts')).isolatedSandbox(made, { env, root }) : made;
  });
  return {
    sandbox: lazyPort(sandbox, { calls: ['state', 'enclose', 'mcp'] }),
    async always() {
      if (isIsolated) return true;
      const { sandbox: set } = await loadConfig(root);
      return (typeof set === 'string' ? set : (set.programs ?? 'off')) === 'on';
    },
  };
}

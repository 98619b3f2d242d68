import { measuresFolder } from './config/measuresFolder.ts';
import { lazy, lazyPort } from './lazyPort.ts';
import { keyFolders } from './ownFolders.ts';
import type { Databases, Fence } from './runtime/ports.ts';

/** Where a workspace is, and where its measures are kept. */
export interface FencedPlace {
  readonly root: string;
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly databases: Pick<Databases, 'protection'>;
}

/** The fence of a workspace on this machine, loaded when a run is first measured. */
export function lazyFence({ root, stateDir, env, databases }: FencedPlace): Fence {
  const fence = lazy(async () => {
    const { createFence } = await import('./workspace/fence/fence.ts');
    const guardsOtherwise = () => databases.protection();
    const folder = measuresFolder({ root, stateDir, env });
    const own = () => keyFolders({ root, stateDir, env });
    return createFence({ root, stateDir, own, env, folder, guardsOtherwise });
  });
  return lazyPort(fence, {
    calls: [
      'measure',
      'compare',
      'survey',
      'moved',
      'state',
      'standing',
      'accept',
      'materialise',
      'keep',
      'release',
      'restore',
      'quarantine',
      'diff',
      'between',
      'contentOf',
      'settle',
    ],
  });
}

import { join } from 'node:path';
import { lazy, lazyPort } from './lazyPort.ts';
import type { Dependencies, Fence, Sandbox, Seal, Store, Verifying } from './runtime/ports.ts';

/** Where a project is, and what its rooms are made of. */
export interface VerifyPlace {
  readonly root: string;
  readonly stateDir: string;
  readonly fence: Pick<Fence, 'materialise'>;
  readonly sandbox: Pick<Sandbox, 'state' | 'enclose'>;
  readonly seal: Pick<Seal, 'sign' | 'verifySignature'>;
  readonly store: Pick<Store, 'note' | 'now'>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Rooms in which the engine verifies, and the dependencies they are furnished with; loaded when asked for. */
export function lazyVerify({ root, stateDir, seal, fence, store, ...place }: VerifyPlace): {
  readonly verifying: Verifying;
  readonly dependencies: Dependencies;
} {
  const sandbox = isIsolated(place) ? notHere(place) : place.sandbox;
  const sets = lazy(async () => (await import('./verify/frozenSets.ts')).openFrozenSets(stateDir, seal));
  const rooms = lazy(async () =>
    (await import('./verify/rooms.ts')).createRooms({
      fence,
      sandbox,
      frozen: sets.get,
      folder: join(stateDir, 'rooms'),
    }),
  );
  const dependencies = lazy(async () =>
    (await import('./verify/dependencies.ts')).createDependencies({
      root,
      frozen: sets.get,
      sandbox,
      store,
      now: store.now ?? Date.now,
    }),
  );
  return {
    verifying: lazyPort(rooms, { calls: ['room'] }),
    dependencies: lazyPort(dependencies, { calls: ['list', 'freeze'] }),
  };
}

function isIsolated({ env }: Pick<VerifyPlace, 'env'>): boolean {
  return (env.PHASEGATE_ISOLATED ?? '') !== '';
}

/** A room is a folder of the engine's user, which the user of checks cannot enter: none is made rather than half of one. */
function notHere({ sandbox }: Pick<VerifyPlace, 'sandbox'>): VerifyPlace['sandbox'] {
  return {
    enclose: sandbox.enclose,
    state: async () => ({
      works: false,
      reason:
        'an isolated engine has no rooms of its own: it runs checks in the workspace, as the user of checks',
      nextStep:
        'the author of the workflow asks for `observed`, or it is verified where the engine is not isolated',
    }),
  };
}

import { join } from 'node:path';
import { lazy, lazyPort } from './lazyPort.ts';
import type { AcceptedFiles, GuardedFiles, Seal } from './runtime/ports.ts';
import type { FileChange } from './workspace/guardedFiles.ts';

/** Where the guard's own files are, and where what is known of them is kept. */
export interface GuardedPlace {
  readonly root: string;
  readonly stateDir: string;
  readonly seal: Pick<Seal, 'sign' | 'verifySignature'>;
}

/** The guard's own files, read when a program is first run. */
export function lazyGuardedFiles({ root, stateDir, seal }: GuardedPlace): GuardedFiles {
  const keptIn = () => join(stateDir, 'put-back');
  const files = lazy(async () =>
    (await import('./workspace/guardedFiles.ts')).createGuardedFiles({ root, keptIn }),
  );
  const keeping = async () => {
    const { realpath } = await import('node:fs/promises');
    return { folder: join(stateDir, 'guarded'), root: await realpath(root), seal };
  };
  const room = () => import('./workspace/keptMeasure.ts');
  return {
    ...lazyPort(files, { calls: ['read'] }),
    measure: async () => (await room()).readMeasure(await keeping()),
    keepMeasure: async (measure) => (await room()).keepMeasure(await keeping(), measure),
    putBack: async (change) => (await files.get()).putBack(change as FileChange),
  };
}

/** Files of workflows and what was accepted of them, read when somebody asks. */
export function lazyAcceptedFiles({
  root,
  stateDir,
}: Pick<GuardedPlace, 'root' | 'stateDir'>): AcceptedFiles {
  const keptIn = () => join(stateDir, 'accepted');
  const files = lazy(async () =>
    (await import('./workspace/acceptedFiles.ts')).createAcceptedFiles({ root, keptIn }),
  );
  return lazyPort(files, { calls: ['now', 'kept', 'keep'] });
}

import { release } from 'node:os';
import type { ClientName } from './clients/clientKind.ts';
import type { LookAgain } from './runtime/hooks/proofs.ts';
import type { HookClient } from './runtime/ports.ts';

/** What the walls of a proof are made of, beside Phasegate. */
export function kernelNow(by: string): string {
  return `${process.platform} ${release()}, ${by}`;
}

/** How a proof is held against what is there now. */
export function lookAgainAt({
  root,
  home,
  stateDir,
}: {
  readonly root: string;
  readonly home: string;
  readonly stateDir: string;
}): LookAgain {
  return async (client, { program }) => {
    if (!isClientName(client)) return null;
    const [{ CLIENTS }, { filesOfClient }, { clientIdentity }, { settingsNow }, { findBubblewrap }] =
      await Promise.all([
        import('./clients/kinds/index.ts'),
        import('./clients/findClient.ts'),
        import('./clients/clientIdentity.ts'),
        import('./clients/prove/settingsFiles.ts'),
        import('./sandbox/bubblewrapState.ts'),
      ]);
    const { state } = await findBubblewrap();
    const files = await filesOfClient(program, CLIENTS[client].package);
    return {
      identity: await clientIdentity(files),
      settings: await settingsNow(client, { project: root, home, stateDir }),
      kernel: kernelNow(state.works ? state.by : 'no sandbox'),
    };
  };
}

function isClientName(client: HookClient): client is ClientName {
  return client !== 'cursor';
}

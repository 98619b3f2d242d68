import { randomBytes } from 'node:crypto';
import { PhasegateError } from '@phasegate/core';
import { driveAgent } from './agents/driveAgent.ts';
import { subprocessAdapter } from './agents/subprocessAdapter.ts';
import { tmuxAdapter } from './agents/tmuxAdapter.ts';
import { withoutSecrets } from './launch/withoutSecrets.ts';
import type { SpawnAgent } from './runtime/ports.ts';
import { findServer } from './serverFile.ts';

/** What spawning needs of the process it happens in. */
export interface SpawnSetting {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The words that start this program itself. */
  readonly launcher: readonly [string, ...string[]];
  /** Whether there is a terminal the agent may read. */
  readonly terminal: boolean;
}

/** Starts agents of a project on this machine; they talk to its running server. */
export function spawnLocalAgent({ env, launcher, terminal }: SpawnSetting): SpawnAgent {
  return async ({ adapter, logFile, ...request }) => {
    const server = await findServer(request.project.stateDir);
    if (server === null) {
      throw new PhasegateError('server_unreachable', 'no server of this project is running', {
        hint: 'start one with `phasegate serve`, or in the background with `phasegate up`',
      });
    }
    return driveAgent({
      request,
      url: server.url,
      environment: env,
      launcher,
      suffix: () => randomBytes(3).toString('hex'),
      adapter:
        adapter === 'tmux'
          ? tmuxAdapter({ launcher, environment: withoutSecrets(env) })
          : subprocessAdapter({ logFile, terminal, enclose: (run) => request.open.sandboxes.forRun(run) }),
    });
  };
}

import { isLoopbackHost } from '@phasegate/core/contract';
import { withoutSecrets } from '../launch/withoutSecrets.ts';

/** What an agent is told by its environment. */
export interface Told {
  readonly url: string;
  readonly agent: string;
  readonly key: string;
  readonly run: string;
  readonly promptFile: string;
  readonly mcpFile: string;
}

/** The environment of an agent: ours without secrets, and what it needs to reach the server. */
export function agentEnvironment(
  own: Readonly<Record<string, string | undefined>>,
  told: Told,
): Readonly<Record<string, string>> {
  return {
    ...withoutSecrets(own),
    PHASEGATE_URL: told.url,
    PHASEGATE_AGENT: told.agent,
    PHASEGATE_KEY: told.key,
    PHASEGATE_RUN: told.run,
    PHASEGATE_PROMPT: told.promptFile,
    PHASEGATE_MCP_CONFIG: told.mcpFile,
    PHASEGATE_CREDENTIALS_FD: '3',
    // The server is on this machine, whatever address it was told to listen on: nothing goes over the network.
    ...(isPlainAddress(told.url) ? { PHASEGATE_INSECURE_HTTP: '1' } : {}),
  };
}

function isPlainAddress(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !isLoopbackHost(hostname);
}

import { PhasegateError } from '@phasegate/core';
import { isLoopback } from './address.ts';

/** Where a server wants to listen, and what protects what is sent there. */
export interface Binding {
  readonly host: string;
  readonly tls: boolean;
  /** TLS ends at a proxy of the operator's. */
  readonly behindProxy: boolean;
}

/** Refuses to listen where credentials would cross a network in the open. */
export function demandSafeBinding({ host, tls, behindProxy }: Binding): void {
  if (isLoopback(host) || tls || behindProxy) return;
  throw new PhasegateError(
    'usage',
    `\`${host}\` can be reached from outside, and plain HTTP would show every credential`,
    {
      hint: 'use --host 127.0.0.1, or --tls-cert and --tls-key, or --behind-proxy where a proxy ends TLS',
    },
  );
}

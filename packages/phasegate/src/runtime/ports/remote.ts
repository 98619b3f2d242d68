import type { Param } from '@phasegate/core';
import type { Agents, Claims, Feed, Humans } from '@phasegate/core/ports';
import type { Gates, Keeping, RunsOf } from './openProject.ts';

/** What of an open project can also be had from elsewhere, over its server. */
export interface ReachedProject
  extends Gates,
    Pick<RunsOf, 'as' | 'look' | 'fencing'>,
    Pick<Keeping, 'verifyAudit'> {
  readonly humans: Pick<Humans, 'unlock'>;
  readonly agents: Pick<Agents, 'list' | 'add' | 'remove'>;
  readonly claims: Pick<Claims, 'claim' | 'claimRun' | 'leases'>;
  readonly feed: Pick<Feed, 'after' | 'subscribe'>;
  /** Throws `server_unreachable` where there is a server to reach, and it is not there. */
  lookForServer?(): Promise<void>;
}

/**
 * A project over its server. A principal names only the kind of the caller there: who they are is the credential's to
 * say, the agent's key or the session that unlocking a human opens.
 */
export interface RemoteProject extends ReachedProject {
  /** What is known of a workflow's params without its definition. */
  declaredParams(workflow: string): Promise<Readonly<Record<string, Pick<Param, 'type'>>>>;
  /** Ends the session, where there is one. */
  close(): Promise<void>;
}

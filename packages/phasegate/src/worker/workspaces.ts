import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { reasonOf } from '@phasegate/core/model';
import type { WorkerRequest } from '../runtime/ports.ts';
import { demandRunId } from './demandRunId.ts';
import { gitWorkspaces } from './gitWorkspace.ts';

/** A folder in which the agent of one run works. */
export interface Workspace {
  readonly folder: string;
  /** The agent has ended: sends what is to be sent and removes the folder, unless it is to stay or could not be sent. */
  close(): Promise<void>;
}

/** Makes the folder of a run: a clone where there is a repository, else an empty one. */
export interface Workspaces {
  /** Throws where none could be made, before anything is claimed. */
  ready(): Promise<void>;
  make(run: string): Promise<Workspace>;
}

/** Makes workspaces in a folder of the worker's own. */
export function workspacesIn(
  own: string,
  request: Pick<WorkerRequest, 'repository' | 'keep' | 'report'>,
  place: { readonly env: Readonly<Record<string, string | undefined>>; readonly signal: AbortSignal },
): Workspaces {
  const { repository, keep, report } = request;
  const remove = (folder: string) => rmSync(folder, { recursive: true, force: true });
  if (repository === null)
    return {
      ready: async () => undefined,
      async make(run) {
        demandRunId(run);
        const folder = join(own, 'runs', run);
        remove(folder);
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        return {
          folder,
          async close() {
            if (keep) report({ event: 'kept', run, folder, why: 'it was asked for' });
            else remove(folder);
          },
        };
      },
    };
  const git = gitWorkspaces(repository, { folder: own, ...place });
  const make = async (run: string): Promise<Workspace> => {
    const made = await git.make(run);
    const { folder, branch } = made;
    return {
      folder,
      async close() {
        if (repository.push) {
          try {
            if (await made.push()) report({ event: 'pushed', run, branch });
          } catch (error) {
            // The only copy of the work stays where it is.
            return report({ event: 'kept', run, folder, why: reasonOf(error) });
          }
        }
        if (keep) return report({ event: 'kept', run, folder, why: 'it was asked for' });
        const files = await made.uncommitted().catch(() => 0);
        if (files > 0) report({ event: 'dropped', run, files });
        remove(folder);
      },
    };
  };
  return { ready: () => git.fetch(), make };
}

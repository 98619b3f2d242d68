import type { Ending } from '../model/workflow.ts';

/** The hash of a copy of the author's database, where there is one: what is absent is not written. */
export function databaseOf({ database }: { readonly database?: string | undefined }): {
  readonly database?: string;
} {
  return database === undefined ? {} : { database };
}

/** INVARIANT: work that did not come off, was left out or was turned down changes no database. */
export function installable(outcome: Ending, database: string | undefined): { readonly database?: string } {
  return outcome === 'ok' || outcome === 'iterate' ? databaseOf({ database }) : {};
}

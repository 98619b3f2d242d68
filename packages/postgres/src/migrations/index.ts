import { firstMigration } from './0001-first.ts';

/** In order; the number of a format is how many were applied. Each only adds, so that nodes of the version before go on. */
export const MIGRATIONS: readonly string[] = [firstMigration];

export { type ConnectionSettings, connectionSettings } from './connectionSettings.ts';
export { type CopyOrder, type CopySource, copyInto } from './copyInto.ts';
export type { Answered, DatabaseLimits, Intercept, Query } from './database.ts';
export { openPostgresStore, type PostgresStoreOptions } from './openPostgresStore.ts';

export { createDatabases, type DatabasesParts } from './databases.ts';
export { openSafeDatabase, type SafeDatabaseOptions } from './openSafeDatabase.ts';
export type {
  DatabaseParams,
  DatabaseRow,
  DatabaseValue,
  DeleteConfirmation,
  SafeDatabase,
  Where,
} from './safeDatabase.ts';

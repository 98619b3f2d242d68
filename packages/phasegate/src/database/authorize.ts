import { constants } from 'node:sqlite';
import type { Asked } from './rawDatabase.ts';
import type { Tables } from './tables.ts';

/** What the statement that is being compiled may do beside reading. */
export interface Leave {
  /** Rows may be added and changed. */
  readonly write: boolean;
  /** It is a statement of ours: transactions, and the switch that shows what `REPLACE` would delete. */
  readonly own?: boolean;
  /** It is being run, so whatever is compiled now is what virtual tables do to their own storage. */
  readonly running?: boolean;
  /** A confirmed delete from this table. */
  readonly deleteFrom?: string;
}

/** What a statement turned out to do while it was compiled. */
export interface Seen {
  writes: boolean;
  deletes: number;
}

/** Why SQLite must not compile this part; null where it may. Whatever is not known to be harmless is refused. */
export function authorize(asked: Asked, leave: Leave, { tables, seen }: Compiling): string | null {
  const { action, first, second, within } = asked;
  const tripped = within === null ? undefined : tables.tripwires.get(within);
  if (tripped !== undefined) return tripped === leave.deleteFrom ? null : REPLACES;
  switch (action) {
    case constants.SQLITE_SELECT:
    case constants.SQLITE_READ:
    case constants.SQLITE_RECURSIVE:
      return null;
    case constants.SQLITE_FUNCTION:
      return refusedFunction(second);
    case constants.SQLITE_PRAGMA:
      return leave.own && first === RECURSIVE_TRIGGERS ? null : refusedPragma(first, second);
    case constants.SQLITE_TRANSACTION:
    case constants.SQLITE_SAVEPOINT:
      return leave.own ? null : 'transactions are made with `db.transaction()`';
    case constants.SQLITE_INSERT:
    case constants.SQLITE_UPDATE:
      seen.writes = true;
      return refusedWrite(asked, leave, tables);
    case constants.SQLITE_DELETE:
      return refusedDelete(asked, leave, { tables, seen });
    default:
      return SCHEMA_ACTIONS.has(action) ? SCHEMA_ONLY_BY_MIGRATIONS : notAllowed(action);
  }
}

/** Why a migration must not do this; null where it may. */
export function authorizeMigration({ action, first, second }: Asked): string | null {
  switch (action) {
    case constants.SQLITE_ATTACH:
    case constants.SQLITE_DETACH:
      return notAllowed(action);
    case constants.SQLITE_TRANSACTION:
    case constants.SQLITE_SAVEPOINT:
      return 'a migration is a transaction already, so it cannot begin or end one';
    case constants.SQLITE_FUNCTION:
      return refusedFunction(second);
    case constants.SQLITE_PRAGMA:
      return MIGRATION_PRAGMAS.has(first ?? '') ? null : refusedPragma(first, second);
    case constants.SQLITE_READ:
      return null;
    default:
      return first === MIGRATIONS_TABLE || second === MIGRATIONS_TABLE
        ? `\`${MIGRATIONS_TABLE}\` is kept by Phasegate`
        : null;
  }
}

/** Where applied migrations are recorded. */
export const MIGRATIONS_TABLE = 'phasegate_migrations';

/** With it on, SQLite compiles the delete triggers of a `REPLACE` too, so that the authorizer hears of them. */
export const RECURSIVE_TRIGGERS = 'recursive_triggers';

/** What a delete without its token is answered. */
export const DELETE_NEEDS_TOKEN = 'DELETE requires confirmation token from db.getDeleteConfirmation()';

interface Compiling {
  readonly tables: Tables;
  readonly seen: Seen;
}

const SCHEMA_ONLY_BY_MIGRATIONS = 'the schema is changed by migrations only';
const REPLACES = 'a conflict that REPLACE resolves deletes rows; use `ON CONFLICT … DO UPDATE` instead';

function refusedWrite({ first, schema, within }: Asked, leave: Leave, tables: Tables): string | null {
  const table = first ?? '';
  if (/^sqlite_(?:temp_)?(?:master|schema)$/i.test(table)) return SCHEMA_ONLY_BY_MIGRATIONS;
  if (!leave.write) return 'this database is open for reading only';
  if (schema !== 'main') return `\`${table}\` is not a table of this database`;
  switch (tables.kinds.get(table)) {
    case 'table':
    case 'view':
      return table === MIGRATIONS_TABLE ? `\`${table}\` is kept by Phasegate` : null;
    case 'virtual':
      // Writing to a search index can mean deleting from it: only what migrations put into triggers may.
      return within === null ? `\`${table}\` is a virtual table, which only triggers may write to` : null;
    case 'shadow':
      return leave.running ? null : `\`${table}\` is the storage of a virtual table`;
    default:
      return `\`${table}\` is not a table to write to`;
  }
}

function refusedDelete({ first, schema, within }: Asked, leave: Leave, { tables, seen }: Compiling) {
  const table = first ?? '';
  if (/^sqlite_(?:temp_)?(?:master|schema)$/i.test(table)) return SCHEMA_ONLY_BY_MIGRATIONS;
  if (leave.running && schema === 'main' && tables.kinds.get(table) === 'shadow') return null;
  if (leave.deleteFrom === undefined) return DELETE_NEEDS_TOKEN;
  // Asked once for the statement itself; any more is a cascade or a trigger.
  const itself = table === leave.deleteFrom && schema === 'main' && within === null && seen.deletes === 0;
  seen.deletes += 1;
  if (itself) return null;
  const by = within === null ? 'a foreign key' : `the trigger \`${within}\``;
  return `this delete would make ${by} delete from \`${table}\` too, which was not confirmed`;
}

/** Nothing of these is in Node's SQLite under an author's hands; denied in case it comes to be. */
const REFUSED_FUNCTIONS = new Set(['load_extension', 'fts3_tokenizer', 'readfile', 'writefile', 'edit']);

function refusedFunction(name: string | null): string | null {
  const refused = name === null || REFUSED_FUNCTIONS.has(name.toLowerCase());
  return refused ? `the function \`${name}\` is not allowed` : null;
}

/** They tell something about their argument and change nothing. */
const PRAGMAS_ABOUT = new Set([
  'table_info',
  'table_xinfo',
  'table_list',
  'index_list',
  'index_info',
  'index_xinfo',
  'foreign_key_list',
  'foreign_key_check',
  'integrity_check',
  'quick_check',
]);
/** They tell something, and change it where they get an argument. */
const PRAGMAS_READ = new Set(['user_version', 'schema_version', 'application_id', 'data_version']);
const MIGRATION_PRAGMAS = new Set(['user_version', 'application_id']);

function refusedPragma(name: string | null, argument: string | null): string | null {
  const pragma = name?.toLowerCase() ?? '';
  if (PRAGMAS_ABOUT.has(pragma) || (argument === null && PRAGMAS_READ.has(pragma))) return null;
  return `\`PRAGMA ${name}\` is not allowed here`;
}

const SCHEMA_ACTIONS: ReadonlySet<number> = new Set([
  constants.SQLITE_CREATE_INDEX,
  constants.SQLITE_CREATE_TABLE,
  constants.SQLITE_CREATE_TEMP_INDEX,
  constants.SQLITE_CREATE_TEMP_TABLE,
  constants.SQLITE_CREATE_TEMP_TRIGGER,
  constants.SQLITE_CREATE_TEMP_VIEW,
  constants.SQLITE_CREATE_TRIGGER,
  constants.SQLITE_CREATE_VIEW,
  constants.SQLITE_CREATE_VTABLE,
  constants.SQLITE_DROP_INDEX,
  constants.SQLITE_DROP_TABLE,
  constants.SQLITE_DROP_TEMP_INDEX,
  constants.SQLITE_DROP_TEMP_TABLE,
  constants.SQLITE_DROP_TEMP_TRIGGER,
  constants.SQLITE_DROP_TEMP_VIEW,
  constants.SQLITE_DROP_TRIGGER,
  constants.SQLITE_DROP_VIEW,
  constants.SQLITE_DROP_VTABLE,
  constants.SQLITE_ALTER_TABLE,
  constants.SQLITE_REINDEX,
  constants.SQLITE_ANALYZE,
]);

function notAllowed(action: number): string {
  const name = Object.entries(constants).find(([key, code]) => code === action && !key.includes('CHANGESET'));
  if (action === constants.SQLITE_ATTACH) return 'ATTACH and VACUUM are not allowed: they reach other files';
  return `${name?.[0].replace('SQLITE_', '') ?? 'this'} is not allowed on the protected database`;
}

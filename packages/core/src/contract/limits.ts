import { EVIDENCE_LIMIT } from '../json.ts';

/**
 * The largest request or message that is read whole. Above the limit of evidence, so that too much of it gets an answer
 * that says so; small enough to be parsed at once.
 */
export const REQUEST_LIMIT = 2 * EVIDENCE_LIMIT;

/** The longest passphrase that is looked at. */
export const LONGEST_PASSPHRASE = 1024;

/** The largest file that is read whole into memory for a check, a tool or the guard. */
export const LARGEST_FILE = 10 * 1024 * 1024;

/** Characters a new passphrase has at least. */
export const LEAST_PASSPHRASE = 8;

import { own, PhasegateError } from '@phasegate/core';
import { systemReason } from '@phasegate/core/model';
import { noTerms } from './connectFaults.ts';

/** Says in Phasegate's words what PostgreSQL or the way to it refused; a fault of ours passes through. */
export function storeFault(error: unknown, shown: string): PhasegateError {
  if (error instanceof PhasegateError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  const code = stateOf(error);
  if (code !== null) return databaseFault({ code, reason, error, shown });
  const terms = noTerms(error, shown);
  if (terms !== null) return unavailable(shown, terms.reason, { cause: error, hint: terms.hint });
  // A word of the server without its five characters.
  if (error instanceof Error && error.name === 'error') {
    return unavailable(shown, reason === '' ? 'it failed and does not say why' : reason, { cause: error });
  }
  if (isOfTheWay(error)) {
    const said = reason === '' ? 'the connection failed' : reason;
    const node = String(own(error, 'code') ?? '');
    const why = systemReason(error)?.reason ?? OF_THE_WAY.get(LATE.test(reason) ? 'ETIMEDOUT' : node) ?? said;
    return unavailable(shown, why, { cause: error, hint: REACHABLE });
  }
  return new PhasegateError('internal', `the store at \`${shown}\` failed: ${reason}`, { cause: error });
}

/** The fault of a database that is there but cannot be used now. */
export function unavailable(
  shown: string,
  reason: string,
  more: { readonly cause?: unknown; readonly hint?: string } = {},
): PhasegateError {
  return new PhasegateError('store_unavailable', `\`${shown}\` cannot be used: ${reason}`, more);
}

/** What another transaction did came in between: done again from the start, it may go well. */
export class LostRace extends Error {}

/** Whether the same work may go well when it is done again at once. */
export function isWorthAnotherTry(error: unknown): boolean {
  return error instanceof LostRace || isOutdated(error) || AGAIN.has(stateOf(error) ?? '');
}

/** Whether a connection remembers a statement that fits the tables no longer: on a new one it may go well. */
export function isOutdated(error: unknown): boolean {
  return OUTDATED.has(stateOf(error) ?? '');
}

/** Whether the connection is gone, and with it what is known about its transaction. */
export function isOfTheWay(error: unknown): boolean {
  if (error instanceof PhasegateError) return false;
  const state = stateOf(error);
  if (state !== null) return state.startsWith('08') || state.startsWith('57P') || state === '25P03';
  const message = error instanceof Error ? error.message : '';
  return (
    /terminated|not queryable|timeout|ended|closed/i.test(message) ||
    systemReason(error) !== null ||
    noTerms(error, '') !== null ||
    ofNet(error)
  );
}

/**
 * Whether a server that lives said that the transaction failed. What else goes wrong after a commit was sent, of TLS or in
 * this process, says nothing about the commit; nor do the words of a server that has no room or may be about to crash.
 */
export function isRefusal(error: unknown): boolean {
  const state = stateOf(error);
  if (state === null) return error instanceof LostRace;
  return !isOfTheWay(error) && !/^(?:53|58|XX)/.test(state);
}

/** Whether it is no word of the server, or its last one: done again, it may go well. */
export function isOfNoServer(error: unknown): boolean {
  return stateOf(error) === null || isOfTheWay(error);
}

/** Whether it is the values of one write that were refused: the others of its transaction may go well without it. */
export function isOfOneWrite(error: unknown): boolean {
  const state = stateOf(error) ?? '';
  return state.startsWith('22') || state.startsWith('54');
}

/** Whether the others of its transaction may go well without the one write that was refused. */
export function mayBeOfOneWrite(error: unknown): boolean {
  return isOfOneWrite(error) || (stateOf(error) ?? '').startsWith('23');
}

/** Whether it is a value of one question that was refused: the others that were asked with it may be answered. */
export function isOfOneQuestion(error: unknown): boolean {
  return isOfOneWrite(error) || (error instanceof PhasegateError && isOfOneWrite(error.cause));
}

/** Whether a statement divided by zero, as those do that end a transaction by themselves. */
export function isDivisionByZero(error: unknown): boolean {
  return stateOf(error) === '22012';
}

/** The five characters by which PostgreSQL tells what is wrong; null where somebody else speaks. */
function stateOf(error: unknown): string | null {
  const code = own(error, 'code');
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && own(error, 'severity') !== undefined
    ? code
    : null;
}

function ofNet(error: unknown): boolean {
  return /^(?:ECONN|EAI_|ENOTFOUND|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENETUNREACH)/.test(
    String(own(error, 'code') ?? ''),
  );
}

/** What the driver says of a server that takes a connection, or a statement, and is silent. */
const LATE = /^(?:timeout expired|Query read timeout|Connection terminated due to connection timeout)$/;
const OF_THE_WAY: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'nothing listens at that address'],
  ['ENOTFOUND', 'there is no host of that name'],
  ['EAI_AGAIN', 'the name of its host cannot be looked up now'],
  ['ETIMEDOUT', 'it did not answer in time'],
]);

/** Serialization failures, deadlocks, and a row that somebody else has just made. */
const AGAIN: ReadonlySet<string> = new Set(['40001', '40P01', '23505']);

/** A plan whose columns are others by now, and a prepared statement that is gone. */
const OUTDATED: ReadonlySet<string> = new Set(['0A000', '26000']);

const REACHABLE = 'look whether it runs and can be reached from here, and try again';
const RIGHTS =
  'grant it the schema (`GRANT ALL ON SCHEMA … TO …`), or the right to make it (`GRANT CREATE ON DATABASE … TO …`); tables that another role made are used as that role, or given to this one (`REASSIGN OWNED BY … TO …`)';

const REASONS: ReadonlyMap<string, readonly [reason: string, hint: string]> = new Map([
  [
    '28P01',
    [
      'the password is wrong',
      'give the right one where it is given: in PGPASSWORD as it is, or in the address with `@` as `%40`, `/` as `%2F` and `%` as `%25`',
    ],
  ],
  ['28000', ['this user, or this way to connect, is refused', 'look at its pg_hba.conf']],
  ['3D000', ['there is no database of that name', 'make it with `createdb`, or name another']],
  ['25006', ['it takes no writes: it is a replica, or set to read-only', 'name the primary server']],
  ['42501', ['this user may not do that', RIGHTS]],
  ['53100', ['its disk is full', 'make room and try again']],
  ['53200', ['it is out of memory', 'wait, or give it more, and try again']],
  ['53300', ['it takes no more connections', 'raise its max_connections, or start fewer nodes']],
  ['55P03', ['another transaction keeps what is needed locked', 'wait and try again']],
  ['57014', ['it did not answer in time', 'look at what it is busy with, and try again']],
  ['57P01', ['it was shut down', REACHABLE]],
  ['57P02', ['it crashed', REACHABLE]],
  ['57P03', ['it is starting or shutting down', 'wait and try again']],
  ['25P03', ['a transaction was left open for too long and was ended', 'try again']],
]);

interface Refused {
  readonly code: string;
  readonly reason: string;
  readonly error: unknown;
  readonly shown: string;
}

function databaseFault({ code, reason, error, shown }: Refused): PhasegateError {
  const known = REASONS.get(code);
  if (known !== undefined) {
    const [why, hint] = known;
    return unavailable(shown, why, { cause: error, hint });
  }
  if (isOfOneWrite(error)) {
    return new PhasegateError('request_invalid', `what is to be stored cannot be: ${reason}`, {
      cause: error,
    });
  }
  // A statement that does not fit the tables means that they are not the ones we made.
  if (code.startsWith('42') || code.startsWith('XX')) {
    const message = `\`${shown}\` cannot be read as a database of ours: ${reason}`;
    return new PhasegateError('store_corrupt', message, { cause: error, hint: 'put a backup back' });
  }
  if (code.startsWith('23')) {
    const message = `\`${shown}\` holds a record where the next one belongs: ${reason}`;
    const hint = 'run `phasegate audit verify` to see what was changed';
    return new PhasegateError('audit_broken', message, { cause: error, hint });
  }
  return unavailable(shown, reason, { cause: error });
}

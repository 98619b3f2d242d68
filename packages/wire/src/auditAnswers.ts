import type { AuditRecord } from '@phasegate/core';

/** An audit record with its place among the records of all chains. */
export type EventRecord = AuditRecord & {
  readonly id: number;
};

/** A page of the audit. */
export type AuditPage = {
  readonly records: readonly (AuditRecord & { readonly id?: number })[];
  /** `after` of the next page; null after the last. */
  readonly next_after: number | null;
};

/** Records that were looked for, newest first. */
export type AuditFound = {
  readonly records: readonly (AuditRecord & { readonly id?: number })[];
  /** `before` of the next page; null at the beginning. */
  readonly next_before: number | null;
  /** How many records were looked through. */
  readonly searched: number;
};

/** What checking every chain found. */
export type AuditReport = {
  readonly ok: boolean;
  readonly runs: number;
  readonly records: number;
  readonly unanchored: number;
  /** How many phases humans overrode; absent where none. */
  readonly overridden?: number;
  readonly findings: readonly {
    readonly kind: string;
    readonly run: string | null;
    readonly seq: number | null;
    readonly message: string;
  }[];
  /** Where runs were archived to; left out where none was. */
  readonly archived?: readonly {
    readonly file: string;
    readonly sha256: string;
    readonly runs: number;
    readonly verified: boolean;
  }[];
};

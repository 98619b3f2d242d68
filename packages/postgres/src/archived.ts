import { type ArchivedStub, type StoredStub, sameMac, stubMac } from '@phasegate/audit';
import type { Seal } from '@phasegate/core/ports';
import { integer, type Row, text } from './rows.ts';

/** A stub of an archived run from its row. */
export function storedStub(seal: Seal, row: Row): StoredStub {
  const stub: ArchivedStub = {
    run: text(row, 'run'),
    head: { seq: integer(row, 'seq'), hash: text(row, 'hash') },
    first: integer(row, 'first_place'),
    last: integer(row, 'last_place'),
    file: text(row, 'file'),
    sha256: text(row, 'sha256'),
    archivedAt: text(row, 'archived_at'),
  };
  return { ...stub, sealed: sameMac(text(row, 'mac'), stubMac(seal, stub)) };
}

import type { Run } from '@phasegate/core';
import type { Fence, JudgedReceipt, Receipt, Receipts, Seal, Store } from '../ports.ts';
import { isSigned, receiptsIn } from './proving.ts';

/** What receipts are listed from. */
export interface ReceiptListParts {
  readonly store: Pick<Store, 'history'>;
  readonly seal: Pick<Seal, 'verifySignature'>;
  readonly measuring?: Pick<Fence, 'state'>;
  load(runId: string): Promise<Run>;
}

/** The receipts of a run, and whether they still stand. */
export function createReceiptList(parts: ReceiptListParts): Receipts {
  return {
    async list(runId, { verify }) {
      const run = await parts.load(runId);
      const found = oldestFirst(await receiptsIn(parts.store, runId));
      if (!verify) return found.map((receipt) => ({ receipt, signed: null, tree: null }));
      const { tree } = run.work;
      const now = tree === undefined ? null : ((await parts.measuring?.state(runId, tree)) ?? null);
      return found.map(
        (receipt): JudgedReceipt => ({
          receipt,
          signed: receipt.run === runId && isSigned(receipt, parts.seal),
          tree: standing(receipt.tree, now),
        }),
      );
    },
  };
}

/** A record is written when all it is about has ended: the runs of one check stand in it by what they are for. */
function oldestFirst(receipts: readonly Receipt[]): readonly Receipt[] {
  const begun = ({ started_at: at }: Receipt) => (typeof at === 'string' ? at : '');
  return receipts.toSorted((a, b) => Number(begun(a) > begun(b)) - Number(begun(a) < begun(b)));
}

function standing(then: string | null, now: string | null): JudgedReceipt['tree'] {
  if (then === null || now === null) return 'unknown';
  return then === now ? 'current' : 'void';
}

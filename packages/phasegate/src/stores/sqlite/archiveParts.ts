import type { DatabaseSync } from 'node:sqlite';
import { tampered } from '@phasegate/audit';
import type { AuditKnowledge, BundledKey } from '@phasegate/audit/verify';
import { PhasegateError } from '@phasegate/core';
import type { ArchiveStore, AuditDraft, AuditReport, ChainHead, Seal } from '../../runtime/ports.ts';
import type { ArchiveTable } from './archiveTable.ts';
import type { AuditTable } from './auditTable.ts';
import type { GroupCommit } from './groupCommit.ts';
import type { HeadTable } from './headTable.ts';
import type { RunTable } from './runTable.ts';
import { hex, integer, lazily, text } from './statements.ts';

/** What the archive of a store is built from. */
export interface ArchivePartsOf extends AuditKnowledge {
  readonly file: string;
  readonly seal: Seal;
  readonly now: () => number;
  readonly database: DatabaseSync;
  readonly archived: ArchiveTable;
  readonly audit: Pick<AuditTable, 'settle'>;
  readonly heads: Pick<HeadTable, 'append' | 'require'>;
  readonly runs: Pick<RunTable, 'moved' | 'write'>;
  readonly commits: GroupCommit;
  asking<T>(question: () => T): Promise<T>;
  verify(): Promise<AuditReport>;
  foldAll(): Promise<void>;
}

/** The part of a store that archives runs. */
export function archiveParts(parts: ArchivePartsOf): Required<ArchiveStore> {
  const { seal, now, archived, audit, heads, runs, commits } = parts;
  const headOf = lazily(parts.database, HEAD);

  /** Nothing of the run came after it was bundled, and the signed sum has its last record. */
  function isAsBundled({ key, run, head }: BundledKey): boolean {
    const row = headOf().get(key);
    if (row === undefined || text(row, 'id') !== run) return false;
    const same = (found: ChainHead) => found.seq === head.seq && found.hash === head.hash;
    return (
      same({ seq: integer(row, 'seq'), hash: hex(row, 'hash') }) &&
      same({ seq: integer(row, 'headed_seq'), hash: hex(row, 'headed_hash') })
    );
  }

  return {
    async archive({ before, file, by }) {
      // What was changed from outside must not become what was archived.
      const [first] = (await parts.verify()).findings;
      if (first !== undefined) {
        throw new PhasegateError('audit_broken', `the audit does not verify: ${first.message}`, {
          hint: 'nothing was archived; `phasegate audit verify` says all that is wrong',
        });
      }
      await parts.foldAll();
      const { bundleRuns, changedMeanwhile, moveInSlices } = await import('./archiveSqlite.ts');
      const time = new Date(now()).toISOString();
      const bundle = await bundleRuns(parts.file, { seal, knowledge: parts, before, file, by, time });
      if (bundle === null) return null;
      const { sha256, records, moved } = bundle;
      // INVARIANT: after each slice all verifies, and every run is in the store or in the file with its stub, never in
      // neither: what is cut off between two slices leaves nothing half.
      await moveInSlices({ database: parts.database, file, moved }, (slice, texts) =>
        commits.submit(() => {
          heads.require();
          // What others wrote in this transaction counts.
          audit.settle();
          runs.write();
          const changed = slice.find((run) => !isAsBundled(run));
          if (changed !== undefined) throw changedMeanwhile(changed.run, file);
          // Before the rows go: no record may get a number that a reader of the feed has seen.
          heads.append([{ ...noteOf(slice), principal: by }]);
          audit.settle();
          for (const { key, ...run } of slice) {
            archived.move({ key, texts: texts(key) }, { ...run, file, sha256, archivedAt: time });
            runs.moved(run.run);
          }
        }),
      );
      return { file, sha256, runs: moved.length, records };

      function noteOf(slice: readonly BundledKey[]): Omit<AuditDraft, 'principal'> {
        const held = slice.reduce((sum, { head }) => sum + head.seq, 0);
        const data = { file, sha256, runs: slice.length, records: held, before };
        // Of its own time: records of others came since the first slice.
        return { time: new Date(now()).toISOString(), event: 'runs_archived', data };
      }
    },
    archiveFiles: () => parts.asking(() => archived.files()),
    archivedRun: (runId) =>
      parts.asking(() => {
        const stub = archived.find(runId);
        if (stub === undefined) return undefined;
        if (!stub.sealed) throw tampered(`the stub of archived run \`${runId}\``);
        const { file, sha256, archivedAt } = stub;
        return { file, sha256, archivedAt };
      }),
  };
}

const HEAD = `SELECT runs.id, run_heads.* FROM runs JOIN run_heads ON run_heads.run = runs.key WHERE runs.key = ?`;

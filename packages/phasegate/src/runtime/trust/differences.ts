import { PhasegateError } from '@phasegate/core';
import { isImportEntry } from '@phasegate/core/contract';
import { oneLine } from '@phasegate/core/model';
import type { AcceptedFiles, DifferingFile, FileNow, FileTexts, Store, Trust } from '../ports.ts';

/** What differences are told from. */
export interface DifferenceParts {
  readonly store: Pick<Store, 'trustedBefore'>;
  /** Absent where there are no files to look at. */
  readonly files: AcceptedFiles | undefined;
}

const TOGETHER = 64;

/** How files of a workflow differ from what a human accepted. Nothing of them is run. */
export function createDifferences({
  store,
  files,
}: DifferenceParts): Pick<Trust['workflows'], 'texts' | 'differing'> {
  /** INVARIANT: what is shown is what the hash says, on both sides: another text would be accepted unseen. */
  async function texts({
    path,
    sha256,
    accepted,
  }: Parameters<Trust['workflows']['texts']>[0]): Promise<FileTexts> {
    // Its name says all of it.
    if (isImportEntry(path)) return { before: null, after: null, missing: null };
    if (files === undefined)
      return { before: null, after: null, missing: 'it is not shown: no file can be read here' };
    const kept = accepted === null ? null : await files.kept(accepted);
    const found = sha256 === null ? null : await files.now(path);
    const content = found?.kind === 'file' && found.sha256 === sha256 ? found.content : null;
    if (sha256 !== null && content === null) throw changedMeanwhile(path, found);
    return {
      before: textOf(kept),
      after: textOf(content),
      missing:
        accepted !== null && kept === null
          ? 'no copy of what was accepted is kept, so all of it is shown'
          : null,
    };
  }

  async function lookAt([path, sha256]: readonly [string, string]): Promise<readonly DifferingFile[]> {
    const found = await files?.now(path);
    if (found === undefined) return [];
    if (found.kind === 'missing') return [{ path, change: 'removed' }];
    // INVARIANT: nothing that somebody puts in a file's place makes this fall silent.
    if (found.kind === 'unreadable') return [{ path, change: 'unreadable', reason: found.reason }];
    return found.sha256 === sha256 ? [] : [{ path, change: 'changed' }];
  }

  async function differing(workflow: string): Promise<readonly DifferingFile[] | null> {
    const last = await store.trustedBefore(workflow);
    if (last === undefined) return null;
    const paths = Object.entries(last.files).filter(([path]) => !isImportEntry(path));
    const found: DifferingFile[] = [];
    // A workflow in code may have thousands of files: not all of them are open at once.
    for (let at = 0; at < paths.length; at += TOGETHER)
      found.push(...(await Promise.all(paths.slice(at, at + TOGETHER).map(lookAt))).flat());
    return found;
  }

  return { texts, differing };
}

/** It was read and hashed a moment ago, so whatever stands there now was put there since. */
function changedMeanwhile(path: string, found: FileNow | null): PhasegateError {
  const why = found?.kind === 'unreadable' ? ` (${found.reason})` : '';
  return new PhasegateError(
    'untrusted_workflow',
    `\`${oneLine(path)}\` changed since it was looked at; look again${why}`,
    { hint: 'phasegate trust' },
  );
}

/** A file's bytes as text, with all that is in them. */
export function textOf(content: Uint8Array | null): string | null {
  return content === null ? null : new TextDecoder('utf-8', { ignoreBOM: true }).decode(content);
}

import type { ArchivedBundle } from '@phasegate/core/ports';
import { archiveInvalid, type VerifiedBundle, verifyBundle } from './archiveBundle.ts';
import type { StoredStub } from './archivedStub.ts';
import type { Verification } from './auditSource.ts';
import { addSums, sumOfHead } from './headSum.ts';
import { headInvalid } from './verifyHead.ts';

/** What was found about archived runs. */
export interface ArchivesFound {
  readonly bundles: readonly ArchivedBundle[];
  /** How many runs are archived. */
  readonly runs: number;
}

/**
 * Counts the stubs of archived runs into the sums over all heads, and holds them against the bundles that are given and
 * against what the project's chain says was archived.
 */
export async function verifyArchives(
  verification: Verification,
  files: readonly string[],
  noted: ReadonlyMap<string, number>,
): Promise<ArchivesFound> {
  const { source, seal, knowledge, humans, since } = verification;
  const given = new Map<string, VerifiedBundle>();
  for (const file of files) {
    const bundle = await verifyBundle({ seal, knowledge, humans, anchored: since?.place ?? 0 }, file);
    for (const finding of bundle.findings) verification.report(finding);
    if (bundle.sha256 !== null) given.set(bundle.sha256, bundle);
  }
  const bundles = new Map<string, ArchivedBundle>();
  let runs = 0;
  for await (const stub of source.archived?.() ?? []) {
    runs += 1;
    const { file, sha256 } = stub;
    const bundle = given.get(sha256);
    const verified = bundle !== undefined && bundle.findings.length === 0;
    const known = bundles.get(sha256) ?? { file, sha256, runs: 0, verified };
    bundles.set(sha256, { ...known, runs: known.runs + 1 });
    await verifyStub(verification, stub, bundle);
    countStub(verification, stub, bundle);
    const pause = verification.breathe();
    if (pause !== undefined) await pause;
  }
  for (const [sha256, { file, runs: held }] of given) {
    const found = bundles.get(sha256)?.runs ?? 0;
    if (found === held.size) continue;
    const what = found === 0 ? 'no run of this project was archived to it' : `only ${found} have a stub here`;
    const message = `the archive \`${file}\` has ${held.size} runs, and ${what}`;
    verification.report(archiveInvalid(null, message));
  }
  compareNoted(verification, noted, bundles);
  return { bundles: [...bundles.values()], runs };
}

async function verifyStub(
  verification: Verification,
  stub: StoredStub,
  bundle: VerifiedBundle | undefined,
): Promise<void> {
  const { run, head, sealed } = stub;
  const state = (message: string) =>
    verification.report({ kind: 'state_edited', run, seq: head.seq, message });
  if (!sealed) state(`the stub of archived run \`${run}\` does not match its seal`);
  if ((await verification.source.seqOf(run)) !== undefined)
    state(`run \`${run}\` is archived, and is there again`);
  if (bundle === undefined) return;
  const held = bundle.runs.get(run);
  if (held?.head.seq === head.seq && held.head.hash === head.hash) return;
  const what = held === undefined ? 'does not have' : 'has another end of the chain of';
  verification.report(archiveInvalid(run, `the archive \`${bundle.file}\` ${what} run \`${run}\``));
}

function countStub(verification: Verification, stub: StoredStub, bundle: VerifiedBundle | undefined): void {
  const { seal, tally, since } = verification;
  const { run, head, first, last } = stub;
  const sum = sumOfHead(seal, run, head);
  tally.headed += 1;
  tally.sum = addSums(tally.sum, sum);
  tally.newest = addSums(tally.newest, sum);
  // A run that began after the anchor is no part of it.
  if (since === null || first > since.place) return;
  const atAnchor = last <= since.place ? head : bundle?.runs.get(run)?.atAnchor;
  if (atAnchor === undefined) {
    const message = `run \`${run}\` went on after the anchor and is archived by now: give its archive, \`${stub.file}\``;
    verification.report({ ...headInvalid(null, message), run });
    return;
  }
  tally.beforeRuns += 1;
  tally.before = addSums(tally.before, sumOfHead(seal, run, atAnchor));
}

/** As many stubs as the project's chain says: one that is gone, with its run put back, is in no other sum. */
function compareNoted(
  verification: Verification,
  noted: ReadonlyMap<string, number>,
  bundles: ReadonlyMap<string, ArchivedBundle>,
): void {
  for (const sha256 of new Set([...noted.keys(), ...bundles.keys()])) {
    const [said, found] = [noted.get(sha256) ?? 0, bundles.get(sha256)?.runs ?? 0];
    if (said === found) continue;
    const message = `the project's chain says that ${said} runs were archived to the file with the hash ${sha256}, and ${found} have a stub`;
    verification.report({ kind: 'state_edited', run: null, seq: null, message });
  }
}

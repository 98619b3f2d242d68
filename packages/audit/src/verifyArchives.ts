import type { ArchivedBundle } from '@phasegate/core/ports';
import { isAnyWithin } from './anyWithin.ts';
import {
  archiveInvalid,
  type BundledRun,
  type BundleFault,
  type VerifiedBundle,
  verifyBundle,
} from './archiveBundle.ts';
import type { StoredStub } from './archivedStub.ts';
import type { Verification } from './auditSource.ts';
import { addSums, sumOfHead } from './headSum.ts';

/** What was found about archived runs. */
export interface ArchivesFound {
  readonly bundles: readonly ArchivedBundle[];
  /** How many runs are archived. */
  readonly runs: number;
  /** Their chains, where there is an anchor to hold them against. */
  readonly chains: readonly ArchivedChain[];
  /** Those of them of which nothing tells where they stood at the anchor that is verified since. */
  readonly unknown: readonly ArchivedChain[];
  /** How many files were given that are none of this project's archives. */
  readonly foreign: number;
  /** How many were given that were archives once, and are not what was written. */
  readonly changed: number;
  /** Where runs were archived to, and what stands there now in place of it: what is to be said after the file's name. */
  readonly replaced: ReadonlyMap<string, string>;
}

/** The chain of an archived run among all records. */
export interface ArchivedChain extends Pick<StoredStub, 'run' | 'head' | 'first' | 'last' | 'file'> {
  /** Where it stood at anchors, by its archive; null where that is not there. */
  readonly heads: BundledRun['heads'] | null;
}

/** What archives are verified for. */
export interface ArchivesWork {
  /** Files that were given. */
  readonly files: readonly string[];
  /** What the project's chain says was archived: how many runs, by the hash of the file. */
  readonly noted: ReadonlyMap<string, number>;
  /** Places of all anchors. */
  readonly places: readonly number[];
}

/**
 * Counts the stubs of archived runs into the sums over all heads, and holds them against the bundles that are given and
 * against what the project's chain says was archived.
 */
export async function verifyArchives(
  verification: Verification,
  { files, noted, places }: ArchivesWork,
): Promise<ArchivesFound> {
  const { source, breathe, since } = verification;
  const sorted = [...places].sort((one, other) => one - other);
  const { given, unfit } = await readGiven(verification, files, sorted);
  const replaced = await readNearby(verification, given, sorted);
  const archiveFiles = new Set<string>();
  const bundles = new Map<string, ArchivedBundle>();
  const found: ArchivedChain[] = [];
  let runs = 0;
  for await (const stub of source.archived?.() ?? []) {
    runs += 1;
    const { file, sha256 } = stub;
    if (stub.sealed) archiveFiles.add(file);
    const bundle = given.get(sha256);
    const verified = bundle !== undefined && bundle.findings.length === 0;
    const known = bundles.get(sha256) ?? { file, sha256, runs: 0, verified };
    bundles.set(sha256, { ...known, runs: known.runs + 1 });
    await verifyStub(verification, stub, bundle);
    // Every run that was there at an anchor is a part of it, whether it had ended or not.
    if (sorted.length > 0) found.push(chainOf(stub, bundle));
    countStub(verification, stub);
    const pause = breathe();
    if (pause !== undefined) await pause;
  }
  for (const [sha256, bundle] of given)
    await compareHeld(verification, bundle, bundles.get(sha256)?.runs ?? 0);
  compareNoted(verification, noted, bundles);
  let changed = 0;
  for (const [file, { kind, reason }] of unfit) {
    // What stands where this project archived runs is no wrong file, whatever it holds.
    const isReplaced = archiveFiles.has(file) && (kind === 'foreign' || kind === 'changed');
    if (isReplaced) replaced.set(file, reason);
    if (isReplaced || kind === 'changed') changed += 1;
  }
  const unknown = since === null ? [] : countBefore(verification, found, since.place);
  const told = [...bundles.values()].map((bundle) =>
    bundle.verified || !replaced.has(bundle.file) ? bundle : { ...bundle, replaced: true as const },
  );
  const counts = { runs, foreign: unfit.length - changed, changed };
  return { bundles: told, chains: found, unknown, replaced, ...counts };
}

/** The bundles that were given, by their hash. What is wrong with one is a finding. */
async function readGiven(
  verification: Verification,
  files: readonly string[],
  places: readonly number[],
): Promise<{
  readonly given: Map<string, VerifiedBundle>;
  readonly unfit: readonly (readonly [file: string, wrong: BundleFault])[];
}> {
  const given = new Map<string, VerifiedBundle>();
  const unfit: (readonly [string, BundleFault])[] = [];
  for (const file of files) {
    const bundle = await verifyBundle({ ...verification, places }, file);
    for (const finding of bundle.findings) verification.report(finding);
    if (bundle.wrong !== undefined) unfit.push([file, bundle.wrong]);
    if (bundle.sha256 !== null) given.set(bundle.sha256, bundle);
  }
  return { given, unfit };
}

/**
 * Adds those that an anchor asks for and that are still where they were written. One that is not is no finding; tells
 * where something else stands in its place.
 */
async function readNearby(
  verification: Verification,
  given: Map<string, VerifiedBundle>,
  places: readonly number[],
): Promise<Map<string, string>> {
  const replaced = new Map<string, string>();
  if (places.length === 0) return replaced;
  const wanted = new Map<string, string>();
  for await (const { sealed, sha256, file, first, last } of verification.source.archived?.() ?? []) {
    if (sealed && !given.has(sha256) && isAnyWithin(places, first, last)) wanted.set(sha256, file);
    const pause = verification.breathe();
    if (pause !== undefined) await pause;
  }
  for (const [expected, file] of wanted) {
    const bundle = await verifyBundle({ ...verification, places, expected }, file);
    const { wrong } = bundle;
    if (wrong?.kind === 'foreign' || wrong?.kind === 'changed') replaced.set(file, wrong.reason);
    if (bundle.sha256 === null) continue;
    for (const finding of bundle.findings) verification.report(finding);
    given.set(bundle.sha256, bundle);
  }
  return replaced;
}

async function compareHeld(verification: Verification, bundle: VerifiedBundle, count: number): Promise<void> {
  const { file, runs: held } = bundle;
  if (count === held.size || (count > 0 && (await areAllHere(verification, bundle)))) return;
  const what = count === 0 ? 'no run of this project was archived to it' : `only ${count} have a stub here`;
  const message = `the archive \`${file}\` has ${held.size} runs, and ${what}`;
  verification.report(archiveInvalid(null, message));
}

/**
 * Whether each run of a bundle is here: by a stub, or still in the store, with the records that the bundle has. Archiving
 * that was cut off leaves such a bundle, and what is archived again has its stub from another one.
 */
async function areAllHere({ source, breathe }: Verification, bundle: VerifiedBundle): Promise<boolean> {
  const left = new Map(bundle.runs);
  for await (const { run, head, sealed } of source.archived?.() ?? []) {
    const held = left.get(run)?.head;
    // One that went on before it was archived again has its longer chain in that other bundle.
    if (held !== undefined && sealed && (head.hash === held.hash || head.seq > held.seq)) left.delete(run);
    const pause = breathe();
    if (pause !== undefined) await pause;
  }
  for (const [run, { head }] of left) {
    if ((await source.seqOf(run)) === undefined) return false;
    if ((await source.hashAt(run, head.seq)) !== head.hash) return false;
    const pause = breathe();
    if (pause !== undefined) await pause;
  }
  return true;
}

function chainOf(
  { run, head, first, last, file }: StoredStub,
  bundle: VerifiedBundle | undefined,
): ArchivedChain {
  const held = bundle?.findings.length === 0 ? bundle.runs.get(run) : undefined;
  const isSame = held?.head.seq === head.seq && held.head.hash === head.hash;
  return { run, head, first, last, file, heads: isSame ? held.heads : null };
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

function countStub({ seal, tally }: Verification, { run, head }: StoredStub): void {
  const sum = sumOfHead(seal, run, head);
  tally.headed += 1;
  tally.sum = addSums(tally.sum, sum);
  tally.newest = addSums(tally.newest, sum);
}

/** Counts the heads that archived runs had at the anchor; tells those that nothing here knows. */
function countBefore(
  { seal, tally }: Verification,
  chains: readonly ArchivedChain[],
  place: number,
): readonly ArchivedChain[] {
  const unknown: ArchivedChain[] = [];
  for (const chain of chains) {
    const { run, first, last, head, heads } = chain;
    // A run that began after the anchor is no part of it.
    if (first > place) continue;
    const then = last <= place ? head : heads?.findLast((one) => one.place <= place);
    if (then === undefined) unknown.push(chain);
    else {
      tally.beforeRuns += 1;
      tally.before = addSums(tally.before, sumOfHead(seal, run, then));
    }
  }
  return unknown;
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

import { PhasegateError } from '@phasegate/core';
import type { AuditFinding, AuditReport, Seal, VerifyOptions } from '@phasegate/core/ports';
import { type Anchor, anchorText, readAnchor } from './anchor.ts';
import { isAnyWithin } from './anyWithin.ts';
import type { AuditKnowledge, AuditSource, Verification } from './auditSource.ts';
import { verifyAnchors } from './verifyAnchors.ts';
import { type ArchivesFound, verifyArchives } from './verifyArchives.ts';
import { dropped } from './verifyChain.ts';
import { headInvalid, verifyAnchor, verifyHead } from './verifyHead.ts';
import { judgeProject, readProject } from './verifyProject.ts';
import { MOST_FINDINGS, type ShareFound, type ShareWork, verifyShare } from './verifyShare.ts';

/** A verification: of what, with what, and how. */
export interface AuditWork {
  readonly source: AuditSource;
  readonly seal: Seal;
  readonly knowledge: AuditKnowledge;
  readonly options?: VerifyOptions;
  /** Verifies all runs elsewhere; they are verified here where it is absent. */
  readonly shared?: (since: Anchor | null) => Promise<ShareFound>;
}

/** Checks every chain, seal and head of a store, without ever holding more than one run. */
export async function verifyAudit(work: AuditWork): Promise<AuditReport> {
  const { source, seal, knowledge, options = {}, shared } = work;
  const since = options.since === undefined ? null : readAnchor(seal, options.since);
  const asks = options.since !== undefined || options.anchor === true || options.anchors !== undefined;
  if (asks && source.places === undefined) {
    throw new PhasegateError('store_unavailable', 'this store gives no anchors');
  }
  const humans = await source.humans();
  const here: ShareWork = {
    source,
    seal,
    knowledge,
    humans,
    since,
    breathe: breathing(shared === undefined ? options : {}),
  };
  // Here the runs come first, as one chain is read at a time; elsewhere they are verified meanwhile.
  const runs = shared === undefined ? verifyShare(here) : shared(since);
  if (shared === undefined) await runs;
  const [found, project] = await Promise.all([runs, readProject(here)]);

  const findings: AuditFinding[] = [...found.findings];
  const blamed = new Set(found.blamed);
  const verification: Verification = {
    ...here,
    tally: { ...found.tally, dropped: new Set() },
    report(finding) {
      if (finding.run !== null) blamed.add(finding.run);
      if (findings.length < MOST_FINDINGS) findings.push(finding);
    },
    blamed: (run) => blamed.has(run),
  };
  for await (const run of source.orphans()) {
    verification.tally.dropped.add(run);
    verification.report(dropped(run, 'has records but its state is gone'));
  }
  const anchors = readAnchors(verification, options);
  const archives = await verifyArchives(verification, {
    files: options.archives ?? [],
    noted: project.archived,
    places: [...(since === null ? [] : [since]), ...anchors.ours].map(({ place }) => place),
  });
  await judgeProject(verification, project);
  await verifyHead(verification, project.head);
  const unproven: Anchor[] = [];
  if (since !== null) {
    const unknown = archives.unknown.map(({ run }) => run);
    await verifyAnchor(verification, since, { project: project.atAnchor, unknown });
    if (unknown.length > 0) unproven.push(since);
  }
  unproven.push(...(await verifyAnchors(verification, anchors.ours, archives.chains)));

  const { records, unanchored, overridden } = verification.tally;
  const archived = archives.bundles.length === 0 ? {} : { archived: archives.bundles };
  const counts = {
    runs: found.tally.runs,
    records,
    unanchored,
    ...(overridden === 0 ? {} : { overridden }),
  };
  const foreign = archives.foreign + anchors.foreign;
  const report = {
    ok: findings.length === 0 && unproven.length === 0,
    ...counts,
    ...sinceOf(since, found.tally),
    findings,
    ...onlyGiven(findings, { foreign, changed: archives.changed }),
    ...unprovenOf(unproven, archives),
    ...archived,
  };
  // What was not read since an anchor that proves nothing was not verified. Where all was, one that cannot be checked
  // stands in the way of no other: see ADR 113.
  const isWhole = findings.length === 0 && (since === null || unproven.length === 0);
  if (options.anchor !== true || !isWhole) return report;
  const anchor: Anchor = {
    project: project.head,
    sum: verification.tally.newest,
    runs: found.tally.runs + archives.runs,
    place: (await source.places?.newest()) ?? 0,
    time: (await source.head())?.time ?? '',
  };
  return { ...report, anchor: anchorText(seal, anchor) };
}

/** The given anchors that the project signed, and how many findings there are about others. */
function readAnchors(
  verification: Verification,
  { anchors = [], since }: VerifyOptions,
): { readonly ours: readonly Anchor[]; readonly foreign: number } {
  const read = anchors.map((text) => readAnchor(verification.seal, text));
  const ours = read.filter((anchor) => anchor !== null);
  const foreign = read.length - ours.length;
  const isForeign = since !== undefined && readAnchor(verification.seal, since) === null;
  if (isForeign) verification.report(headInvalid(null, "the anchor does not have the project's signature"));
  if (foreign > 0) {
    const what = foreign === 1 ? 'an anchor does' : `${foreign} anchors do`;
    verification.report(headInvalid(null, `${what} not have the project's signature`));
  }
  return { ours, foreign: Number(isForeign) + Math.min(foreign, 1) };
}

/** Of more findings than are told, nobody knows what the others are about. */
function onlyGiven(
  findings: readonly AuditFinding[],
  { foreign, changed }: { readonly foreign: number; readonly changed: number },
): Pick<AuditReport, 'onlyGiven' | 'onlyArchives'> {
  const given = foreign + changed;
  if (given === 0 || findings.length !== given || findings.length >= MOST_FINDINGS) return {};
  // INVARIANT: an archive of ours that was changed is never told as a file that somebody named by mistake.
  return changed > 0 ? { onlyArchives: true } : { onlyGiven: true };
}

function sinceOf(since: Anchor | null, { runs, byEnds }: ShareFound['tally']): Pick<AuditReport, 'since'> {
  return since === null ? {} : { since: { anchor: since.time, read: runs - byEnds, byEnds } };
}

/** INVARIANT: an anchor that could not be checked is never one that holds. */
function unprovenOf(
  unproven: readonly Anchor[],
  { chains, replaced }: Pick<ArchivesFound, 'chains' | 'replaced'>,
): Pick<AuditReport, 'unproven'> {
  const places = unproven.map(({ place }) => place).sort((one, other) => one - other);
  if (places.length === 0) return {};
  const missing = chains.filter(
    ({ heads, first, last }) => heads === null && isAnyWithin(places, first, last),
  );
  const archives = [...new Set(missing.map(({ file }) => file))];
  const times = unproven.map(({ time }) => time).sort();
  const found = archives.flatMap((file) => {
    const reason = replaced.get(file);
    return reason === undefined ? [] : [{ file, reason }];
  });
  const told = found.length === 0 ? {} : { replaced: found };
  return { unproven: { anchors: places.length, first: times[0] ?? '', archives, ...told } };
}

/** Lets others work, and tells how far it is. */
function breathing({ onProgress }: VerifyOptions): ShareWork['breathe'] {
  let steps = 0;
  return () => {
    steps += 1;
    if (steps % STEPS_PER_BREATH !== 0) return undefined;
    onProgress?.(steps);
    return new Promise((resume) => setImmediate(resume));
  };
}

const STEPS_PER_BREATH = 1000;

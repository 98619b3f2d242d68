import { PhasegateError } from '@phasegate/core';
import type { AuditFinding, AuditReport, Seal, VerifyOptions } from '@phasegate/core/ports';
import { type Anchor, anchorText, readAnchor } from './anchor.ts';
import type { AuditKnowledge, AuditSource, Verification } from './auditSource.ts';
import { verifyAnchors } from './verifyAnchors.ts';
import { verifyArchives } from './verifyArchives.ts';
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
  const archives = await verifyArchives(verification, options.archives ?? [], project.archived);
  await judgeProject(verification, project);
  await verifyHead(verification, project.head);
  if (since !== null) await verifyAnchor(verification, since, project.atAnchor);
  else if (options.since !== undefined) {
    verification.report(headInvalid(null, "the anchor does not have the project's signature"));
  }

  await verifyGiven(verification, options);

  const { records, unanchored, overridden } = verification.tally;
  const archived = archives.bundles.length === 0 ? {} : { archived: archives.bundles };
  const counts = {
    runs: found.tally.runs,
    records,
    unanchored,
    ...(overridden === 0 ? {} : { overridden }),
  };
  const report = { ok: findings.length === 0, ...counts, findings, ...archived };
  if (options.anchor !== true || !report.ok) return report;
  const anchor: Anchor = {
    project: project.head,
    sum: verification.tally.newest,
    runs: found.tally.runs + archives.runs,
    place: (await source.places?.newest()) ?? 0,
    time: (await source.head())?.time ?? '',
  };
  return { ...report, anchor: anchorText(seal, anchor) };
}

/** Anchors from outside, each of which must still be on the way that all chains took. */
async function verifyGiven(verification: Verification, { anchors = [] }: VerifyOptions): Promise<void> {
  const read = anchors.map((text) => readAnchor(verification.seal, text));
  const foreign = read.filter((anchor) => anchor === null).length;
  if (foreign > 0) {
    const what = foreign === 1 ? 'an anchor does' : `${foreign} anchors do`;
    verification.report(headInvalid(null, `${what} not have the project's signature`));
  }
  const unclear = await verifyAnchors(
    verification,
    read.filter((anchor) => anchor !== null),
  );
  const [first] = unclear;
  if (first === undefined) return;
  const message = `${unclear.length} anchors, the first of ${first.time}, are of a time when a run was under way that is archived by now: check them with \`--since ANCHOR --archive FILE\``;
  verification.report(headInvalid(null, message));
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

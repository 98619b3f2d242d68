import type { AuditFinding, AuditReport, Seal } from '../runtime/ports.ts';
import type { AuditKnowledge, AuditSource, Tally, Verification } from './auditSource.ts';
import { NO_HEADS } from './headSum.ts';
import { dropped } from './verifyChain.ts';
import { verifyHead } from './verifyHead.ts';
import { verifyProject } from './verifyProject.ts';
import { verifyRun } from './verifyRun.ts';

/** Checks every chain, seal and head of a store, without ever holding more than one run. */
export async function verifyAudit(
  source: AuditSource,
  seal: Seal,
  knowledge: AuditKnowledge,
): Promise<AuditReport> {
  const tally: Tally = { runs: 0, records: 0, unanchored: 0, sum: NO_HEADS, headed: 0, dropped: new Set() };
  const findings: AuditFinding[] = [];
  const blamed = new Set<string>();
  let steps = 0;
  const verification: Verification = {
    source,
    seal,
    knowledge,
    humans: source.humans(),
    tally,
    report(finding) {
      if (finding.run !== null) blamed.add(finding.run);
      if (findings.length < MOST_FINDINGS) findings.push(finding);
    },
    blamed: (run) => blamed.has(run),
    breathe() {
      steps += 1;
      return steps % STEPS_PER_BREATH === 0 ? new Promise((resume) => setImmediate(resume)) : undefined;
    },
  };

  for (const row of source.rows()) await verifyRun(verification, row);
  for (const run of source.orphans()) {
    tally.dropped.add(run);
    verification.report(dropped(run, 'has records but its state is gone'));
  }
  verifyHead(verification, await verifyProject(verification));
  const { runs, records, unanchored } = tally;
  return { ok: findings.length === 0, runs, records, unanchored, findings };
}

/** A store that was rewritten whole should still be told about on a few screens. */
const MOST_FINDINGS = 1000;
const STEPS_PER_BREATH = 1000;

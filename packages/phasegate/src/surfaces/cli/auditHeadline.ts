import type { AuditReport } from '@phasegate/core/ports';
import type { Paint } from './paint.ts';

/** What is wrong with an audit that does not verify in all, in a few words: the audit, or what it was held against. */
export function auditHeadline(report: AuditReport, paint: Paint): string {
  const { findings, onlyGiven, onlyArchives, unproven } = report;
  if (onlyArchives === true) return paint.red(CHANGED);
  if (onlyGiven === true) return paint.red('what was given does not fit');
  if (findings.length > 0) return paint.red('the audit is broken');
  return paint.yellow(unproven?.replaced === undefined ? 'not all could be checked' : CHANGED);
}

/** Nothing tells these apart for certain: what the project did not sign may be anything. */
const CHANGED = 'an archive was changed, is cut short, or is of another project';

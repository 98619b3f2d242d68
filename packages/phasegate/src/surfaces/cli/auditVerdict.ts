import type { AuditReport } from '@phasegate/core/ports';
import type { ArchiveHere } from './archivesHere.ts';
import { auditHeadline } from './auditHeadline.ts';
import type { Paint } from './paint.ts';
import { unprovenText } from './unprovenText.ts';

/** What a verification found, for a reader: first whether the audit verifies, then what does not, then what is archived. */
export function auditVerdict(
  report: AuditReport,
  told: {
    readonly paint: Paint;
    readonly anchors: number | undefined;
    readonly bundles: readonly ArchiveHere[];
  },
): string {
  const { paint, anchors, bundles } = told;
  const { records, runs, findings, unproven } = report;
  const checked = `${records} records of ${counted(runs, 'run')}`;
  const found = findings.map(({ kind, run, seq, message }) => {
    const place = `${run === null ? 'project' : `run ${run}`}${seq === null ? '' : ` #${seq}`}`;
    return `  ${kind}  ${place}  ${message}`;
  });
  const left = unproven === undefined ? [] : [`  ${paint.yellow('unproven')}  ${unprovenText(unproven)}`];
  return [verdict(), ...found, ...left, ...overridden(report, paint), ...bundles.map(archived)].join('\n');

  function verdict(): string {
    const through = anchors === undefined ? '' : `, and goes through ${counted(anchors, 'anchor')}`;
    if (report.ok) return `${paint.green('the audit verifies')}${sinceOf(report)}: ${checked}${through}`;
    // Of runs that were not read nothing is known where the anchor proves nothing.
    const isWhole = report.since === undefined || unproven === undefined;
    const itself = isWhole ? `the audit itself verifies${sinceOf(report)}: ${checked}` : checked;
    const headline = auditHeadline(report, paint);
    if (report.onlyGiven === true) {
      return `${headline}: is it the right file, of this project? ${itself}`;
    }
    const isBroken = findings.length > 0 && report.onlyArchives !== true;
    return `${headline}: ${isBroken ? checked : itself}`;
  }
}

/** Less was looked at than without `--since`. */
function sinceOf({ since }: AuditReport): string {
  if (since === undefined) return '';
  const { anchor, read, byEnds } = since;
  return ` since the anchor of ${anchor}: ${counted(read, 'run')} changed and ${read === 1 ? 'was' : 'were'} read, ${byEnds} by their ends alone`;
}

function overridden({ overridden: count = 0 }: AuditReport, paint: Paint): readonly string[] {
  if (count === 0) return [];
  const phases = count === 1 ? 'phase was overridden' : 'phases were overridden';
  return [paint.red(`  ${count} ${phases} by a human, and passed nothing`)];
}

function archived({ runs, file, note }: ArchiveHere): string {
  return `  ${counted(runs, 'run')} archived in ${file}${note}`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

import type { AuditReport } from '@phasegate/core/ports';

/** What to give in the place of what does not fit, where nothing is wrong with the audit itself. */
export function hintOnGiven({ findings }: Pick<AuditReport, 'findings'>, anchor: string): string {
  if (findings[0]?.kind === 'head_invalid') return anchor;
  return 'name another file with `--archive`: one that `phasegate archive` wrote for this project, or a copy of it';
}

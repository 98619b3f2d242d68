import { oneLine } from '@phasegate/core/model';

/** What is said of archives that are not where they were written to; null where all are there. */
export function missingArchives(files: readonly string[]): string | null {
  if (files.length === 0) return null;
  const isOne = files.length === 1;
  const named = files.slice(0, MOST_TOLD).map((file) => `\`${oneLine(file)}\``);
  const more = files.length > MOST_TOLD ? `, and ${files.length - MOST_TOLD} more` : '';
  const what = isOne
    ? 'an archive is not there any more, so the runs in it cannot be looked at or verified'
    : `${files.length} archives are not there any more, so the runs in them cannot be looked at or verified`;
  return `${what}: ${named.join(', ')}${more}`;
}

/** What to do about them. */
export const FIND_ARCHIVES =
  'if it was moved, name it with `phasegate audit verify --archive FILE`; if not, restore it from where you keep archives';

const MOST_TOLD = 5;

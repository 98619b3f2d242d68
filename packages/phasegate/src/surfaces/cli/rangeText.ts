import { oneLine } from '@phasegate/core/model';
import type { JudgedFile, RangeReport } from '../../runtime/ports.ts';
import type { Paint } from './paint.ts';

/** What was found about a range, as a human reads it: what is outside in full, the rest by what answers for it. */
export function rangeText(report: RangeReport, words: string, paint: Paint): string {
  const { files, commits, from, base } = report;
  const head = `${count(files.length, 'file')} in ${count(commits, 'commit')} of ${oneLine(words)}`;
  const met = from.length === 1 && from[0] === base ? '' : `, since ${from.map(shortId).join(' and ')}`;
  if (files.length === 0 && report.history.length === 0) {
    // The newer end stands first: an empty range that somebody may take for a judged one.
    const turned = commits === 0 && met !== '' ? '; the second commit is the older one: `BASE..HEAD`' : '';
    return `${head}${met}: nothing is changed${turned}`;
  }
  return [`${head}${met}`, ...groupsOf(files).map((line) => `  ${line}`), ...outsideText(report, paint)].join(
    '\n',
  );
}

/** The files nobody answers for, with the commits that touched them. */
export function outsideText(report: RangeReport, paint: Paint): readonly string[] {
  const subjects = new Map(report.named.map((commit) => [commit.id, commit]));
  const outside = report.files.filter(({ verdict }) => verdict === 'outside');
  const lineOf = (id: string) => {
    const commit = subjects.get(id);
    const told = commit === undefined ? '' : `  ${oneLine(commit.author)}: ${oneLine(commit.subject)}`;
    return `      ${shortId(id)}${told}`;
  };
  const lines = outside
    .slice(0, MOST_TOLD)
    .flatMap((file) => [
      `  ${paint.red('outside')}  ${nameOf(file)}: ${oneLine(file.reason ?? '')}`,
      ...file.commits.slice(0, MOST_COMMITS).map(lineOf),
    ]);
  const rest = outside.length - MOST_TOLD;
  const past = report.history.filter(({ path, commit }) => !isTold(outside, path, commit));
  return [
    ...lines,
    ...(rest > 0 ? [`  ${paint.red('outside')}  ${count(rest, 'more file')}; \`--json\` has them all`] : []),
    ...past
      .slice(0, MOST_TOLD)
      .map(
        (file) =>
          `  ${paint.red('outside')}  ${nameOf(file)} in ${shortId(file.commit)}: ${oneLine(file.reason ?? '')}`,
      ),
  ];
}

function isTold(outside: readonly JudgedFile[], path: string, commit: string): boolean {
  return outside.some((file) => file.path === path && file.commits.includes(commit));
}

const MOST_TOLD = 100;
const MOST_COMMITS = 5;

function groupsOf(files: readonly JudgedFile[]): readonly string[] {
  const groups = new Map<string, number>();
  for (const file of files) {
    const by = answerOf(file);
    if (by !== null) groups.set(by, (groups.get(by) ?? 0) + 1);
  }
  return [...groups].map(([by, number]) => `${count(number, 'file')}: ${by}`);
}

function answerOf({ verdict, phase, run, workflow, human, reason }: JudgedFile): string | null {
  const where = `phase \`${oneLine(phase ?? '')}\` of run \`${run ?? ''}\` (${oneLine(workflow ?? '')})`;
  const older = verdict !== 'attested' && reason !== undefined ? `; ${oneLine(reason)}` : '';
  switch (verdict) {
    case 'phase':
      return `${where}${older}`;
    case 'accepted':
      return `accepted by ${oneLine(human ?? '')} in ${where}${older}`;
    case 'attested':
      return `attested by ${oneLine(human ?? '')}: ${oneLine(reason ?? '')}`;
    case 'outside':
      return null;
  }
}

function nameOf({ path, change }: JudgedFile): string {
  return change === 'removed' ? `${oneLine(path)} (removed)` : oneLine(path);
}

function shortId(id: string): string {
  return id.slice(0, 10);
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}

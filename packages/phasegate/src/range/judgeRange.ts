import type {
  CommitRange,
  FileContent,
  JudgedFile,
  KnownContents,
  KnownEnd,
  PinnedKeys,
  RangeChange,
  RangeReport,
  RangeRules,
  Uncounted,
} from '../runtime/ports.ts';
import { type Attested, readAttestation } from './attestation.ts';

/** What a range is judged by. */
export interface JudgedBy {
  readonly known: KnownContents;
  readonly keys: PinnedKeys;
  readonly rules: RangeRules;
}

/**
 * Judges a range by content: what stands at a path must be what a phase that may write it ended with, what a human
 * accepted in a run, or what a human signed. Which commit brought it does not matter, so rebased and squashed work passes.
 */
export function judgeRange(range: CommitRange, by: JudgedBy): RangeReport {
  const judge = createJudge(by, by.known.prefix ?? range.prefix);
  const files = range.changes.map(judge);
  const history = range.commits.flatMap(({ id, changes }) =>
    changes.flatMap((change) => {
      const judged = judge(change);
      return judged.verdict === 'outside' ? [{ ...judged, commit: id }] : [];
    }),
  );
  const ok = files.every(({ verdict }) => verdict !== 'outside') && history.length === 0;
  const { base, head, from, count, commits } = range;
  const named = commits.map(({ id, author, subject }) => ({ id, author, subject }));
  return { ok, base, head, from, commits: count, files, history, named };
}

function createJudge({ known, keys, rules }: JudgedBy, prefix: string): (change: RangeChange) => JudgedFile {
  const ends = new Map<string, KnownEnd>();
  const newest = new Map<string, KnownEnd>();
  for (const end of known.ends) {
    const path = `${prefix}${end.path}`;
    if (rules.completed && !end.completed && end.acceptedBy === undefined) continue;
    ends.set(keyOf(path, end.now), end);
    newest.set(path, end);
  }
  const attested = new Map<string, Attested>();
  for (const attestation of known.attestations) {
    const told = readAttestation(attestation, keys);
    for (const { path, now } of told?.files ?? []) attested.set(keyOf(path, now), told as Attested);
  }
  const uncounted = new Map(known.uncounted.map((one) => [`${prefix}${one.path}`, one]));
  const unfinished = new Map<string, KnownEnd>(
    rules.completed ? known.ends.map((end) => [keyOf(`${prefix}${end.path}`, end.now), end]) : [],
  );

  return ({ path, now, problem, commits }) => {
    const change = now === null && problem === undefined ? 'removed' : 'written';
    const base = { path, change, now, commits } as const;
    if (problem !== undefined) return { ...base, verdict: 'outside', reason: problem };
    const key = keyOf(path, now);
    const end = ends.get(key);
    const last = newest.get(path);
    const isNewest = end !== undefined && last !== undefined && keyOf(path, last.now) === key;
    if (end !== undefined && (isNewest || !rules.newest)) {
      const { run, workflow, phase, at, acceptedBy } = end;
      const human = acceptedBy === undefined ? {} : { human: acceptedBy };
      const reason = isNewest || last === undefined ? {} : { reason: supersededBy(last) };
      const verdict = acceptedBy === undefined ? 'phase' : 'accepted';
      return { ...base, verdict, run, workflow, phase, at, ...human, ...reason };
    }
    const signed = attested.get(key);
    if (signed !== undefined) {
      return { ...base, verdict: 'attested', human: signed.human, at: signed.at, reason: signed.reason };
    }
    if (now?.mode === SUBMODULE) return { ...base, verdict: 'outside', reason: OF_SUBMODULE };
    const found = { last, uncounted: uncounted.get(path), unfinished: unfinished.get(key) };
    return { ...base, verdict: 'outside', reason: whyOutside(path, prefix, found) };
  };
}

function keyOf(path: string, now: FileContent | null): string {
  return now === null ? path : `${path}\0${now.mode}\0${now.sha256}`;
}

function supersededBy({ run, phase }: KnownEnd): string {
  return `it is older: phase \`${phase}\` of run \`${run}\` ended later with another content`;
}

const SUBMODULE = '160000';
const OF_SUBMODULE = 'it is a submodule, whose files are elsewhere: only a human can answer for it';

function whyOutside(
  path: string,
  prefix: string,
  {
    last,
    uncounted,
    unfinished,
  }: {
    readonly last: KnownEnd | undefined;
    readonly uncounted: Uncounted | undefined;
    readonly unfinished: KnownEnd | undefined;
  },
): string {
  if (!path.startsWith(prefix)) return `it is outside of the project's folder \`${prefix}\``;
  if (unfinished !== undefined) {
    return `phase \`${unfinished.phase}\` of run \`${unfinished.run}\` ended with it, and that run has not reached its end`;
  }
  if (last !== undefined) {
    return `phase \`${last.phase}\` of run \`${last.run}\` was the last that ended with this path, and with another content`;
  }
  if (uncounted === undefined) return 'no phase ended with it';
  return `phase \`${uncounted.phase}\` of run \`${uncounted.run}\` changed it, ${WHY[uncounted.why]}`;
}

const WHY: Readonly<Record<Uncounted['why'], string>> = {
  older: 'and its contents were not recorded: that was before this version',
  not_accepted: 'and no human had accepted the workflow of that run',
  not_passed: 'and did not end well',
};

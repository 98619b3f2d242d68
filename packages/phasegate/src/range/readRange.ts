import { PhasegateError } from '@phasegate/core';
import { oneLine } from '@phasegate/core/model';
import type { CommitRange, RangeChange, RangeCommit } from '../runtime/ports.ts';
import { type ReadingGit, unreadable } from '../workspace/readingGit.ts';
import { type BlobDigest, blobDigests } from './blobDigests.ts';
import { type RawChange, type RawDiff, rawChanges } from './rawChanges.ts';

/** Reads the commits from `BASE` to `HEAD`: what they changed altogether, and each of them where that is asked for. */
export async function readRange(
  git: ReadingGit,
  words: string,
  { eachCommit }: { readonly eachCommit: boolean },
): Promise<CommitRange> {
  const [baseWord, headWord] = endsOf(words);
  await requireWhole(git);
  const prefix = await prefixOf(git);
  const base = await commitOf(git, baseWord);
  const head = await commitOf(git, headWord);
  const from = await meetings(git, { base, head, words });
  const whole: RawChange[] = [];
  for (const start of from)
    whole.push(...(await diffsOf(git, [start, head])).flatMap(({ changes }) => changes));
  const listed = await commitsOf(git, from, head);
  const each = listed.length > MOST_COMMITS && !eachCommit ? [] : await changesOfEach(git, listed);
  const digests = await blobDigests(git, idsOf(eachCommit ? [...whole, ...each.flatMap(own)] : whole));
  const touched = touchedBy(each);
  const changes = unique(whole).map((raw) => rangeChange(raw, digests, touched.get(raw.shown) ?? []));
  const named = await namesOf(git, eachCommit ? each.map(({ commit }) => commit) : firstOf(changes));
  const ownOf = new Map(each.map((one) => [one.commit, own(one)]));
  const commits = named.map((commit): RangeCommit => {
    const raws = eachCommit ? (ownOf.get(commit.id) ?? []) : [];
    return { ...commit, changes: raws.map((raw) => rangeChange(raw, digests, [commit.id])) };
  });
  return { words, base, head, from, prefix, changes, count: listed.length, commits };
}

/** A range with more is judged as a whole, without saying which commit brought what. */
const MOST_COMMITS = 5_000;

function endsOf(words: string): readonly [string, string] {
  const [base = '', head = 'HEAD', ...more] = words.split(/\.{2,3}/);
  if (base !== '' && more.length === 0 && words.includes('..')) return [base, head === '' ? 'HEAD' : head];
  throw new PhasegateError('usage', `\`${words}\` is not a range of commits`, {
    hint: 'give two commits, `BASE..HEAD`, such as `main..HEAD`',
  });
}

/** Where the history was cut off, nobody can say where two of them met. */
async function requireWhole(git: ReadingGit): Promise<void> {
  const shallow = await git(['rev-parse', '--is-shallow-repository']);
  if (shallow.code !== 0) {
    throw unreadable(
      `this is not a git repository that can be read: ${shallow.said}`,
      'call it in the repository, or name its folder with `--project`',
    );
  }
  if (shallow.out.toString().trim() === 'false') return;
  throw unreadable(
    'the clone is shallow, so where its history begins is missing',
    'fetch all of it: `git fetch --unshallow`, or `fetch-depth: 0` in GitHub Actions',
  );
}

/** The folder git is called in, below the top of its repository, with `/` at its end; empty where it is the top. */
export async function prefixOf(git: ReadingGit): Promise<string> {
  const { code, out } = await git(['rev-parse', '--show-prefix']);
  return code === 0 ? out.toString().replace(/\n$/, '') : '';
}

async function commitOf(git: ReadingGit, word: string): Promise<string> {
  const found = await git(['rev-parse', '--verify', '--quiet', '--end-of-options', `${word}^{commit}`]);
  const id = found.out.toString().trim();
  if (found.code === 0 && /^[0-9a-f]{40,64}$/.test(id)) return id;
  const isNothing = /^0{40,64}$/.test(word);
  throw unreadable(
    isNothing
      ? 'the base is the id of no commit, which stands for a branch that is new'
      : `there is no commit \`${oneLine(word)}\` here`,
    isNothing ? 'give the branch it was made from: `main..HEAD`' : 'fetch it first, or correct the name',
  );
}

/** The base where the end goes back to it; else every place where the two histories met last. */
async function meetings(
  git: ReadingGit,
  { base, head, words }: { readonly base: string; readonly head: string; readonly words: string },
): Promise<readonly string[]> {
  const { code, out } = await git(['merge-base', '--all', base, head]);
  const found = out
    .toString()
    .split('\n')
    .filter((id) => id !== '');
  if (code === 0 && found.length > 0) return found;
  throw unreadable(
    `\`${oneLine(words)}\` has two ends without any commit in common`,
    'give a base that the work was begun from',
  );
}

const RAW = [
  'diff-tree',
  '-r',
  '-z',
  '--raw',
  '--no-abbrev',
  '--no-renames',
  '--no-ext-diff',
  '--no-textconv',
  '--ignore-submodules=none',
] as const;

async function diffsOf(
  git: ReadingGit,
  words: readonly string[],
  input?: string,
): Promise<readonly RawDiff[]> {
  const { code, out, said } = await git([...RAW, ...words], input === undefined ? {} : { input });
  if (code === 0) return rawChanges(out);
  throw unreadable(`git cannot compare the commits: ${said}`, 'fetch the whole repository and try again');
}

/** Commits with the number of their parents, newest first. */
async function commitsOf(
  git: ReadingGit,
  from: readonly string[],
  head: string,
): Promise<readonly { readonly id: string; readonly parents: number }[]> {
  const { code, out, said } = await git(['rev-list', '--parents', head, ...from.map((id) => `^${id}`)]);
  if (code !== 0) throw unreadable(`git cannot list the commits: ${said}`, 'fetch the whole repository');
  const lines = out
    .toString()
    .split('\n')
    .filter((line) => line !== '');
  return lines.map((line) => {
    const [id = '', ...parents] = line.split(' ');
    return { id, parents: parents.length };
  });
}

interface OfCommit {
  readonly commit: string;
  readonly parents: number;
  readonly changes: readonly RawChange[];
}

async function changesOfEach(
  git: ReadingGit,
  listed: readonly { readonly id: string; readonly parents: number }[],
): Promise<readonly OfCommit[]> {
  if (listed.length === 0) return [];
  const input = `${listed.map(({ id }) => id).join('\n')}\n`;
  const byCommit = new Map<string, RawChange[]>();
  for (const { commit, changes } of await diffsOf(git, ['--stdin', '-m', '--root'], input)) {
    const known = byCommit.get(commit) ?? [];
    byCommit.set(commit, known);
    // One by one: one path in many commits, or a merge of many, is copied for none of them.
    for (const change of changes) known.push(change);
  }
  return listed.map(({ id, parents }) => ({ commit: id, parents, changes: byCommit.get(id) ?? [] }));
}

/** What a commit has from none of its parents: of a merge, what was made in the merge itself. */
function own({ parents, changes }: OfCommit): readonly RawChange[] {
  const times = new Map<string, number>();
  for (const { shown } of changes) times.set(shown, (times.get(shown) ?? 0) + 1);
  return unique(changes.filter(({ shown }) => (times.get(shown) ?? 0) >= Math.max(1, parents)));
}

function touchedBy(each: readonly OfCommit[]): ReadonlyMap<string, readonly string[]> {
  const touched = new Map<string, string[]>();
  for (const one of each) {
    for (const { shown } of own(one)) {
      const commits = touched.get(shown);
      if (commits === undefined) touched.set(shown, [one.commit]);
      else commits.push(one.commit);
    }
  }
  return touched;
}

function unique(changes: readonly RawChange[]): readonly RawChange[] {
  return [...new Map(changes.map((change) => [change.shown, change])).values()].sort((one, other) =>
    one.shown < other.shown ? -1 : 1,
  );
}

function idsOf(changes: readonly RawChange[]): ReadonlySet<string> {
  return new Set(changes.flatMap(({ id, isGone, mode }) => (isGone || mode === SUBMODULE ? [] : [id])));
}

const SUBMODULE = '160000';

function rangeChange(
  { path, shown, mode, id, isGone }: RawChange,
  digests: ReadonlyMap<string, BlobDigest>,
  commits: readonly string[],
): RangeChange {
  const base = { path: shown, commits };
  if (path === null) return { ...base, now: null, problem: 'its name is not UTF-8' };
  if (isGone) return { ...base, now: null };
  // Its files are elsewhere, and the id of its commit stands for all of them.
  if (mode === SUBMODULE) return { ...base, now: { mode, sha256: id } };
  const digest = digests.get(id) ?? { problem: 'its content cannot be read' };
  if ('problem' in digest) return { ...base, now: null, problem: digest.problem };
  return { ...base, now: { mode, sha256: digest.sha256 } };
}

/** So many commits are named with author and subject. */
const MOST_NAMED = 200;

function firstOf(changes: readonly RangeChange[]): readonly string[] {
  return [...new Set(changes.flatMap(({ commits }) => commits))].slice(0, MOST_NAMED);
}

async function namesOf(
  git: ReadingGit,
  ids: readonly string[],
): Promise<readonly Omit<RangeCommit, 'changes'>[]> {
  if (ids.length === 0) return [];
  const format = '--format=%H%x00%an%x00%s';
  const words = ['rev-list', '--no-walk=unsorted', '--no-commit-header', format, '--stdin'];
  const { code, out, said } = await git(words, { input: `${ids.join('\n')}\n` });
  if (code !== 0) throw unreadable(`git cannot read the commits: ${said}`, 'fetch the whole repository');
  const lines = out
    .toString()
    .split('\n')
    .filter((line) => line !== '');
  return lines.map((line) => {
    const [id = '', author = '', subject = ''] = line.split('\0');
    return { id, author, subject };
  });
}

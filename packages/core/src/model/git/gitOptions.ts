/**
 * What a git command takes, by what git does with the word after it. Letters and long names; a long name is taken whole,
 * never as the beginning of one.
 */
export interface GitOptions {
  /** Without a value. */
  readonly flags?: string;
  /** With a value that is joined to it, or none: `-U3`, `--color=never`. */
  readonly optional?: string;
  /** The same, and the value is text. */
  readonly optionalText?: string;
  /** With a value, joined or in the next word. */
  readonly valued?: string;
  /** The same, and the value is text and no path. */
  readonly text?: string;
  /** Whether `-5` is a number of commits. */
  readonly counts?: boolean;
  /** The first word has to be one of these; an empty one stands for none. */
  readonly verbs?: string;
  /** The first word is the name of a remote that the repository has, and no address. */
  readonly remote?: boolean;
  /** Words that begin with `:` name what is in the index; elsewhere they would be magic of paths. */
  readonly index?: boolean;
}

const DIFF: GitOptions = {
  flags:
    'p u s z a b w R W patch no-patch raw patch-with-stat shortstat numstat summary compact-summary name-only name-status ' +
    'no-color no-renames check full-index binary text ignore-cr-at-eol ignore-space-at-eol ignore-space-change ' +
    'ignore-all-space ignore-blank-lines function-context exit-code quiet no-prefix minimal patience histogram cumulative ' +
    'pickaxe-all pickaxe-regex no-ext-diff no-textconv find-copies-harder',
  optional:
    'M C B U unified stat dirstat color word-diff color-words abbrev find-renames find-copies relative ignore-submodules submodule',
  valued: 'l diff-filter diff-algorithm inter-hunk-context',
  text: 'S G I word-diff-regex ignore-matching-lines',
};

const HISTORY: GitOptions = {
  flags:
    'i E F P g oneline graph all reverse merges no-merges first-parent topo-order date-order author-date-order no-walk ' +
    'cherry cherry-pick cherry-mark left-right left-only right-only boundary simplify-by-decoration full-history dense ' +
    'sparse simplify-merges ancestry-path parents children abbrev-commit no-abbrev-commit relative-date invert-grep ' +
    'all-match regexp-ignore-case extended-regexp fixed-strings perl-regexp walk-reflogs merge count no-notes no-decorate ' +
    'no-mailmap full-diff',
  optional: 'abbrev branches tags remotes decorate',
  optionalText: 'format pretty',
  valued: 'n max-count skip min-parents max-parents',
  text: 'since after until before author committer grep date',
  counts: true,
};

const LOG: readonly GitOptions[] = [
  HISTORY,
  DIFF,
  {
    flags: 'm c cc follow source mailmap use-mailmap no-mailmap',
    valued: 'L',
  },
];
const PICK: GitOptions = {
  flags:
    'n s x no-commit signoff ff allow-empty allow-empty-message keep-redundant-commits continue abort skip quit no-edit',
  valued: 'm mainline X strategy-option',
};
const CREATES: GitOptions = {
  flags: 'q d f m quiet detach force merge no-track guess no-guess progress no-progress ours theirs',
  optional: 't track',
  valued: 'orphan conflict',
};

/**
 * Every command that is carried out, with all that it takes. INVARIANT: none of it starts a program, reads or writes a file
 * by a name that is not judged, changes the configuration, or makes a link. What is not here is refused: git has more ways
 * to do these things than anybody remembers.
 */
const COMMANDS: Readonly<Record<string, GitOptions | readonly GitOptions[]>> = {
  add: {
    flags:
      'A u n v f N all no-all update dry-run verbose force intent-to-add ignore-errors ignore-missing refresh sparse',
  },
  blame: {
    flags:
      'b l t s e w f n p porcelain line-porcelain incremental show-name show-number show-email root show-stats first-parent',
    optional: 'M C abbrev',
    valued: 'L ignore-rev',
    text: 'date since',
  },
  branch: {
    flags:
      'a r v l d D m M c C f q all remotes verbose list delete move copy force quiet show-current no-track merged no-merged ' +
      'no-color ignore-case no-column unset-upstream',
    optional: 't track abbrev color',
    valued: 'u set-upstream-to contains no-contains points-at sort',
    text: 'format',
  },
  'cat-file': { flags: 'p t s e', index: true },
  'check-ignore': { flags: 'v n q verbose non-matching quiet' },
  checkout: [CREATES, { flags: 'l overlay no-overlay', valued: 'b B' }],
  cherry: { flags: 'v', optional: 'abbrev' },
  'cherry-pick': PICK,
  clean: { flags: 'f d n q x X force dry-run quiet', valued: 'e exclude' },
  commit: {
    flags:
      'a q v s n z o i all quiet verbose signoff no-signoff amend no-edit allow-empty allow-empty-message no-verify dry-run ' +
      'short porcelain long only include reset-author no-post-rewrite no-gpg-sign branch status no-status',
    optional: 'u untracked-files',
    valued: 'C reuse-message cleanup fixup squash',
    text: 'm message author date',
  },
  'count-objects': { flags: 'v H verbose human-readable' },
  describe: {
    flags: 'all tags contains long always exact-match first-parent',
    optional: 'abbrev dirty',
    valued: 'match exclude candidates',
  },
  diff: [DIFF, { flags: 'm c cc cached staged merge-base' }],
  'diff-files': [DIFF, { flags: 'm c cc q 0 1 2 3' }],
  'diff-index': [DIFF, { flags: 'm c cc cached merge-base' }],
  'diff-tree': [
    DIFF,
    {
      flags: 'm c cc r t v root no-commit-id merge-base',
      optionalText: 'pretty format',
    },
  ],
  fetch: {
    flags:
      't n p P q v f a k all tags no-tags prune prune-tags quiet verbose force append keep unshallow dry-run atomic progress',
    valued: 'j depth deepen shallow-since shallow-exclude jobs',
    remote: true,
  },
  'for-each-ref': {
    flags: 'ignore-case merged no-merged',
    valued: 'count contains no-contains points-at sort',
    text: 'format',
  },
  grep: {
    flags:
      'i n l L c w v h H E F G P I o q p W a r ignore-case line-number name-only files-with-matches files-without-match ' +
      'count word-regexp invert-match extended-regexp fixed-strings basic-regexp perl-regexp only-matching quiet ' +
      'show-function function-context recursive no-recursive cached untracked and or not all-match heading break column ' +
      'full-name no-color text',
    optional: 'color',
    valued: 'A B C m after-context before-context context max-depth max-count threads',
    text: 'e',
  },
  log: LOG,
  'ls-files': {
    flags:
      'c d m o i s u k t v z cached deleted modified others ignored stage unmerged killed directory exclude-standard ' +
      'error-unmatch full-name eol deduplicate no-empty-directory',
    optional: 'abbrev',
    valued: 'x exclude',
  },
  'ls-tree': {
    flags: 'r t d l z name-only name-status full-name full-tree long object-only',
    optional: 'abbrev',
    text: 'format',
  },
  merge: {
    flags:
      'n q v ff no-ff ff-only commit no-commit squash no-squash stat no-stat abort continue quit no-edit ' +
      'allow-unrelated-histories signoff no-verify quiet verbose autostash no-autostash',
    optional: 'log',
    valued: 'X strategy-option',
    text: 'm',
  },
  'merge-base': { flags: 'a all is-ancestor octopus independent fork-point' },
  'name-rev': { flags: 'tags all name-only always no-undefined' },
  pull: {
    flags:
      'r q v p n all tags no-tags ff ff-only no-ff no-rebase quiet verbose prune no-commit commit squash stat no-stat ' +
      'autostash no-autostash no-edit allow-unrelated-histories no-verify rebase',
    valued: 'X strategy-option depth',
    remote: true,
  },
  push: {
    flags:
      'u f d n q v set-upstream force tags follow-tags all branches delete dry-run porcelain quiet verbose atomic no-verify ' +
      'progress prune',
    optional: 'force-with-lease',
    remote: true,
  },
  rebase: {
    flags:
      'm q v f n merge quiet verbose force-rebase no-ff continue abort skip quit no-verify keep-base root autostash ' +
      'no-autostash committer-date-is-author-date ignore-date reset-author-date stat no-stat fork-point no-fork-point ' +
      'update-refs',
    valued: 'X strategy-option onto empty',
  },
  reflog: [HISTORY, { verbs: ' show HEAD' }],
  remote: { flags: 'v verbose', verbs: ' show get-url' },
  reset: { flags: 'q N quiet soft mixed hard keep merge intent-to-add' },
  restore: {
    flags: 'S W q m staged worktree quiet merge ours theirs overlay no-overlay ignore-unmerged',
    valued: 's source',
  },
  'rev-list': [HISTORY, { flags: 'objects', index: true }],
  'rev-parse': {
    flags:
      'q quiet verify show-toplevel is-inside-work-tree is-shallow-repository symbolic symbolic-full-name all branches tags ' +
      'remotes git-dir show-prefix show-cdup',
    optional: 'short abbrev-ref',
    index: true,
  },
  revert: PICK,
  rm: { flags: 'f n r q force dry-run quiet cached ignore-unmatch sparse' },
  shortlog: [HISTORY, { flags: 's e c n summary numbered email committer', text: 'group' }],
  show: [...LOG, { index: true }],
  'show-ref': {
    flags: 'd q head heads tags branches dereference verify quiet exists',
    optional: 's hash abbrev',
  },
  stash: [
    DIFF,
    {
      flags:
        'k u a S q keep-index no-keep-index include-untracked all staged index quiet only-untracked no-include-untracked',
      text: 'm message',
      verbs: ' push save list show pop apply drop clear branch',
    },
  ],
  status: {
    flags:
      's b v z short branch long verbose ahead-behind no-ahead-behind renames no-renames show-stash no-column',
    optional: 'u porcelain untracked-files ignored ignore-submodules find-renames',
  },
  switch: [CREATES, { flags: 'discard-changes', valued: 'c C create force-create' }],
  tag: {
    flags: 'a l d f i annotate list delete force ignore-case merged no-merged no-column',
    optional: 'n color',
    valued: 'contains no-contains points-at sort cleanup',
    text: 'm message format',
  },
  version: { flags: 'build-options' },
  whatchanged: LOG,
};

const known = new Map<string, GitOptions>();

/** The names of all commands that are carried out. */
export const GIT_COMMANDS: readonly string[] = Object.keys(COMMANDS);

/** What a command takes; undefined where it is not carried out. Put together when it is asked for: few ever ask. */
export function gitOptionsOf(command: string): GitOptions | undefined {
  if (!Object.hasOwn(COMMANDS, command)) return undefined;
  const found =
    known.get(command) ?? merged([COMMANDS[command] as GitOptions | readonly GitOptions[]].flat());
  known.set(command, found);
  return found;
}

/** What any of them takes; of an option that several have, the last one says how. */
function merged(all: readonly GitOptions[]): GitOptions {
  const kinds = ['flags', 'optional', 'optionalText', 'valued', 'text'] as const;
  const last = new Map<string, (typeof kinds)[number]>();
  for (const options of all)
    for (const kind of kinds) for (const name of namesIn(options[kind])) last.set(name, kind);
  const of = (wanted: string) => [...last].flatMap(([name, kind]) => (kind === wanted ? name : [])).join(' ');
  return { ...Object.assign({}, ...all), ...Object.fromEntries(kinds.map((kind) => [kind, of(kind)])) };
}

function namesIn(names = ''): readonly string[] {
  return names.split(' ').filter((name) => name !== '');
}

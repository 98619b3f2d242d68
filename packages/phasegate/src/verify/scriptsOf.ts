import type { Check } from '@phasegate/core/model';

/** Files of the tree that decide how a check is judged, as its words name them. */
export interface NamedScripts {
  /** Relative to the folder it runs in. */
  readonly paths: readonly string[];
  /** Named to a shell, which may have changed its folder: the end of a path is enough. */
  readonly ends: readonly string[];
  /** What a test that must fail is run from: files, folders or globs. It is no work of the phase. */
  readonly canary: readonly string[];
}

/** What is known of the tree: whether a path, or the end of one, is that of a file. */
export interface TreeNames {
  isFile(path: string): boolean;
  isEnd(path: string): boolean;
}

/** The scripts that a check runs, and the files that its options tell a runner to load. Not the tests it is to find. */
export function scriptsOf({ with: { argv, shell, canary } }: Check, names: TreeNames): NamedScripts {
  const line = typeof shell === 'string' ? shell : shellIn(argv);
  return {
    paths: scriptsIn(wordsIn(argv), names.isFile),
    ends: line === null ? [] : commandsIn(line).flatMap((words) => scriptsIn(words, names.isEnd)),
    canary: wordsIn(canary).map(plain),
  };
}

const SHELLS = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash']);
const INTERPRETERS = new Set([
  ...SHELLS,
  ...['node', 'python', 'python3', 'ruby', 'perl', 'php', 'deno', 'bun', 'tsx', 'ts-node', 'source', '.'],
]);

/** Options whose word is a file or folder that decides, such as a config, a hook or a reporter. */
const LOADING =
  /^(?:-[cCfprR]|--?(?:config|conf|configfile|config-file|rcfile|import|require|loader|experimental-loader|reporters?|test-reporter|setup\w*|globalSetup|test-global-setup|test-setup|project|tsconfig|file|makefile|env-file|env-file-if-exists|plugin|rulesdir|resolve-plugins-relative-to|exec|toolexec|ignore-path|inifile|rootdir|prefix))$/i;

/** The files that one command runs, or that its options load. */
export function scriptsIn(given: readonly string[], isThere: (path: string) => boolean): readonly string[] {
  const words = given.map(plain);
  const [program] = words;
  if (program === undefined || LOOKING.has(program)) return [];
  const loaded = words.flatMap((word, at) => {
    const [, option = '', value = ''] = /^(-[^=]+)=(.*)$/.exec(word) ?? [];
    if (LOADING.test(option)) return [plain(value)];
    return LOADING.test(word) ? [words[at + 1] ?? ''] : [];
  });
  const own = given[0]?.startsWith('/') === true ? [] : [program];
  // An option may have a word of its own, so that the first word is not always the script.
  const script = interpretedIn(words).find(isThere);
  return [...own, ...loaded, ...(script === undefined ? [] : [script])].filter(isThere);
}

/** Programs that run nothing, with options such as those above. */
const LOOKING = new Set([
  'test',
  '[',
  'grep',
  'rg',
  'ls',
  'cat',
  'diff',
  'cmp',
  'wc',
  'head',
  'tail',
  'rm',
  'jq',
]);

/** What comes behind an interpreter, wherever that stands, such as behind `npx` or `env`. */
function interpretedIn(words: readonly string[]): readonly string[] {
  const at = words.findIndex((word) => INTERPRETERS.has(word.slice(word.lastIndexOf('/') + 1)));
  if (at === -1) return [];
  const rest = words.slice(at + 1);
  const named = rest.indexOf('-m');
  const name = named === -1 ? undefined : rest[named + 1];
  if (name !== undefined) return modulesOf(name);
  if (rest.some((word) => /^(?:--test(?:=.*)?|-e|--eval.*|-c)$/.test(word))) return [];
  return rest.filter((word) => !word.startsWith('-'));
}

/** The files that Python may take for a module: those of the folder it runs in come first. */
function modulesOf(name: string): readonly string[] {
  const path = name.replaceAll('.', '/');
  const [first = path] = path.split('/');
  return [`${path}.py`, `${path}/__main__.py`, `${path}/__init__.py`, `${first}.py`, `${first}/__init__.py`];
}

/** The line that a shell is given as a word. */
export function shellIn(argv: unknown): string | null {
  const words = wordsIn(argv);
  const at = words.findIndex((word) => SHELLS.has(word.slice(word.lastIndexOf('/') + 1)));
  const option = at === -1 ? -1 : words.findIndex((word, place) => place > at && /^-[a-z]*c$/.test(word));
  return option === -1 ? null : (words[option + 1] ?? null);
}

/** The commands of a shell line, roughly: what it does with quotes and variables is not followed. */
export function commandsIn(text: string): readonly (readonly string[])[] {
  return text.split(/[;&|()`\n]+/).map((piece) =>
    piece
      .split(/\s+/)
      .map((word) => word.replace(/^["'{$]+|["'}]+$/g, ''))
      .filter((word) => word !== '' && !/^\w+=/.test(word) && !COMMAND_WORDS.has(word)),
  );
}

const COMMAND_WORDS = new Set(['if', 'then', 'else', 'do', 'while', 'until', '!', 'exec', 'time', 'command']);

function wordsIn(words: unknown): readonly string[] {
  return Array.isArray(words) ? words.filter((word): word is string => typeof word === 'string') : [];
}

function plain(path: string): string {
  return path.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '');
}

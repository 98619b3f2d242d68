import { isAbsolute, resolve } from 'node:path';
import { EVIDENCE_LIMIT } from '@phasegate/core/contract';
import { parseCommandLine } from '@phasegate/core/model';
import { type AgentWords, agentWords } from './agentVerbs.ts';
import { isPlanted, lookedUp, realOr } from './programPaths.ts';

/** What a line of the shell has to do with Phasegate's own program. */
export type OwnCommand =
  /** Only commands an agent may give, whatever its phase allows; but the files it has them read, its phase must allow. */
  | {
      readonly kind: 'agents';
      readonly run: string | null;
      readonly reads: readonly string[];
      readonly starts: boolean;
      readonly completes: boolean;
    }
  /** A human's verb is in it. */
  | { readonly kind: 'humans'; readonly verb: string }
  /** With the words of the program, where `phasegate exec` runs one and nothing else is in the line. */
  | { readonly kind: 'other'; readonly executes?: readonly string[] };

/** Where programs are found. */
export interface ProgramPlaces {
  /** Real paths of Phasegate's own program. */
  readonly own: readonly string[];
  readonly path: string;
  /** PATH of the client, where it is known: its shell finds programs by that. */
  readonly clientPath?: string | undefined;
  /** The folder of the project that holds a path; null where none does. */
  workspaceOf(path: string): string | null;
}

/**
 * Reads a line as the shell would, where that is certain. A line is the agent's own where every command in it is
 * Phasegate's by its real path: a program that is only called so is not.
 */
export function ownCommand(line: string, cwd: string, places: ProgramPlaces): OwnCommand {
  if (line.length > LONGEST_LINE) return { kind: 'other' };
  const read = parseCommandLine(withoutQuotedText(line));
  if (!read.ok) return { kind: 'other' };
  const beside = read.commands.filter((words) => !isHarmless(words, places));
  // From another folder a relative name is another program.
  const moves = read.commands.some(([program]) => program === 'cd');
  const called = beside.map((words) =>
    moves && /^(?!\/).*\//.test(words[0] ?? '') ? null : calledOf(words, cwd, places),
  );
  const human = called.find((one) => one !== null && HUMANS.has(one.verb));
  if (human != null) return { kind: 'humans', verb: human.verb };
  const asked = called.map((one) => (one?.isOwn === true ? one.words : null));
  const told = asked.filter((one) => one !== null);
  const reads = told.flatMap(({ files }) => files);
  // What a pattern stands for, and what a name is in a folder it may or may not be in, nobody can say.
  const isUnsure = reads.some((file) => /[*?[]/.test(file) || (moves && !isAbsolute(file)));
  const isHere = told.every(({ project }) =>
    isOfProject(project, { cwd, moves: movesIn(read.commands) }, places),
  );
  if (called.length === 0 || told.length < called.length || isUnsure || !isHere)
    return { kind: 'other', ...executedBy(beside, called) };
  const runs = told.map(({ run }) => run).filter((run) => run !== null);
  const has = (verb: string) => called.some((one) => one?.verb === verb);
  return { kind: 'agents', run: runs[0] ?? null, reads, starts: has('start'), completes: has('done') };
}

/** Where the line goes: null where nobody can say. */
function movesIn(commands: readonly (readonly string[])[]): readonly string[] | null {
  const all = commands.filter(([program]) => program === 'cd');
  const [first, ...others] = all;
  if (first === undefined) return [];
  const [, folder = ''] = first;
  // Without a word it is the home and `-` the folder before.
  return others.length > 0 || folder === '' || folder.startsWith('-') || /[*?[]/.test(folder)
    ? null
    : [folder];
}

/**
 * Whether a command is about this project: in another folder it is about another one, whose workflows nobody accepted.
 * Where the line goes elsewhere first, it may also stay where it is.
 */
function isOfProject(
  project: string | null,
  { cwd, moves }: { readonly cwd: string; readonly moves: readonly string[] | null },
  { workspaceOf }: Pick<ProgramPlaces, 'workspaceOf'>,
): boolean {
  if (moves === null) return false;
  const folders = [cwd, ...moves.map((folder) => resolve(cwd, folder))];
  if (project === null) return folders.every((folder) => workspaceOf(folder) !== null);
  return folders.every((folder) => {
    const named = realOr(resolve(folder, project));
    return workspaceOf(named) === named;
  });
}

function executedBy(
  [words, ...others]: readonly (readonly string[])[],
  [called]: readonly (Called | null)[],
): { readonly executes?: readonly string[] } {
  if (words === undefined || others.length > 0 || called?.verb !== 'exec' || !called.isOwn) return {};
  const at = words.indexOf('--');
  return at < 0 ? {} : { executes: words.slice(at + 1) };
}

/** A line whose one command is given a quoted text: nothing in that text is the shell's. */
function withoutQuotedText(line: string): string {
  const end = line.indexOf('\n');
  const at = line.indexOf('<<');
  if (at < 0 || end < at) return line;
  const found = /^<<(-?)[ \t]*(['"])([A-Za-z_]\w*)\2[ \t]*$/.exec(line.slice(at, end));
  if (found === null) return line;
  const [, dash = '', , word = ''] = found;
  // After `<<-` a text also ends at its word behind tabs: what follows is the shell's again.
  const lines = line
    .slice(end + 1)
    .split('\n')
    .map((one) => (dash === '' ? one : one.replace(/^\t+/, '')));
  const last = lines.findLastIndex((one) => one !== '');
  return last >= 0 && lines.indexOf(word) === last ? line.slice(0, at).trimEnd() : line;
}

/** Evidence of the largest size, with what stands around it. */
const LONGEST_LINE = EVIDENCE_LIMIT + 10_000;

/** What hands text to a command, or cuts what it prints: it can change nothing. */
function isHarmless([program, ...words]: readonly string[], places: ProgramPlaces): boolean {
  if (program === 'echo' || program === 'true' || program === 'pwd') return true;
  // `printf -v PATH` sets a variable, by which the next program is another one.
  if (program === 'printf') return !(words[0] ?? '').startsWith('-');
  if (program === 'cd') return words.length <= 1;
  // A number that stands alone would be the name of a file.
  return (
    (program === 'head' || program === 'tail') &&
    /^(?:-[nc]? ?\d+)?$/.test(words.join(' ')) &&
    !isPlanted(program, places.clientPath, places.workspaceOf)
  );
}

/** What is for humans alone; they have a terminal of their own. */
const HUMANS: ReadonlySet<string> = new Set([
  'decide',
  'answer',
  'resume',
  'override',
  'attest',
  'stop',
  'trust',
  'restore',
  'uninit',
  'init',
  'humans',
  'tokens',
  'migrate',
  'migrate-store',
  'archive',
  'fence',
  'agents',
  'pause',
  'down',
]);

interface Called {
  /** By its real path; one that may be, and nobody can say, is not. */
  readonly isOwn: boolean;
  readonly verb: string;
  /** Null where the words are not an agent's to give. */
  readonly words: AgentWords | null;
}

function calledOf(words: readonly string[], cwd: string, places: ProgramPlaces): Called | null {
  const [program = '', ...rest] = words;
  const own = isOwn(program, cwd, places);
  // What `npx` starts is said by files that an agent may write, `.npmrc` above all: it opens nothing.
  const byNpx = rest[0] === 'phasegate' && program.replace(/^.*\//, '') === 'npx';
  if (!own && !byNpx) return null;
  const given = own ? rest : rest.slice(1);
  const at = verbAt(given);
  const verb = given[at] ?? 'help';
  return { isOwn: own, verb, words: agentWords(verb, given.toSpliced(at, 1)) };
}

/** Where the verb is. Read as the program reads it: whatever begins with a dash may stand before it. */
function verbAt(words: readonly string[]): number {
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    if (!word.startsWith('-')) return at;
    if (word === '--') break;
    if (word === '--project' || word === '--url') at++;
  }
  return words.length;
}

/** INVARIANT: a name is ours where it is for this process and for the client, whose PATH may lead into the project first. */
function isOwn(program: string, cwd: string, { own, path, clientPath = path }: ProgramPlaces): boolean {
  const found = program.includes('/')
    ? [resolve(cwd, program)]
    : [lookedUp(program, path), lookedUp(program, clientPath)];
  return found.every((file) => file !== null && own.includes(realOr(file)));
}

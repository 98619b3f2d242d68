import { parseArgs } from 'node:util';
import { isRunId } from '@phasegate/core/contract';

/** What follows an option: nothing, words, or the name of a file that the program reads. */
export type OptionKind = 'flag' | 'text' | 'file';

/** How one command of an agent is written: whatever is not here is not an agent's. */
export interface AgentVerb {
  readonly options: Readonly<Record<string, OptionKind>>;
  /** Options of one letter, by the long name they stand for. */
  readonly short?: Readonly<Record<string, string>>;
  /** Whether the words behind the run name files. */
  readonly files?: true;
}

const START = { target: 'text', param: 'text', option: 'text' } as const;

/**
 * What an agent may ask of the program in any phase, with every option it may give. Credentials of humans are not among
 * them, nor is another server. `exec` is judged as the program it runs.
 */
export const AGENT_VERBS: Readonly<Record<string, AgentVerb>> = {
  start: { options: { ...START, queue: 'flag', priority: 'text', capability: 'text', worktree: 'flag' } },
  next: { options: {} },
  task: { options: {} },
  done: {
    options: {
      phase: 'text',
      evidence: 'file',
      outcome: 'text',
      reason: 'text',
      item: 'text',
      example: 'flag',
    },
  },
  status: { options: {} },
  runs: { options: { status: 'text', workflow: 'text', limit: 'text' } },
  search: {
    options: { terms: 'text', phase: 'text', tag: 'text', results: 'text' },
    short: { results: 'n' },
  },
  ask: { options: {}, files: true },
  blocked: { options: { reason: 'text' } },
  list: { options: {} },
  help: { options: { version: 'flag' } },
  version: { options: {} },
};

/** Options every command takes. */
const EVERYWHERE: Readonly<Record<string, OptionKind>> = {
  json: 'flag',
  'no-color': 'flag',
  help: 'flag',
  project: 'text',
};

/** What the words of an agent's command say. */
export interface AgentWords {
  readonly run: string | null;
  /** The project's folder, where one is named. */
  readonly project: string | null;
  /** Files that the program would read, as they are written. */
  readonly files: readonly string[];
}

/** Reads the words beside the verb as the program does; null where one of them is not an agent's to give. */
export function agentWords(verb: string, words: readonly string[]): AgentWords | null {
  const known = Object.hasOwn(AGENT_VERBS, verb) ? AGENT_VERBS[verb] : undefined;
  if (known === undefined) return null;
  const kinds: Readonly<Record<string, OptionKind>> = { ...known.options, ...EVERYWHERE };
  const short: Readonly<Record<string, string>> = { ...known.short, help: 'h' };
  const options = Object.fromEntries(
    Object.entries(kinds).map(([name, kind]) => [
      name,
      {
        type: kind === 'flag' ? ('boolean' as const) : ('string' as const),
        ...(Object.hasOwn(short, name) ? { short: short[name] as string } : {}),
      },
    ]),
  );
  const { tokens } = parseArgs({ args: [...words], options, strict: false, tokens: true });
  const [files, plain, projects]: [string[], string[], string[]] = [[], [], []];
  for (const token of tokens) {
    if (token.kind === 'positional') plain.push(token.value);
    if (token.kind !== 'option') continue;
    const kind = Object.hasOwn(kinds, token.name) ? kinds[token.name] : undefined;
    if (kind === undefined || (kind === 'flag') !== (token.value === undefined)) return null;
    if (kind === 'file') files.push(token.value ?? '');
    if (token.name === 'project') projects.push(token.value ?? '');
  }
  const [first = '', ...others] = plain;
  if (known.files === true) files.push(...(isRunId(first) || first === '' ? others : plain));
  const [project = null, ...more] = projects;
  if (more.some((one) => one !== project)) return null;
  return { run: plain.find(isRunId) ?? null, project, files: files.filter((file) => file !== '-') };
}

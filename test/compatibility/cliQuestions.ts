import type { Made } from './fixture.ts';

/** One command to ask, by the name of the file its answer is kept in. */
export interface CliQuestion {
  readonly name: string;
  readonly words: readonly string[];
  /** The human whose passphrase is given, or the agent whose key is; else it is the agent `local`. */
  readonly as?: string;
}

const WORKFLOWS = ['release', 'chapters', 'loose', 'books', 'review_v1'];

/** Runs of the agent `local`, which needs no key. */
const LOCAL = ['books', 'booksGate', 'markdown', 'loose', 'queued'];

/** Every command with `--json` that can be asked of a state without changing what it means. */
export function cliQuestions({ runs }: Made): readonly CliQuestion[] {
  const ask = (name: string, ...words: readonly string[]): CliQuestion => ({ name, words });
  const asMaria = (name: string, ...words: readonly string[]) => ({ ...ask(name, ...words), as: 'maria' });
  return [
    ask('audit-verify', 'audit', 'verify'),
    ask('runs', 'runs'),
    asMaria('runs-as-human', 'runs'),
    ask('runs-waiting', 'runs', '--status', 'waiting'),
    ...Object.entries(runs).map(([name, id]) => ({
      ...ask(`status-${name}`, 'status', id),
      ...(LOCAL.includes(name) ? {} : { as: name === 'items' ? 'bob' : 'ada' }),
    })),
    ask('status-of-another', 'status', runs.items ?? ''),
    asMaria('status-halfVoted-as-human', 'status', runs.halfVoted ?? ''),
    asMaria('status-booksGate-as-human', 'status', runs.booksGate ?? ''),
    ...LOCAL.map((name) => ask(`next-${name}`, 'next', runs[name] ?? '')),
    { ...ask('next-sentBack', 'next', runs.sentBack ?? ''), as: 'ada' },
    ask('task', 'task', runs.markdown ?? '', '1', '1'),
    ask('list', 'list'),
    ask('validate', 'validate'),
    ...WORKFLOWS.map((name) => ask(`check-${name}`, 'check', name)),
    ...WORKFLOWS.map((name) => ask(`graph-${name}`, 'graph', name, '--format', 'json')),
    asMaria('graph-of-run', 'graph', 'release', '--run', runs.approved ?? '', '--format', 'json'),
    ask('coverage', 'coverage', 'release', '--runs'),
    ask('simulate', 'simulate', 'release', '--runs', '20', '--seed', '7'),
    asMaria('replay-release', 'replay', '--all', '--workflow', 'release'),
    asMaria('replay-books', 'replay', '--all', '--workflow', 'books'),
    asMaria('migrate', 'migrate', runs.approved ?? ''),
    ask('agents', 'agents'),
    ask('humans', 'humans', 'list'),
    ask('webhooks', 'webhooks'),
    ask('database-backups', 'database', 'backups'),
    ask('doctor', 'doctor'),
    ask('search', 'search', 'how do we roll back a release'),
    ask('index', 'index'),
    asMaria('trust', 'trust', 'release', '--yes'),
    ask('audit-tail', 'audit', 'tail', '-n', '3', '--run', runs.books ?? ''),
    asMaria('audit-export-of-run', 'audit', 'export', '--run', runs.approved ?? ''),
    ask('run-unknown', 'status', 'run-00000000000000000000'),
  ];
}

import { statSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { oneLine, reasonOf, shellWord } from '@phasegate/core/model';
import { readRegular } from '../../../files/readRegular.ts';
import type { Worked, WorkerEvent, WorkerRepository } from '../../../runtime/ports.ts';
import { demandInstalled, type NamedAgent, namedAgent, PRESET_NAMES } from '../agentProgram.ts';
import type { Arguments, CliCommand } from '../command.ts';
import { durationOption } from '../durationOption.ts';
import { programFromHere } from '../programFromHere.ts';
import { usageError } from '../usage.ts';

/** `phasegate worker`: claims queued runs of a server and starts agents for them on this machine. */
export const worker: CliCommand = {
  usage: [
    'worker --url URL [--capacity N] [--can LABEL…] [--repo URL [--ref REF] [--push]] (--agent NAME | -- COMMAND [WORD…])',
  ],
  details:
    'Claims runs from the queue of the server at URL, as many at a time as there are keys, and starts COMMAND for each, as\n' +
    '`phasegate agent start` does. Each agent at work has a key of its own: PHASEGATE_KEY for one, a file with a key on\n' +
    'each line (--keys) for more. `--can` says what agents here can do; a run asks for it by the `capabilities` of its\n' +
    'workflow or `start --capability`, and the server hands out no other.\n\n' +
    "Without --repo an agent starts in an empty folder and works with the server's tools in the server's workspace, which\n" +
    'the engine sees. With --repo each run has a clone of its own on branch phasegate/RUN, removed afterwards. The engine\n' +
    'cannot see it, so the server hands out only runs in which it decides on what is handed in and on what humans say:\n' +
    'every phase may write everything, and no check looks at the workspace. Nothing is pushed without --push.\n\n' +
    'Name a program by its whole path. Without --repo a relative one, and the script of node, python3 or sh, is meant from\n' +
    'the folder that the worker is started in; with --repo, from the clone.\n\n' +
    'While a program runs its lease is renewed; of a worker that is killed, runs go to others when their leases run out.\n' +
    'On SIGTERM nothing more is claimed; programs have --drain to end, then they are ended and their runs given back.',
  examples: [
    'phasegate worker --url https://phasegate.example.com --agent claude',
    'phasegate worker --url https://phasegate.example.com --keys keys.txt --can python -- node /srv/agent/agent.js {prompt}',
    'phasegate worker --url https://phasegate.example.com --repo git@example.com:shop.git --push -- my-agent {prompt}',
  ],
  options: {
    agent: {
      type: 'text',
      value: 'NAME',
      summary: `a client, started with the flags it needs, in place of COMMAND: ${PRESET_NAMES}`,
    },
    keys: { type: 'text', value: 'FILE', summary: "agents' keys, one on a line (default: PHASEGATE_KEY)" },
    capacity: { type: 'text', value: 'N', summary: 'how many runs at a time (default: one for each key)' },
    can: { type: 'texts', value: 'LABEL', summary: 'what agents here can do' },
    repo: { type: 'text', value: 'URL', summary: 'a git repository, cloned anew for each run' },
    ref: { type: 'text', value: 'REF', summary: 'the branch, tag or commit to begin with' },
    push: { type: 'flag', summary: 'push branch phasegate/RUN when the agent has ended' },
    keep: { type: 'flag', summary: "leave runs' folders where they are" },
    folder: { type: 'text', value: 'DIR', summary: 'where folders are made (default: for temporary files)' },
    poll: { type: 'text', value: 'TIME', summary: 'how long to wait where nothing is queued (default 2s)' },
    heartbeat: {
      type: 'text',
      value: 'TIME',
      summary: 'how often leases are renewed (default 10s): less than half of the shortest `lease_seconds`',
    },
    drain: {
      type: 'text',
      value: 'TIME',
      summary: 'how long programs may go on after SIGTERM (default 10m)',
    },
    runs: { type: 'text', value: 'N', summary: 'end after so many runs' },
    log: { type: 'text', value: 'FILE', summary: "append the programs' output to a file instead of stderr" },
  },
  positionals: [],
  takesCommand: true,
  server: 'used',
  async run(invocation) {
    const { args, env, out, machine, server } = invocation;
    const repository = repositoryOf(args);
    const agent = agentOf(args, repository);
    const url = serverOf(server?.url);
    const keys = keysOf(args, env.PHASEGATE_KEY);
    const warning = openToOthers(args.text('keys'));
    if (warning !== null) await out.log(warning);
    const [log, folder] = [args.text('log'), args.text('folder')];
    const request = {
      url,
      insecureHttp: args.flag('insecure-http') || env.PHASEGATE_INSECURE_HTTP === '1',
      keys: keys.slice(0, capacityOf(args, keys.length)),
      argv: 'preset' in agent ? ([agent.preset.name] as const) : agent.command,
      ...('preset' in agent ? { preset: agent.preset.name } : {}),
      capabilities: args.texts('can'),
      repository,
      folder: folder === undefined ? null : resolve(folder),
      keep: args.flag('keep'),
      pollMs: durationOption(args, 'poll', '2s').ms,
      beatMs: durationOption(args, 'heartbeat', '10s').ms,
      drainMs: durationOption(args, 'drain', '10m').ms,
      runs: args.text('runs') === undefined ? null : countOf(args, 'runs'),
      logFile: log === undefined ? null : resolve(log),
    };
    // In a clone it may be a file of the repository: who starts it there finds out.
    if (repository === null || !isOfClone(agent)) demandInstalled(agent, { env, root: process.cwd() });
    if (machine?.runWorker === undefined) throw usageError('agents cannot be started from here');
    const worked = await machine.runWorker({
      ...request,
      signal: machine.stopping(),
      report: (event) => void out.log(out.json ? JSON.stringify(event) : describe(event)),
    });
    await out.result({ ...worked }, () => summary(worked));
    return 0;
  },
};

function agentOf(args: Arguments, repository: WorkerRepository | null): NamedAgent {
  const name = args.text('agent');
  const [file, ...words] = args.command;
  if (name !== undefined && file !== undefined)
    throw usageError('`--agent NAME` and a command after `--` exclude each other');
  if (name !== undefined) {
    const named = namedAgent(name);
    if ('preset' in named) return named;
    throw usageError(`there is no agent \`${oneLine(name)}\` that is known`, `known are ${PRESET_NAMES}`);
  }
  if (file === undefined || file === '')
    throw usageError(
      'the command to start is missing: write it after `--`, or name a client with `--agent`',
      'e.g. `phasegate worker --url URL -- node /srv/agent/agent.js {prompt}`',
    );
  const command = [file, ...words] as const;
  return { command: repository === null ? programFromHere(command, process.cwd()) : command };
}

function isOfClone(agent: NamedAgent): boolean {
  return 'command' in agent && agent.command[0].includes('/') && !isAbsolute(agent.command[0]);
}

/** Agents talk to the same address, and theirs is HTTP. */
function serverOf(url: string | undefined): string {
  if (url === undefined)
    throw usageError(
      'a worker needs a server: `--url URL`, or PHASEGATE_URL in the environment',
      'take the address that `phasegate serve` or `phasegate up` printed',
    );
  if (!/^https?:/i.test(url)) throw usageError('a worker needs an http or https address');
  return url.replace(/\/+$/, '');
}

const ADD_HINT = "`phasegate agents add NAME` at the project prints an agent's key once";

function keysOf(args: Arguments, own: string | undefined): readonly string[] {
  const file = args.text('keys');
  const keys = file === undefined ? [own ?? ''] : linesOf(file);
  const wrong = keys.findIndex((key) => !/^pgk_[\w-]+$/.test(key));
  if (keys.length > 0 && wrong === -1) return keys;
  if (file === undefined)
    throw usageError("a worker needs an agent's key (`pgk_…`) in PHASEGATE_KEY, or `--keys FILE`", ADD_HINT);
  // Not repeated in the message: it may be a secret of another kind.
  if (keys.length === 0) throw usageError(`\`${file}\` holds no key`, ADD_HINT);
  throw usageError(`\`${file}\`: key ${wrong + 1} does not have the form \`pgk_…\``, ADD_HINT);
}

function linesOf(file: string): readonly string[] {
  try {
    return readRegular(file, { most: LARGEST_KEYS, links: 'follow' })
      .toString('utf8')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('#'));
  } catch (error) {
    throw usageError(
      `\`--keys ${file}\` cannot be read: ${reasonOf(error)}`,
      `name a file with a key on each line; ${ADD_HINT}`,
    );
  }
}

/** A platform may hand out secrets that all users of a machine of their own can read: it is said, not refused. */
function openToOthers(file: string | undefined): string | null {
  if (file === undefined || (statSync(file).mode & 0o077) === 0) return null;
  return `warning: others can read \`${file}\`, and act as these agents; close it with \`chmod 600 ${shellWord(file)}\``;
}

const LARGEST_KEYS = 1_000_000;

function capacityOf(args: Arguments, keys: number): number {
  if (args.text('capacity') === undefined) return keys;
  const capacity = countOf(args, 'capacity');
  if (capacity <= keys) return capacity;
  throw usageError(
    `\`--capacity ${capacity}\` needs ${capacity} keys, and there ${keys === 1 ? 'is one' : `are ${keys}`}`,
    'each agent at work has a key of its own: write them into a file and name it with `--keys`',
  );
}

function countOf(args: Arguments, name: string): number {
  const text = args.text(name) ?? '';
  if (!/^[1-9]\d{0,4}$/.test(text))
    throw usageError(`\`--${name}\` needs a whole number from 1, not \`${oneLine(text)}\``);
  return Number(text);
}

function repositoryOf(args: Arguments): WorkerRepository | null {
  const url = args.text('repo');
  const ref = args.text('ref') ?? null;
  const push = args.flag('push');
  if (url === undefined) {
    if (ref === null && !push) return null;
    throw usageError(`\`--${push ? 'push' : 'ref'}\` is about a repository: name it with \`--repo URL\``);
  }
  if (url === '' || url.startsWith('-') || /^ext::/i.test(url))
    throw usageError('`--repo` is not the address of a git repository');
  if (ref?.startsWith('-') === true || ref === '') throw usageError('`--ref` is not the name of a commit');
  // Agents start in other folders: a path is meant from here.
  const isPath = !/^[\w+.-]+:/.test(url) && !/^[^/]+@[^/]+:/.test(url);
  return { url: isPath ? resolve(url) : url, ref, push };
}

function describe(event: WorkerEvent): string {
  // The server's words.
  const run = 'run' in event ? oneLine(event.run) : '';
  switch (event.event) {
    case 'waiting_for_work':
      return `${oneLine(event.agent)}: the server has no run for it now: none is queued that it can do, or what is queued waits for the workspace of another run; asking again`;
    case 'unreachable':
      return `${event.agent === null ? '' : `${oneLine(event.agent)}: `}the server does not answer (${oneLine(event.why)}); asking again`;
    case 'claimed':
      return `${oneLine(event.agent)}: has run ${run} in phase ${oneLine(event.phase ?? 'none')}`;
    case 'started':
      return `${oneLine(event.agent)}: started as ${event.where} for run ${run}`;
    case 'lease_lost':
      return `${oneLine(event.agent)}: run ${run} is another's now; its program is ended`;
    case 'ended':
      return `${oneLine(event.agent)}: run ${run}: ${WORDS[event.outcome]} (${oneLine(event.how)})`;
    case 'backing_off':
      return [
        `${oneLine(event.agent)}: its program ended at once${event.ms === 0 ? '' : `; it waits before the next run, longer each time (now ${event.ms / 1000} s)`}`,
        ...(event.output.length === 0
          ? ['  it printed nothing']
          : ['  the last it printed:', ...event.output.map((line) => `  | ${oneLine(line)}`)]),
      ].join('\n');
    case 'pushed':
      return `run ${run}: branch ${event.branch} was pushed`;
    case 'kept':
      return `run ${run}: its folder stays at ${event.folder}: ${oneLine(event.why)}`;
    case 'dropped':
      return `run ${run}: ${event.files} changed files were not committed, and went with its folder`;
    case 'draining':
      return `ending: nothing more is claimed; ${event.running} at work`;
  }
}

const WORDS: Readonly<Record<Extract<WorkerEvent, { event: 'ended' }>['outcome'], string>> = {
  completed: 'completed',
  waiting: 'waits for a human',
  escalated: 'a human must act',
  stopped: 'was stopped',
  lost: 'its program ended before the work was done; it is back in the queue',
  given_back: 'was given back',
  not_given_back: 'could not be given back; it is free when its lease ends',
  left: 'is no longer its own',
};

function summary({ runs, attempts, outcomes }: Worked): string {
  const parts = Object.entries(outcomes).map(
    ([outcome, count]) => `${count} ${outcome.replaceAll('_', ' ')}`,
  );
  const often = attempts === runs ? '' : ` in ${attempts} attempts`;
  return `worked on ${runs} ${runs === 1 ? 'run' : 'runs'}${often}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}`;
}

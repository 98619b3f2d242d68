import { resolve } from 'node:path';
import { oneLine, shellWord } from '@phasegate/core/model';
import type { SpawnEvent, Spawned, SpawnRequest } from '../../../runtime/ports.ts';
import {
  demandInstalled,
  demandNoTerminal,
  type NamedAgent,
  namedAgent,
  PRESET_NAMES,
} from '../agentProgram.ts';
import type { Arguments, CliCommand, ExitCode, Invocation, Machine } from '../command.ts';
import { demandSandbox } from '../demandSandbox.ts';
import { wholeRun } from '../runOf.ts';
import { LOCAL_AGENT } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** `phasegate agent`: starts a program as an agent and follows it. */
export const agent: CliCommand = {
  usage: [
    'agent start [RUN] [--adapter subprocess|tmux] [--name NAME] [--capability C…] [--sandbox] [--wait] (--agent NAME | -- COMMAND [WORD…])',
  ],
  details:
    'Claims RUN, or the next run in the queue, for a new agent with a key of its own, and starts COMMAND without a\n' +
    'shell. `{prompt}` among its words becomes the path of the prompt file. The agent finds PHASEGATE_URL, _RUN,\n' +
    '_AGENT, _KEY, _PROMPT and _MCP_CONFIG in its environment, and its first phase token on file descriptor 3.\n' +
    'When it ends before the run is completed or waits for a human, it is started again from the last checkpoint,\n' +
    'until the engine escalates. Needs a server: `phasegate serve`.\n\n' +
    'With --sandbox it is in the sandbox of the phase, is ended with the phase and started anew for the next one. Inside\n' +
    'there is neither a key nor the server: it reaches the engine by MCP, with the program in PHASEGATE_MCP. Only such an\n' +
    'agent has runs whose workflow demands the ring `sandboxed`.',
  examples: [
    'phasegate agent start --wait --agent claude',
    'phasegate agent start --wait --sandbox --agent claude',
    'phasegate agent start --wait -- node agent.js {prompt}',
    'phasegate agent start RUN --adapter tmux --name ada -- my-agent --prompt-file {prompt}',
  ],
  options: {
    agent: {
      type: 'text',
      value: 'NAME',
      summary: `a client, started with the flags it needs, in place of COMMAND: ${PRESET_NAMES}`,
    },
    adapter: { type: 'text', value: 'NAME', summary: 'subprocess (default) or tmux' },
    name: {
      type: 'text',
      value: 'NAME',
      summary: "what the agent's name begins with (default: the command's)",
    },
    capability: { type: 'texts', value: 'C', summary: 'what the agent can do' },
    sandbox: {
      type: 'flag',
      summary: 'have the program in a sandbox of each phase (bubblewrap)',
    },
    wait: { type: 'flag', summary: 'wait for a run when none is queued' },
    'wait-for-human': { type: 'flag', summary: 'at a gate, wait for the human and go on' },
    once: { type: 'flag', summary: 'do not start the program again' },
    log: { type: 'text', value: 'FILE', summary: "append the program's output to a file instead of stderr" },
  },
  positionals: ['start', '[RUN]'],
  takesCommand: true,
  async run(invocation) {
    const { args, machine } = invocation;
    if (machine === null) throw usageError('agents cannot be started from here');
    const [action, word] = args.positionals as [string, string?];
    // What tmux is given to run; nobody types it.
    if (action === 'exec' && word !== undefined) {
      await machine.runLaunch(word);
      return 0;
    }
    if (action !== 'start') throw usageError(`\`phasegate agent\` has no \`${action}\``, 'it has `start`');
    const named = word === undefined ? null : await wholeRun(invocation, LOCAL_AGENT, word);
    return start(invocation, machine, named);
  },
};

async function start(invocation: Invocation, machine: Machine, run: string | null): Promise<ExitCode> {
  const { args, out } = invocation;
  const agent = agentOf(args);
  const adapter = adapterOf(args);
  if ('preset' in agent) demandNoTerminal(agent.preset, adapter);
  const project = await invocation.project();
  const argv: readonly [string, ...string[]] = 'preset' in agent ? [agent.preset.name] : agent.command;
  const log = args.text('log');
  const wanted = {
    run,
    argv,
    ...('preset' in agent ? { preset: agent.preset.name } : {}),
    adapter,
    name: nameOf(args, argv[0]),
    capabilities: args.texts('capability'),
    wait: args.flag('wait'),
    waitForHuman: args.flag('wait-for-human'),
    once: args.flag('once'),
    sandbox: args.flag('sandbox'),
    logFile: log === undefined ? null : resolve(log),
  };
  demandInstalled(agent, { env: invocation.env, root: project.root });
  const open = await invocation.open();
  if (wanted.sandbox) await demandSandbox(open);
  const spawned = await machine.spawnAgent({
    ...wanted,
    project,
    open,
    signal: machine.stopping(),
    report: (event) => void out.log(out.json ? JSON.stringify(event) : describe(event)),
  });
  await out.result(spawned, () => summary(spawned));
  return GOOD.has(spawned.outcome) ? 0 : 1;
}

const GOOD: ReadonlySet<Spawned['outcome']> = new Set(['completed', 'waiting']);

/** A client by its name, or the words after `--`. */
function agentOf(args: Arguments): NamedAgent {
  const name = args.text('agent');
  if (name === undefined) return { command: commandOf(args) };
  if (args.command.length > 0) throw usageError('`--agent NAME` and a command after `--` exclude each other');
  const named = namedAgent(name);
  if ('preset' in named) return named;
  throw usageError(
    `there is no agent \`${name}\` that is known`,
    `known are ${PRESET_NAMES}; write a command after \`--\``,
  );
}

function commandOf({ command }: Arguments): readonly [string, ...string[]] {
  const [file, ...words] = command;
  if (file === undefined || file === '') {
    throw usageError(
      'the command to start is missing: write it after `--`, or name a client with `--agent`',
      `e.g. \`phasegate agent start -- node agent.js {prompt}\`; clients: ${PRESET_NAMES}`,
    );
  }
  return [file, ...words];
}

function adapterOf(args: Arguments): SpawnRequest['adapter'] {
  const word = args.text('adapter') ?? 'subprocess';
  if (word === 'subprocess' || word === 'tmux') return word;
  throw usageError(`there is no adapter \`${word}\``, 'adapters: subprocess, tmux');
}

function nameOf(args: Arguments, file: string): string {
  const given = args.text('name');
  if (given === undefined)
    return (file.split('/').at(-1) ?? '').replace(/[^\w-]+/g, '-').slice(0, 40) || 'agent';
  if (!/^[A-Za-z0-9][\w-]{0,39}$/.test(given)) {
    throw usageError(`\`${given}\` is not a name: use letters, digits, \`_\` and \`-\`, at most 40`);
  }
  return given;
}

function describe(event: SpawnEvent): string {
  switch (event.event) {
    case 'waiting_for_work':
      return `${event.agent}: no run is queued for it, or what is queued waits for the workspace of another run; waiting for one`;
    case 'claimed': {
      const item = event.item === null ? '' : `, item ${oneLine(event.item)}`;
      return `${event.agent}: has run ${event.run} in phase ${event.phase ?? 'none'}${item}`;
    }
    case 'started':
      return `${event.agent}: ${event.start === 1 ? 'started' : `started again (${event.start})`} as ${event.where}`;
    case 'exited':
      return `${event.agent}: ${event.how}`;
    case 'lost':
      return `${event.agent}: the phase was not complete; the run goes back to its last checkpoint`;
    case 'waiting_for_human':
      return `${event.agent}: run ${event.run} waits for a human`;
  }
}

function summary({ run, outcome, message }: Spawned): string {
  if (run === null) return message;
  const look = outcome === 'completed' ? '' : `; see \`phasegate status ${shellWord(run)}\``;
  return `run ${run}: ${message}${look}`;
}

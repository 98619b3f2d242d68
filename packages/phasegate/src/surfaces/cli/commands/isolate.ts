import { resolve } from 'node:path';
import { shellWord } from '@phasegate/core/model';
import type { Isolate, IsolateRequest, IsolationStep } from '../../../runtime/ports.ts';
import type { Arguments, CliCommand, ExitCode, Invocation } from '../command.ts';
import { table } from '../text/table.ts';
import { usageError } from '../usage.ts';

/** `phasegate isolate`: the engine as another user than its agents. */
export const isolate: CliCommand = {
  usage: [
    'isolate setup --agent-user USER… [--workspace DIR] [--yes]',
    'isolate check [--workspace DIR]',
    'isolate remove [--workspace DIR] [--state] [--yes]',
  ],
  details:
    '`setup` makes the users, folders and files for an engine that its agents cannot reach: the server runs as one user,\n' +
    'checks and tools as another, and each agent has a socket that only its own user can connect to. It shows what it\n' +
    'will do before it does it, starts nothing, and can be run again. `check` verifies every property, and as root tries\n' +
    'out what each user can do. `remove` keeps the state and the users unless --state is given. Linux, as root.',
  examples: [
    'sudo phasegate isolate setup --workspace /srv/project --agent-user ada',
    'sudo phasegate isolate check --workspace /srv/project',
    'sudo phasegate isolate remove --workspace /srv/project',
  ],
  options: {
    workspace: { type: 'text', value: 'DIR', summary: 'the folder of the project (default: this one)' },
    'agent-user': { type: 'texts', value: 'USER', summary: 'a user whose agents are served' },
    'engine-user': { type: 'text', value: 'USER', summary: 'runs the server (default phasegate)' },
    'check-user': { type: 'text', value: 'USER', summary: 'runs checks and tools (default phasegate-check)' },
    group: { type: 'text', value: 'NAME', summary: 'shares the workspace (default phasegate-work)' },
    base: { type: 'text', value: 'DIR', summary: 'where everything of it is (default /var/lib/phasegate)' },
    name: { type: 'text', value: 'NAME', summary: 'its folder there (default: the name of the workspace)' },
    state: {
      type: 'flag',
      summary: 'remove: also the state, with all runs and keys, and the users that setup made',
    },
    yes: { type: 'flag', summary: 'do it without being asked' },
  },
  positionals: ['setup|check|remove'],
  anywhere: true,
  server: 'ignored',
  async run(invocation) {
    const { args, machine } = invocation;
    if (machine?.isolate === undefined) throw usageError('nothing can be isolated from here');
    const [action] = args.positionals as [string];
    const act = ACTIONS[action];
    if (act === undefined)
      throw usageError(`\`phasegate isolate\` has no \`${action}\``, 'it has `setup`, `check` and `remove`');
    return act(await machine.isolate(), requestOf(args), invocation);
  },
};

type Act = (isolate: Isolate, request: IsolateRequest, invocation: Invocation) => Promise<ExitCode>;

const setup: Act = async (isolate, request, invocation) => {
  const { out } = invocation;
  const { steps, carryOut } = isolate.setup(request);
  if (!(await agreed(steps, invocation))) return 1;
  const made = carryOut(({ text, done }) => void out.log(`${done ? 'was so' : 'done'}: ${text}`));
  const next = made.systemd ? `systemctl enable --now ${made.unit}` : `${made.command} serve`;
  await out.result({ ...made, next_step: next }, () =>
    [
      `set up in ${made.plan}; nothing was started`,
      `humans, trust and audit, as root: ${made.command} init`,
      made.systemd ? `the server: ${next}` : `the server (systemd does not run here), as root: ${next}`,
      ...made.sockets.map(({ user, url }) => `agents of ${user}: PHASEGATE_URL=${url}`),
      `then: phasegate isolate check --workspace ${shellWord(request.workspace)}`,
    ].join('\n'),
  );
  return 0;
};

const check: Act = async (isolate, request, { out }) => {
  const { findings, tried } = isolate.check(request);
  const ok = findings.every(({ holds }) => holds);
  const properties = findings.map(({ name, holds, message, nextStep }) => ({
    name,
    holds,
    message,
    ...(nextStep === undefined ? {} : { next_step: nextStep }),
  }));
  await out.result({ ok, tried, properties }, () => {
    const steps = properties.flatMap(({ next_step }) => (next_step === undefined ? [] : [next_step]));
    return [
      table(
        findings.map(({ name, holds, message }) => [
          holds ? out.paint.green('holds') : out.paint.red('fails'),
          name,
          message,
        ]),
      ),
      ...(tried ? [] : ['', 'only looked up: as root it is also tried out, user by user']),
      ...(steps.length === 0 ? [] : ['', 'next:', ...steps.map((step) => `  ${out.paint.cyan(step)}`)]),
    ].join('\n');
  });
  return ok ? 0 : 1;
};

const remove: Act = async (isolate, request, invocation) => {
  const { args, out } = invocation;
  const state = args.flag('state');
  const { steps, carryOut } = isolate.remove(request, { state });
  if (!(await agreed(steps, invocation))) return 1;
  carryOut(({ text, done }) => void out.log(`${done ? 'was so' : 'done'}: ${text}`));
  await out.result({ removed: true, state }, () =>
    state
      ? 'removed'
      : 'removed; the state and the users are still there: `setup` and then `remove --state` removes them too',
  );
  return 0;
};

const ACTIONS: Readonly<Record<string, Act | undefined>> = Object.assign(Object.create(null), {
  setup,
  check,
  remove,
});

/** Nothing is done to the machine that was not shown before. */
async function agreed(steps: readonly IsolationStep[], { args, out, prompts }: Invocation): Promise<boolean> {
  if (args.flag('yes')) return true;
  for (const { text, done } of steps) await out.log(`${done ? 'is so already' : 'will'}: ${text}`);
  if (prompts === null)
    throw usageError('nothing was done, as nobody can be asked', 'say `--yes` to do all of the above');
  if ((await prompts.select('Do this?', ['no', 'yes'])) === 'yes') return true;
  await out.log('nothing was done');
  return false;
}

function requestOf(args: Arguments): IsolateRequest {
  const name = args.text('name');
  if (name !== undefined && !/^[\w-]+$/.test(name))
    throw usageError('`--name` is made of letters, digits, `_` and `-`');
  return {
    workspace: resolve(args.text('workspace') ?? '.'),
    base: resolve(args.text('base') ?? '/var/lib/phasegate'),
    ...(name === undefined ? {} : { name }),
    engineUser: args.text('engine-user') ?? 'phasegate',
    checkUser: args.text('check-user') ?? 'phasegate-check',
    group: args.text('group') ?? 'phasegate-work',
    agentUsers: args.texts('agent-user'),
  };
}

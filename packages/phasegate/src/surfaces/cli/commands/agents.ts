import { oneLine } from '@phasegate/core/model';
import type { LeaseRecord } from '../../../runtime/ports.ts';
import type { CliCommand, ExitCode, Invocation } from '../command.ts';
import { table } from '../text/table.ts';
import { HUMAN_OPTIONS, humanOnceSetUp, signInAtServer } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** `phasegate agents`: who may claim runs, and who holds which. */
export const agents: CliCommand = {
  usage: ['agents [list]', 'agents add NAME [--capability C…] [--mine]', 'agents remove NAME'],
  details:
    'A key is shown once, when it is made. An agent of that name gets a new one, and loses what it holds as if it had\n' +
    'been removed. The agent shows its key in PHASEGATE_KEY, or as a bearer to the server. Once a human is set up,\n' +
    'adding and removing are for a human.',
  examples: [
    'phasegate agents',
    'phasegate agents add ada --capability python --json',
    'phasegate agents remove ada',
  ],
  options: {
    capability: { type: 'texts', value: 'C', summary: 'what the agent can do; then it cannot say otherwise' },
    mine: {
      type: 'flag',
      summary: 'the key is for your own use: your yes at a gate does not count on work that was done with it',
    },
    ...HUMAN_OPTIONS,
  },
  positionals: ['[list|add|remove]', '[NAME]'],
  server: 'used',
  async run(invocation) {
    const [action = 'list', name] = invocation.args.positionals as [string?, string?];
    switch (action) {
      case 'list':
        return listAgents(invocation);
      case 'add':
        return addAgent(invocation, nameFor(action, name));
      case 'remove':
        return removeAgent(invocation, nameFor(action, name));
      default:
        throw usageError(`\`phasegate agents\` has no \`${action}\``, 'it has `list`, `add` and `remove`');
    }
  },
};

async function listAgents(invocation: Invocation): Promise<ExitCode> {
  const { out } = invocation;
  await signInAtServer(invocation);
  const project = await invocation.reach();
  const known = await project.agents.list();
  const leases = await project.claims.leases();
  // Anyone who holds something is shown, also `local`, which has no key.
  const others = [...new Set(leases.map(({ agent }) => agent))].filter(
    (holder) => !known.some(({ name }) => name === holder),
  );
  const found = [
    ...known.map(({ name, capabilities, addedAt }) => ({ name, capabilities, added_at: addedAt })),
    ...others.map((name) => ({ name, capabilities: null, added_at: null })),
  ].map((agent) => ({ ...agent, holds: leases.filter((lease) => lease.agent === agent.name).map(held) }));
  await out.result({ agents: found }, () => {
    if (found.length === 0) return 'no agents; make a key with `phasegate agents add NAME`';
    return table([
      ['agent', 'can', 'holds', 'lease until'].map((title) => out.paint.dim(title)),
      ...found.flatMap(({ name, capabilities, holds }) => {
        const can = capabilities === null ? '' : capabilities.join(', ');
        if (holds.length === 0) return [[name, can, '', '']];
        return holds.map(({ run, item, expires_at }) => [
          name,
          can,
          item === null ? run : `${run} item ${oneLine(item)}`,
          expires_at,
        ]);
      }),
    ]);
  });
  return 0;
}

function held({ run, item, expiresAt }: LeaseRecord): {
  readonly run: string;
  readonly item: string | null;
  readonly expires_at: string;
} {
  return { run, item, expires_at: expiresAt };
}

async function addAgent(invocation: Invocation, name: string): Promise<ExitCode> {
  const { args, out } = invocation;
  const capabilities = args.texts('capability');
  const by = await humanOnceSetUp(invocation);
  const made = await (await invocation.reach()).agents.add(name, {
    by,
    ...(capabilities.length === 0 ? {} : { capabilities }),
    ...(args.flag('mine') ? { mine: true } : {}),
  });
  await out.result({ name: made.name, key: made.key }, () =>
    [made.key, '', `the key of ${made.name}, shown this once; the agent gives it as PHASEGATE_KEY`].join(
      '\n',
    ),
  );
  return 0;
}

async function removeAgent(invocation: Invocation, name: string): Promise<ExitCode> {
  const by = await humanOnceSetUp(invocation);
  await (await invocation.reach()).agents.remove(name, by);
  await invocation.out.result(
    { name, removed: true },
    () => `${name} may no longer call; what it held is in the queue`,
  );
  return 0;
}

function nameFor(action: string, name: string | undefined): string {
  if (name === undefined || name.trim() === '')
    throw usageError(
      `\`phasegate agents ${action}\` needs \`NAME\``,
      `e.g. \`phasegate agents ${action} ada\`; \`phasegate agents\` lists those there are`,
    );
  return name;
}

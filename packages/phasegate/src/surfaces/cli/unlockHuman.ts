import { PhasegateError, type Principal } from '@phasegate/core';
import type { AgentPrincipal, Humans, IdentifiedAgent, UnlockedHuman } from '../../runtime/ports.ts';
import type { Invocation, OptionSpecs, Server } from './command.ts';
import type { Environment } from './environment.ts';
import { FD_HINT, passphraseFrom } from './passphrase.ts';
import { asked, TRIES } from './prompts.ts';
import { usageError } from './usage.ts';

/** Options of every command a human's credential belongs to. */
export const HUMAN_OPTIONS = {
  as: { type: 'text', value: 'NAME', summary: 'whose passphrase to ask for, where there are several humans' },
  'passphrase-fd': {
    type: 'text',
    value: 'N',
    summary: 'read the passphrase from this file descriptor instead of the terminal',
  },
} as const satisfies OptionSpecs;

/** Anyone who calls without a credential. */
export const LOCAL_AGENT: AgentPrincipal = { kind: 'agent', name: 'local' };

/** What may be known already: a passphrase that was read before, and where the humans are kept. */
interface Unlocking {
  readonly read?: string | undefined;
  /** Who it is, where only one can be meant. */
  readonly as?: string;
  /** Default: the project's own. */
  readonly humans?: () => Promise<Humans>;
  /** An act of files and processes that only an admin may do, e.g. `restoring the state`. */
  readonly adminFor?: string;
}

/** The human behind this call, proven by their passphrase. */
export async function unlockHuman(invocation: Invocation, unlocking: Unlocking = {}): Promise<UnlockedHuman> {
  const { args, prompts } = invocation;
  const given = unlocking.read ?? passphraseFrom(args, 'passphrase-fd');
  if (invocation.server !== null) return signIn(invocation, given);
  const humans = unlocking.humans === undefined ? (await invocation.open()).humans : await unlocking.humans();
  const name = unlocking.as ?? (await whichHuman(humans, invocation));
  if (given === undefined && prompts === null)
    throw usageError(`\`${name}\` must give their passphrase, and there is no terminal`, FD_HINT);
  const human =
    given === undefined && prompts !== null
      ? await askUntilRight(invocation, `Passphrase of ${name}`, (typed) => humans.unlock(name, typed))
      : await humans.unlock(name, given ?? '');
  if (unlocking.adminFor !== undefined) await humans.demand(human.principal, 'admin', unlocking.adminFor);
  return human;
}

/** The human where a human's credential is given, or at a server no agent's; else the agent. */
export async function callerOf(invocation: Invocation): Promise<Principal> {
  const { args, env, server } = invocation;
  const human =
    args.text('as') !== undefined ||
    args.text('passphrase-fd') !== undefined ||
    (server !== null && !isAgentAt(env, server));
  return human ? (await unlockHuman(invocation)).principal : agentOf(invocation);
}

/** What anyone may read where the project is, a server shows to a human only. */
export async function signInAtServer(invocation: Invocation): Promise<void> {
  if (invocation.server !== null) await unlockHuman(invocation);
}

/** The agent whose key is in the environment, else the local one. A key that is not an agent's is never the local one. */
export async function identifyAgent({
  env,
  open,
  server,
}: Pick<Invocation, 'env' | 'open' | 'server'>): Promise<IdentifiedAgent> {
  if (server !== null) return agentAtServer(env, server);
  const key = env.PHASEGATE_KEY ?? '';
  if (key === '') return { principal: LOCAL_AGENT, capabilities: null };
  const project = await open();
  const found = await project.agents.identify(key);
  if (found !== null) return found;
  await project.noteCredentialFailure({ kind: 'agent_key', surface: 'cli' });
  throw new PhasegateError('credential_invalid', '`PHASEGATE_KEY` is not a key of an agent of this project', {
    hint: 'unset it, or make a key with `phasegate agents add NAME`',
  });
}

/** The agent that calls. */
export async function agentOf(
  invocation: Pick<Invocation, 'env' | 'open' | 'server'>,
): Promise<AgentPrincipal> {
  return (await identifyAgent(invocation)).principal;
}

/** The human where one is set up, proven by their passphrase; null before that, when anyone may. */
export async function humanOnceSetUp(
  invocation: Invocation,
  unlocking: Pick<Unlocking, 'adminFor'> = {},
): Promise<UnlockedHuman | null> {
  if (invocation.server !== null) return unlockHuman(invocation);
  if ((await (await invocation.open()).humans.list()).length === 0) return null;
  return unlockHuman(invocation, unlocking);
}

/** Through a socket in the file system the server knows the agent by its user; a human says who they are. */
function isAgentAt(env: Environment, { url }: Server): boolean {
  return hasAgentKey(env) || url.startsWith('unix:');
}

function hasAgentKey(env: Environment): boolean {
  return (env.PHASEGATE_KEY ?? '') !== '' || (env.PHASEGATE_CREDENTIALS_FD ?? '') !== '';
}

/** The server knows whose key it is and what they can do; the name here is only for show. */
function agentAtServer(env: Environment, server: Server): IdentifiedAgent {
  const { from } = server;
  if (isAgentAt(env, server)) {
    return { principal: { kind: 'agent', name: env.PHASEGATE_AGENT ?? 'agent' }, capabilities: null };
  }
  throw usageError(
    `\`${from}\` names a server, and there an agent needs the key it was given, in \`PHASEGATE_KEY\``,
    'make one with `phasegate agents add NAME`',
  );
}

/** The server looks who there is, and says so to nobody who has not signed in. */
async function signIn(invocation: Invocation, given: string | undefined): Promise<UnlockedHuman> {
  const { args, prompts, server } = invocation;
  const name = args.text('as');
  const { humans, lookForServer } = await invocation.reach();
  if (given !== undefined) return humans.unlock(name, given);
  await lookForServer?.().catch((error: unknown) => {
    throw namedBy(server, error);
  });
  if (prompts !== null) {
    // Anyone who types it sees where it goes.
    const at = server === null ? '' : ` at ${new URL(server.url).host || server.url}`;
    const of = name === undefined ? '' : ` of ${name}`;
    return askUntilRight(invocation, `Passphrase${of}${at}`, (typed) => humans.unlock(name, typed));
  }
  throw usageError(
    `at the server of \`${server?.from}\` this is for a human, who must give their passphrase, and there is no terminal`,
    FD_HINT,
  );
}

/** What named the server may be a variable that nobody remembers. */
function namedBy(server: Server | null, error: unknown): unknown {
  if (!(error instanceof PhasegateError) || server === null) return error;
  const { code, message, hint } = error;
  const more = { cause: error, ...(hint === undefined ? {} : { hint }) };
  return new PhasegateError(code, `${message}, the server that \`${server.from}\` names`, more);
}

/** A slip of the finger is no reason to begin anew. Each try is recorded and counted as if it came by itself. */
async function askUntilRight(
  { prompts, out }: Invocation,
  question: string,
  unlock: (typed: string) => Promise<UnlockedHuman>,
): Promise<UnlockedHuman> {
  for (let mistakes = 0; ; mistakes += 1) {
    try {
      return await unlock((await prompts?.password(asked(question, mistakes))) ?? '');
    } catch (error) {
      const isWrong = error instanceof PhasegateError && error.code === 'credential_invalid';
      if (!isWrong || mistakes === TRIES - 1) throw error;
      await out.log(error.message);
    }
  }
}

async function whichHuman(humans: Humans, { args, prompts }: Invocation): Promise<string> {
  const names = (await humans.list()).map(({ name }) => name);
  const [only] = names;
  if (only === undefined) {
    throw new PhasegateError('no_human', 'this is for a human, and none is set up', {
      hint: 'set one up with `phasegate init` or `phasegate humans add NAME`',
    });
  }
  const named = args.text('as');
  if (named !== undefined) return named;
  if (names.length === 1) return only;
  if (prompts === null) {
    throw usageError('there are several humans: say who with `--as NAME`', `humans: ${names.join(', ')}`);
  }
  return prompts.select('Who are you?', names);
}

import { PhasegateError } from '@phasegate/core';
import { oneLine } from '@phasegate/core/model';
import { HOOK_CLIENTS, isHookClient } from '../../../runtime/ports.ts';
import type { CliCommand, Invocation } from '../command.ts';
import { readLimited } from '../readLimited.ts';
import { usageError } from '../usage.ts';

/** `phasegate hook`: answers one event of a client's hooks. */
export const hook: CliCommand = {
  usage: ['hook CLIENT'],
  details:
    'Called by a client, which writes its event to stdin and reads the answer in its own words from stdout. Exit code 0\n' +
    'with an answer; 2 with the reason on stderr where none could be given, which clients take for a refusal.\n' +
    `CLIENT is ${HOOK_CLIENTS.join(', ')}.`,
  examples: ['phasegate hook claude < event.json'],
  options: {},
  positionals: ['CLIENT'],
  anywhere: true,
  server: 'ignored',
  async run(invocation) {
    const { args, out } = invocation;
    try {
      const answer = await answered(invocation, args.positionals[0] as string);
      await out.raw(`${JSON.stringify(answer)}\n`);
      return 0;
    } catch (error) {
      await out.log(`[phasegate] not allowed, because it could not be judged: ${reasonIn(error)}`);
      return 2;
    }
  },
};

async function answered(invocation: Invocation, client: string) {
  const { env, machine } = invocation;
  if (!isHookClient(client)) {
    throw usageError(`\`${client}\` is not a client whose hooks are known: ${HOOK_CLIENTS.join(', ')}`);
  }
  if (machine?.answerHook === undefined) throw usageError('hooks cannot be answered from here');
  const read = await readLimited(invocation.stdin, MOST_READ);
  const project = await invocation.project();
  const body = read === undefined ? null : read.toString('utf8');
  const { PHASEGATE_RUN: run, PHASEGATE_CLIENT_PATH: programs = env.PATH } = env;
  return machine.answerHook({ client, body, run, programs, project, open: invocation.open });
}

/** A little above what is judged, so that the answer to too much is the client's own. */
const MOST_READ = 8 * 1024 * 1024;

function reasonIn(error: unknown): string {
  const hint = error instanceof PhasegateError && error.hint !== undefined ? `; ${error.hint}` : '';
  return oneLine(`${error instanceof Error ? error.message : String(error)}${hint}`);
}

import { type JsonObject, PhasegateError, type StartRequest } from '@phasegate/core';
import { encodeStarted } from '@phasegate/wire';
import type { Arguments, CliCommand, Invocation } from '../command.ts';
import { type Begun, inWorktree, WORKTREE_DETAILS, WORKTREE_OPTION } from '../inWorktree.ts';
import { goalOf, paramsOf, START_OPTIONS } from '../params.ts';
import { reportNotStarted } from '../reportSubmitted.ts';
import { SHELL } from '../spell.ts';
import { describeRun } from '../text/describeRun.ts';
import { callerOf, HUMAN_OPTIONS } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** `phasegate start`: always makes a new run. */
export const start: CliCommand = {
  usage: [
    'start WORKFLOW [GOAL] [--target FILE] [--param k=v…] [--option k=v…] [--queue] [--priority N] [--capability C…] [--worktree]',
  ],
  details:
    'GOAL says in your words what the run is to achieve: at most 2,000 characters, in quotes, for the whole run. It is\n' +
    'shown to everybody who works on the run or decides in it, with who wrote it: you, with --as; else the agent that\n' +
    'started the run. It decides nothing.\n' +
    'Values are JSON where the workflow does not ask for text. `--option` is another name of `--param`.\n' +
    'A run waits in the queue with --queue, with --as, as no human holds one, and where another run has the workspace.\n' +
    'It is begun by `phasegate run RUN`, `phasegate claim RUN`, `phasegate agent start` or over the API. An agent that starts a run\n' +
    'without --queue holds it, so it must be able to do what the workflow asks for, and says so with --capability\n' +
    'where nobody did when it was added.\n' +
    WORKTREE_DETAILS,
  examples: [
    'phasegate start tdd "add a subtract function"',
    'phasegate start tdd --target src/parser.ts',
    'phasegate start release --param mode=quick --json',
    'phasegate start tdd --queue --priority 5 --capability python',
  ],
  options: {
    ...START_OPTIONS,
    queue: { type: 'flag', summary: 'leave the run for an agent to claim' },
    priority: {
      type: 'text',
      value: 'N',
      summary: 'a place in the queue: higher is claimed first (default 0)',
    },
    capability: { type: 'texts', value: 'C', summary: 'what an agent must be able to do to have the run' },
    ...WORKTREE_OPTION,
    ...HUMAN_OPTIONS,
    as: {
      ...HUMAN_OPTIONS.as,
      summary:
        'start it as this human, by their passphrase: the goal is signed as theirs, and the run queued',
    },
  },
  positionals: ['WORKFLOW', '[GOAL]'],
  server: 'used',
  async run(invocation) {
    if (invocation.args.flag('worktree')) return inWorktree(invocation, startHere);
    return (await startHere(invocation)).code;
  },
};

/** Starts the run in the folder of the call; the id of the run, where one was made. */
async function startHere(invocation: Invocation): Promise<Begun> {
  const { args, out } = invocation;
  const workflow = args.positionals[0] as string;
  const goal = goalOf(args);
  // A server tells the params to callers it knows; here a definition that is wrong is said before anyone is asked.
  const known = invocation.server === null ? null : await callerOf(invocation);
  const params = await paramsOf(invocation, workflow).catch(untyped);
  const target = args.text('target');
  const request: StartRequest = {
    workflow,
    params,
    ...goal,
    queue: args.flag('queue'),
    ...queuePlace(args),
    ...(target === undefined ? {} : { target }),
  };
  const caller = known ?? (await callerOf(invocation));
  const { verdict, view } = await (await invocation.reach()).as(caller).start(request);
  if (view === null) return { code: await reportNotStarted(out, verdict), run: null };
  // Which run it waits for, and what ends that, stands in the description already.
  const isToldThere = (code: string) => code === 'run_exists' && view.waitsFor !== undefined;
  const warnings = (verdict.warnings ?? []).filter(({ code }) => !isToldThere(code));
  const notes = warnings.map(({ message }) => `note: ${message}`);
  await out.result(encodeStarted(view, verdict, SHELL), () => [describeRun(view, out), ...notes].join('\n'));
  return { code: 0, run: view.run };
}

/** Params of code that nobody accepted cannot be known; the start is refused, and that is recorded. */
function untyped(error: unknown): JsonObject {
  if (error instanceof PhasegateError && error.unaccepted !== undefined) return {};
  throw error;
}

function queuePlace(args: Arguments): Pick<StartRequest, 'priority' | 'capabilities'> {
  const priority = args.text('priority');
  const capabilities = args.texts('capability');
  if (priority !== undefined && !/^-?\d{1,9}$/.test(priority)) {
    throw usageError(
      `\`--priority\` needs a whole number, not \`${priority}\``,
      'leave it out for 0; what is higher is claimed first',
    );
  }
  return {
    ...(priority === undefined ? {} : { priority: Number(priority) }),
    ...(capabilities.length === 0 ? {} : { capabilities }),
  };
}

import { PhasegateError, type Run, type StartRequest } from '@phasegate/core';
import { isRunId } from '@phasegate/core/contract';
import { oneLine, type Ring, shellWord } from '@phasegate/core/model';
import type { AgentPrincipal, Driven, DriveRequest, OpenProject } from '../../../runtime/ports.ts';
import {
  demandInstalled,
  demandNoTerminal,
  type NamedAgent,
  namedAgent,
  PRESET_NAMES,
} from '../agentProgram.ts';
import type { Arguments, CliCommand, ExitCode, Invocation, Machine } from '../command.ts';
import { demandSandbox } from '../demandSandbox.ts';
import { type Begun, inWorktree, WORKTREE_DETAILS, WORKTREE_OPTION } from '../inWorktree.ts';
import { goalOf, paramsOf, START_OPTIONS } from '../params.ts';
import { showProgress } from '../progress.ts';
import { reportNotStarted } from '../reportSubmitted.ts';
import { runOf, wholeRun } from '../runOf.ts';
import { visibleJson } from '../text/visible.ts';
import { identifyAgent } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** `phasegate run`: drives a run to its end, or to where a human must act. */
export const run: CliCommand = {
  usage: [
    'run WORKFLOW [GOAL] [--param k=v…] [--target FILE] [--agent NAME|COMMAND] [--sandbox] [--workers N] [--worktree]',
    'run [RUN] [--retry] [--agent NAME|COMMAND] [--sandbox] [--workers N]',
  ],
  details:
    'Starts a run of WORKFLOW (with GOAL, as `phasegate start` does), or goes on with RUN: executes command steps, starts\n' +
    'the agent for steps of an agent and for dispatched sub-agents, and pauses where a human must decide. A step with a\n' +
    'handler is an agent step where it has something to do (instructions, tasks, evidence): the agent works, then the\n' +
    `handler decides. With a title alone it is done by its handler. NAME is a client that is started with the flags\nit needs: ${PRESET_NAMES}.\n` +
    'It has Phasegate’s MCP tools and may run commands and edit files without asking: start it where that is fine.\n' +
    'COMMAND is split into words without a shell; `{prompt}` in them becomes the path of the prompt file, and without it\n' +
    'the prompt is on standard input.\n' +
    'Without --agent the prompt is printed and the run pauses. Ctrl-C leaves a run that can be continued: the step\n' +
    'that was interrupted is done again from its beginning.\n\n' +
    'With --sandbox the agent and all other programs run in a sandbox of their phase: they write what it may write, see\n' +
    'the workspace and the system, and reach the engine by MCP and the hosts that the config names (`sandbox.hosts`).\n' +
    'COMMAND finds the program that speaks MCP in PHASEGATE_MCP: a command line, its words separated by blanks.\n\n' +
    `${WORKTREE_DETAILS}\n\n` +
    'Progress goes to stderr, with --json as one JSON object a line. The exit code is 0 where the run is completed, or\n' +
    'paused for a human or an agent; 1 where it is escalated, stopped or interrupted.',
  examples: [
    'phasegate run w1_editing --param book=moby-dick',
    'phasegate run tdd "add a subtract function" --agent claude',
    'phasegate run RUN --agent "node agent.js --prompt {prompt}" --retry',
  ],
  options: {
    agent: {
      type: 'text',
      value: 'NAME|COMMAND',
      summary: `the program for agent steps and sub-agents: ${PRESET_NAMES}, or a command`,
    },
    adapter: { type: 'text', value: 'NAME', summary: 'subprocess (default) or tmux' },
    sandbox: {
      type: 'flag',
      summary: 'have the agent and every other program in a sandbox of its phase (bubblewrap)',
    },
    workers: { type: 'text', value: 'N', summary: 'items of a parallel step at a time (default 4)' },
    'step-timeout': { type: 'text', value: 'SECONDS', summary: 'for steps without a limit (default 1800)' },
    'wait-for-human': { type: 'flag', summary: 'at a gate, wait for the human and go on' },
    retry: { type: 'flag', summary: 'go on with a step that failed once, without being asked' },
    ...START_OPTIONS,
    ...WORKTREE_OPTION,
    capability: {
      type: 'texts',
      value: 'C',
      summary: 'what the agent can do, where nobody said so when it was added',
    },
  },
  positionals: ['[WORKFLOW|RUN]', '[GOAL]'],
  async run(invocation) {
    if (invocation.args.flag('worktree')) return inWorktree(invocation, runHere);
    return (await runHere(invocation)).code;
  },
};

async function runHere(invocation: Invocation): Promise<Begun> {
  const { args, out, machine } = invocation;
  if (machine === null) throw usageError('nothing can be driven from here');
  const line = args.text('agent');
  const named = line === undefined ? null : namedAgent(line);
  const wanted = wantedOf(args, named);
  const goal = goalOf(args);
  if (named !== null)
    demandInstalled(named, { env: invocation.env, root: (await invocation.project()).root });
  const { principal: agent, capabilities } = await identifyAgent(invocation);
  const able = capabilities ?? args.texts('capability');
  const open = await invocation.open();
  if (wanted.sandbox === true) await demandSandbox(open);
  const found = await findOrStart(invocation, open, { agent, goal });
  if (found === null) return { code: 1, run: null };
  const { id, snapshot } = found;
  if (snapshot !== undefined && !(await goesOn(invocation, snapshot))) return { code: 1, run: id };
  const driven = await drive(invocation, machine, {
    ...wanted,
    ...(line === undefined ? {} : { agentLine: line }),
    open,
    run: id,
    ...(snapshot === undefined ? {} : { snapshot }),
    agent: agent.name,
    capabilities: able,
  }).catch((error: unknown) => {
    throw snapshot === undefined ? stillThere(id, error) : error;
  });
  await out.result(driven, () => summary(driven));
  return { code: EXIT_CODES[driven.outcome], run: id };
}

/** What kept a new run from being driven leaves it there: another `run` with a goal would make one more. */
function stillThere(id: string, error: unknown): unknown {
  if (!(error instanceof PhasegateError) || error.hint !== undefined) return error;
  const { code, message, problems } = error;
  const run = shellWord(id);
  const hint = `the new run stays: go on with it then by \`phasegate run ${run}\`, or end it with \`phasegate stop ${run} --reason TEXT\``;
  return new PhasegateError(code, message, { cause: error, problems, hint });
}

/** Pausing where someone else has to act is what was asked for; anyone who scripts this tells them apart by `outcome`. */
const EXIT_CODES: Readonly<Record<Driven['outcome'], ExitCode>> = {
  completed: 0,
  waiting: 0,
  awaiting_agent: 0,
  escalated: 1,
  stopped: 1,
  interrupted: 1,
};

type Wanted = Pick<
  DriveRequest,
  'agentCommand' | 'agentPreset' | 'adapter' | 'workers' | 'stepTimeout' | 'waitForHuman' | 'sandbox'
>;

function agentOf(
  agent: NamedAgent | null,
  adapter: string,
): Pick<DriveRequest, 'agentCommand' | 'agentPreset'> {
  if (agent === null) return { agentCommand: null };
  if ('command' in agent) return { agentCommand: agent.command };
  demandNoTerminal(agent.preset, adapter);
  return { agentCommand: null, agentPreset: agent.preset.name };
}

function wantedOf(args: Arguments, agent: NamedAgent | null): Wanted {
  const adapter = args.text('adapter') ?? 'subprocess';
  if (adapter !== 'subprocess' && adapter !== 'tmux') {
    throw usageError(`there is no adapter \`${adapter}\``, 'adapters: subprocess, tmux');
  }
  return {
    adapter,
    ...agentOf(agent, adapter),
    workers: wholeNumber(args, 'workers', { preset: 4, most: 64 }),
    stepTimeout: wholeNumber(args, 'step-timeout', { preset: 1800, most: 86_400 }),
    waitForHuman: args.flag('wait-for-human'),
    sandbox: args.flag('sandbox'),
  };
}

function wholeNumber(
  args: Arguments,
  name: string,
  { preset, most }: { readonly preset: number; readonly most: number },
): number {
  const text = args.text(name);
  if (text === undefined) return preset;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= most) return value;
  throw usageError(`\`--${name}\` needs a number from 1 to ${most}, not \`${text}\``);
}

interface Found {
  readonly id: string;
  /** Of a run that was there before. */
  readonly snapshot?: Run;
}

interface Starting {
  readonly agent: AgentPrincipal;
  readonly goal: Pick<StartRequest, 'goal'>;
}

/**
 * The run of that id; else a new run of the workflow of that name; else the run whose id begins so; null where none could
 * be started.
 */
async function findOrStart(
  invocation: Invocation,
  open: OpenProject,
  starting: Starting,
): Promise<Found | null> {
  const { agent } = starting;
  // Where none was given, the only run of the agent is meant.
  const word = invocation.args.positionals[0] ?? (await runOf(invocation, agent, 'held'));
  const known = await underWay(invocation, open, { ...starting, word });
  if (known !== null) return known;
  if (isRunId(word)) throw unknownRun(word);
  return startNew(invocation, open, { ...starting, word }).catch(async (error: unknown) => {
    // A workflow may be called like the beginning of an id: only where none is, a run can be meant.
    if (!(error instanceof PhasegateError) || error.code !== 'workflow_unknown') throw error;
    const whole = await wholeRun(invocation, agent, word);
    const begun = whole === word ? null : await underWay(invocation, open, { ...starting, word: whole });
    if (begun !== null) return begun;
    throw /^run-[0-9a-f]+$/.test(word) ? unknownRun(word) : orRun(error);
  });
}

/** What is neither: a run may have been meant as well. */
function orRun({ code, message, hint }: PhasegateError): PhasegateError {
  const runs = '`phasegate runs` shows the runs';
  return new PhasegateError(code, message, { hint: hint === undefined ? runs : `${hint}; ${runs}` });
}

function unknownRun(word: string): PhasegateError {
  return new PhasegateError('run_unknown', `there is no run \`${word}\``, { hint: 'phasegate runs' });
}

/** The run of that id, to go on with; null where there is none. */
async function underWay(
  { args }: Invocation,
  open: OpenProject,
  { agent, goal, word }: Starting & { readonly word: string },
): Promise<Found | null> {
  const known = await open.claims.attend(word, agent).catch((error: unknown) => {
    if (error instanceof PhasegateError && error.code === 'run_unknown') return null;
    throw error;
  });
  if (known === null) return null;
  if (args.flag('worktree'))
    throw usageError(`run \`${word}\` is under way: \`--worktree\` is for starting one`);
  const given = [args.text('target'), goal.goal, ...args.texts('param'), ...args.texts('option')];
  if (given.every((one) => one === undefined)) return { id: known.id, snapshot: known };
  throw usageError(
    `run \`${word}\` is under way: a goal, \`--target\` and \`--param\` are for starting one`,
    'leave them out to go on with it; what it was started with stays',
  );
}

/** A new run of the workflow of that name; null where it was refused. */
async function startNew(
  invocation: Invocation,
  open: OpenProject,
  { agent, goal, word }: Starting & { readonly word: string },
): Promise<Found | null> {
  const { args, out } = invocation;
  const target = args.text('target');
  const params = await paramsOf(invocation, word);
  const capabilities = args.texts('capability');
  const ring: Ring = args.flag('sandbox') ? 'sandboxed' : 'served';
  const { verdict, view } = await open.as(agent, { ring }).start({
    workflow: word,
    params,
    ...goal,
    ...(capabilities.length === 0 ? {} : { capabilities }),
    ...(target === undefined ? {} : { target }),
  });
  if (view === null) {
    await reportNotStarted(out, verdict);
    return null;
  }
  await out.log(out.json ? JSON.stringify({ event: 'run_started', run: view.run }) : `run ${view.run}`);
  return { id: view.run };
}

/** What failed once is tried again only when a human says so, here or by `--retry`. */
async function goesOn(
  { args, out, prompts }: Invocation,
  { id, phase, status, work }: Run,
): Promise<boolean> {
  const failed = status === 'active' ? failuresOf(work) : [];
  if (failed.length === 0 || args.flag('retry')) return true;
  // With `--json` too: the faults of the command say it then.
  const said = failed.map(({ item, error }) =>
    item === null ? error : `item \`${oneLine(item)}\`: ${error}`,
  );
  if (prompts === null) {
    throw usageError(
      `step \`${phase}\` failed before: ${said.join('; ')}; there is no terminal to ask how to go on`,
      `go on with \`phasegate run ${shellWord(id)} --retry\`, or \`phasegate stop ${shellWord(id)} --reason TEXT\``,
    );
  }
  const told = [`step ${phase} failed before:`, ...said.map((line) => `- ${line}`)].join('\n');
  await out.log(
    out.json ? visibleJson(JSON.stringify({ event: 'failed_before', run: id, phase, failed })) : told,
  );
  const answer = await prompts.select('How shall it go on?', [AGAIN, LEAVE]);
  return answer === AGAIN;
}

/** What has failed since a human last gave the run back. */
function failuresOf({ attempts, failure, items }: Run['work']) {
  const own = attempts > 0 && failure !== null ? [{ item: null, error: failure }] : [];
  const ofItems = Object.entries(items ?? {}).flatMap(([item, { status, attempts: tried, error }]) =>
    status === 'completed' || tried === 0 || error === null ? [] : [{ item, error }],
  );
  return [...own, ...ofItems];
}

const AGAIN = 'try it again';
const LEAVE = 'leave the run as it is';

async function drive(
  invocation: Invocation,
  machine: Machine,
  wanted: Wanted & Pick<DriveRequest, 'agentLine' | 'open' | 'run' | 'snapshot' | 'agent' | 'capabilities'>,
): Promise<Driven> {
  const { env, out } = invocation;
  const progress = showProgress(out, { live: invocation.prompts !== null });
  try {
    return await machine.driveRun({
      ...wanted,
      project: await invocation.project(),
      environment: env,
      signal: machine.stopping(),
      report: progress.report,
    });
  } finally {
    await progress.end();
  }
}

function summary({ run: id, outcome, message }: Driven): string {
  const again = outcome === 'interrupted' ? `; go on with \`phasegate run ${shellWord(id)}\`` : '';
  return `run ${id}: ${message}${again}`;
}

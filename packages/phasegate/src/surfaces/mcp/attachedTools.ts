import type { CallToolResult, McpServer } from '@modelcontextprotocol/server';
import { isJsonObject, type Json, type Verdict } from '@phasegate/core';
import type {
  Admitted,
  AgentPrincipal,
  ExecutedCall,
  People,
  RunsOf,
  ToolCallRequest,
  ToolImplementation,
  Workshop,
} from '../../runtime/ports.ts';
import { textResult } from './boundResult.ts';
import { answerToFailure } from './failure.ts';
import type { LargeAnswers } from './largeAnswers.ts';
import { describedBy } from './schemas.ts';

/** Tools of servers that were attached: listed whole, judged when they are called. */
export interface AttachedTools {
  readonly tools: readonly Omit<ToolImplementation, 'run'>[];
  /** `carried` is what the request's authentication carries: a session outlives the token it was opened with. */
  execute(call: ToolCallRequest, carried: object | undefined): Promise<ExecutedCall>;
}

/** Who calls: an agent, and what its phase token says where it came with one. */
export interface AttachedCaller {
  readonly agent: AgentPrincipal;
  /** Null where the agent showed its key: then the one run it holds is meant. */
  admitted(carried: object | undefined): Admitted | null;
  /** The one run that is served to it; absent where it may mean any. */
  readonly run?: string | undefined;
}

/** The attached tools as one agent calls them. */
export async function attachedFor(
  project: RunsOf & Workshop,
  caller: AttachedCaller,
): Promise<AttachedTools> {
  const tools = (await project.toolbox.tools()).filter(({ name }) => name.startsWith(PREFIX));
  return {
    tools,
    async execute(call, carried) {
      const admitted = caller.admitted(carried) ?? (await onlyRunOf(project, caller));
      if (admitted === null) return withoutRun(project, caller.agent, call);
      const [executed] = await project.toolbox.execute(admitted, [call]);
      if (executed === undefined) throw new TypeError('one call has one answer');
      return executed;
    },
  };
}

/** The same for the one agent of this process; undefined where the config attaches no server. */
export async function attachedHere(
  project: RunsOf & Workshop & Pick<People, 'trust'>,
  caller: Pick<AttachedCaller, 'agent' | 'run'>,
): Promise<AttachedTools | undefined> {
  if ((await project.trust.servers.cards()).length === 0) return undefined;
  return attachedFor(project, { ...caller, admitted: () => null });
}

/** Puts them on a server under names that clients accept: `SERVER__TOOL`. */
export function registerAttached(server: McpServer, attached: AttachedTools, answers: LargeAnswers): void {
  for (const { name, description, input } of attached.tools) {
    server.registerTool(
      wireName(name),
      { description, inputSchema: describedBy(input) },
      (args: unknown, { http }) => {
        const call = { tool: name, input: isJsonObject(args) ? args : {} };
        return answer(() => attached.execute(call, http?.authInfo?.extra), answers);
      },
    );
  }
}

const PREFIX = 'mcp:';

function wireName(name: string): string {
  return name.slice(PREFIX.length).replace('/', '__');
}

/** The run an agent means where it shows no token: the one it is served, else the only one it holds; null where it holds none or several. */
async function onlyRunOf(
  project: RunsOf & Workshop,
  { agent, run }: Pick<AttachedCaller, 'agent' | 'run'>,
): Promise<Admitted | null> {
  const leases = (await project.claims.leases(agent.name)).filter(
    (one) => run === undefined || one.run === run,
  );
  // Without a key there is no lease: then it is the run that it began and that goes on.
  const held = leases.length > 0 ? leases : await activeRunsOf(project, agent, run);
  const [first] = held;
  if (first === undefined || new Set(held.map((one) => one.run)).size > 1) return null;
  const { phase, epoch, status } = await project.as(agent).view(first.run);
  if (phase === null || status !== 'active') return null;
  return { principal: agent, runId: first.run, phase, epoch, item: held.length === 1 ? first.item : null };
}

async function activeRunsOf(project: RunsOf, agent: AgentPrincipal, run: string | undefined) {
  const active = await project.as(agent).runs({ held: true, status: 'active' });
  return active
    .filter((one) => run === undefined || one.run === run)
    .map((one) => ({ run: one.run, item: null }));
}

async function withoutRun(
  project: RunsOf,
  agent: AgentPrincipal,
  use: ToolCallRequest,
): Promise<ExecutedCall> {
  const verdict = await project.as(agent).judgeTool(null, use);
  if (!verdict.allowed) return { verdict, result: null, receipt: null };
  // What may be read without a run has no workspace to be read in.
  const message = 'say which run is meant: call with its phase token';
  const nextAction = { act: 'start', text: message } as const;
  const refused: Verdict = { allowed: false, blockers: [{ code: 'no_run', message, nextAction }] };
  return { verdict: refused, result: null, receipt: null };
}

async function answer(execute: () => Promise<ExecutedCall>, answers: LargeAnswers): Promise<CallToolResult> {
  try {
    const { verdict, result, receipt } = await execute();
    if (verdict.allowed) {
      const told = { allowed: true, result: result as Json, receipt: receipt as Json };
      return { ...textResult(told, answers), isError: result?.ok !== true };
    }
    const [{ code, message, nextAction }] = verdict.blockers;
    return textResult({ allowed: false, error: code, message, next_action: nextAction.text }, answers);
  } catch (error) {
    const { answer: told, fault } = answerToFailure(error);
    return { ...textResult(told, answers), ...(fault ? { isError: true } : {}) };
  }
}

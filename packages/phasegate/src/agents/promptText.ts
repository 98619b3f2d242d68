import type { RunView } from '@phasegate/core';
import { fencedJson, oneLine } from '@phasegate/core/model';
import { criteriaPart, goalPart, joined } from '../launch/promptParts.ts';
import type { Claimed } from '../runtime/ports.ts';

/** The contract an agent is started with: what this is, the rules, where it stands, how to go on. Nothing later. */
export function promptText(
  claimed: Pick<Claimed, 'view' | 'item'>,
  told: {
    readonly url: string;
    readonly agent: string;
    /** Why the agent is started again; null at the first start. */
    readonly again: string | null;
    /** Whether it is in the sandbox of its phase. */
    readonly held?: boolean;
  },
): string {
  const { view, item } = claimed;
  return joined([
    `# You work on ${title(view)}`,
    told.again === null
      ? ''
      : `**You are started again:** ${oneLine(told.again)}. Everything up to the current phase is kept.`,
    told.held === true ? HELD_RULES : RULES,
    goalPart(view),
    place(view, told.agent),
    item === null
      ? ''
      : `## Your item\n\nYou hold the item \`${oneLine(item.key)}\` of this phase and complete that one only:\n\n${fencedJson(item.value)}`,
    view.current === null ? '' : `## The current phase\n\n${view.current.content.trim()}`,
    criteriaPart(view),
    told.held === true ? HELD_HOW_TO : howTo(told.url),
  ]);
}

const COMMON_RULES = `## The rules

Phasegate leads you through a workflow one phase at a time. The engine decides from what it has seen itself; what you say is a claim.

- Do what the current phase asks for, and nothing of a later one: later phases cannot be read or completed early.
- Use tools only through Phasegate. Every call is judged against the phase: what is not allowed is refused, and why is said.
- A phase is complete when the engine says so, not when the work seems done. Ask for the transition with the evidence; a refusal lists what is missing.
- At a gate a human decides, outside of your tools. Then stop: the one who started you sees to what comes after.
- If the evidence cannot be provided honestly, report that you are blocked.`;

const RULES = `${COMMON_RULES}
- Do not end before the run is completed, waits for a human, or you have reported that you are blocked.
- Keep the key and tokens to yourself: never print them, write them to files or pass them on a command line.`;

const HELD_RULES = `${COMMON_RULES}
- You are in a sandbox of the current phase: you can write what it may write, and nothing else. When the engine has accepted the phase you are ended, and an agent is started anew for the next.
- Do not end before the phase is accepted, the run waits for a human, or you have reported that you are blocked.`;

const HELD_HOW_TO = `## How to reach Phasegate

By MCP: your client has the tools, or starts the program in PHASEGATE_MCP; the file named by PHASEGATE_MCP_CONFIG has the entry for it. Call \`get_current_phase\`, \`get_task\` and \`complete_phase\` with PHASEGATE_RUN as session_id; every answer has next_action. \`phasegate\` commands do not work in the sandbox: the state is not there.`;

function title({ title: name, workflow, run, target }: RunView): string {
  const about = target === null ? '' : ` for ${oneLine(target)}`;
  return `run ${run} of ${name === workflow ? name : `${name} (${workflow})`}${about}`;
}

function place(view: RunView, agent: string): string {
  const done = view.completedPhases.length === 0 ? 'none' : view.completedPhases.join(', ');
  const { completed, total } = view.progress;
  return [
    '## Where the run stands',
    '',
    `- you are the agent \`${agent}\``,
    `- current phase: ${view.phase ?? 'none'} (${completed} of ${total} completed: ${done})`,
    ...(view.feedback === null ? [] : [`- ${view.feedback}`]),
    ...(Object.keys(view.params).length === 0
      ? []
      : [`- params: \`${oneLine(JSON.stringify(view.params))}\``]),
  ].join('\n');
}

function howTo(url: string): string {
  return `## How to reach Phasegate

Any of these; they are the same run.

- **MCP.** The server is \`${url}/mcp\` (Streamable HTTP) with your key as bearer; the file named by PHASEGATE_MCP_CONFIG has the entry for your client. Call \`get_current_phase\`, \`get_task\` and \`complete_phase\` with PHASEGATE_RUN as session_id; every answer has next_action.
- **Shell.** \`phasegate next\` shows the phase, \`phasegate task PHASE N\` a task, \`phasegate done --evidence -\` completes the phase with JSON from stdin, \`phasegate blocked --reason TEXT\` reports that you cannot; the run is the one in PHASEGATE_RUN. Add \`--json\` to read the answers with a program.
- **SDK.** \`import { connectFromEnvironment } from '@phasegate/sdk'\`; \`connectFromEnvironment()\` has this run in hand: \`getPhase\`, \`useTool\`, \`requestTransition\`.
- **HTTP.** \`${url}/api/v1\`, described in \`${url}/openapi.json\`. \`POST /tasks/token\` with your key as bearer and \`{"task_id": PHASEGATE_RUN}\` gives the phase token that all else takes: \`POST /tools/execute\`, \`POST /tasks/transition\`.

The environment has PHASEGATE_URL, PHASEGATE_RUN, PHASEGATE_AGENT and PHASEGATE_KEY. File descriptor 3 (PHASEGATE_CREDENTIALS_FD) holds one JSON object: url, agent, key, token, task and item.`;
}

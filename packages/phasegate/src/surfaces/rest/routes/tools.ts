import { type Dialect, encodeExecuted, encodeToolVerdict, type ToolVerdict } from '@phasegate/wire';
import { toolList, toolRequest, toolsExecuted, toolVerdicts } from '@phasegate/wire/schemas';
import type { ToolCallRequest } from '../../../runtime/ports.ts';
import { type Endpoint, endpoint, reply } from './endpoint.ts';
import { HTTP } from './spell.ts';

/** Tools behind the gate: asked for, carried out, listed. */
export const TOOL_ROUTES: readonly Endpoint[] = [
  endpoint({
    method: 'post',
    path: '/tools/check',
    operationId: 'checkTool',
    tag: 'tools',
    who: ['token'],
    summary: 'May this tool be used now?',
    description:
      'The verdict on one call, or on each of up to 50. Forbidden before allowed, deny by default, unknown tools refused; then constraints and write scope. The verdict is in the audit before it is answered. A refusal is 200 with `allowed: false`.',
    body: toolRequest,
    answers: {
      200: { description: 'the verdict, or `results` in the order of `calls`', schema: toolVerdicts },
    },
    async handle({ caller: { admitted }, body, parts }) {
      const { toolbox } = parts.project;
      const check = async (call: ToolCallRequest) =>
        encodeToolVerdict(await toolbox.check(admitted, call), admitted.runId, WORDS);
      if (body.calls === undefined) return reply(200, await check(callOf(body)));
      // One after the other: each is judged and recorded as if it had come alone.
      const results: ToolVerdict[] = [];
      for (const call of body.calls) results.push(await check(callOf(call)));
      return reply(200, { results });
    },
  }),
  endpoint({
    method: 'post',
    path: '/tools/execute',
    operationId: 'executeTool',
    tag: 'tools',
    who: ['token'],
    summary: 'Use a tool in the scope of the phase',
    description:
      'Judges the call as `/tools/check` does and, if it is allowed, carries it out in the workspace of the run and gives a signed receipt. A refused call is 200 with `allowed: false` and neither result nor receipt; a call that failed is `allowed: true` with `result.ok: false`. A batch is carried out in order, and the calls after a refused one are judged all the same.',
    body: toolRequest,
    answers: {
      200: { description: 'what came of it, or `results` in the order of `calls`', schema: toolsExecuted },
    },
    async handle({ caller: { admitted }, body, parts }) {
      const { toolbox } = parts.project;
      const calls = body.calls === undefined ? [callOf(body)] : body.calls.map(callOf);
      const executed = await toolbox.execute(admitted, calls);
      const results = executed.map((call) => encodeExecuted(call, admitted.runId, WORDS));
      const [only] = results;
      return reply(200, body.calls === undefined && only !== undefined ? only : { results });
    },
  }),
  endpoint({
    method: 'get',
    path: '/tools',
    operationId: 'listTools',
    tag: 'tools',
    who: ['token', 'agent', 'human'],
    summary: 'Every tool that can be carried out here',
    description:
      'With the JSON Schema of each input. Whether a phase allows one is judged when it is called.',
    answers: { 200: { description: 'the tools', schema: toolList } },
    async handle({ parts }) {
      const tools = await parts.project.toolbox.tools();
      return reply(200, {
        tools: tools.map(({ name, description, input }) => ({ name, description, input })),
      });
    },
  }),
];

function callOf(call: {
  readonly tool?: string | undefined;
  readonly input?: ToolCallRequest['input'] | undefined;
}): ToolCallRequest {
  return { tool: call.tool ?? '', input: call.input ?? {} };
}

/** A verdict on a tool is asked all day: it has no parts beside the call. */
const WORDS: Dialect = { ...HTTP.agent, steps: false };

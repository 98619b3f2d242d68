import { canonicalJson, type JsonObject } from '@phasegate/core';
import { tooDeep } from '@phasegate/core/model';
import type { ToolContext, ToolImplementation, ToolResult } from './ports.ts';
import { withoutOurPaths } from './withoutOurPaths.ts';

/** A result that says what went wrong. */
export function notOk(error: string, message: string): ToolResult {
  return { ok: false, output: { error, message } };
}

/**
 * Runs a tool to its end, whatever it does: one that throws, that goes on after it was told to stop, or that answers
 * with what is no JSON gives a result that is not `ok`.
 */
export async function runTool(
  tool: ToolImplementation,
  input: JsonObject,
  context: ToolContext,
): Promise<ToolResult> {
  const { promise: over, resolve } = Promise.withResolvers<ToolResult>();
  let timer: NodeJS.Timeout | undefined;
  const abort = () => {
    const late = context.signal.reason instanceof Error && context.signal.reason.name === 'TimeoutError';
    const why = late ? 'it took too long' : 'its phase was left or the server stops';
    timer = setTimeout(() => resolve(notOk('aborted', `\`${tool.name}\` was ended: ${why}`)), GRACE_MS);
  };
  context.signal.addEventListener('abort', abort, { once: true });
  if (context.signal.aborted) abort();
  try {
    return await Promise.race([over, attempt(tool, input, context)]);
  } finally {
    clearTimeout(timer);
    context.signal.removeEventListener('abort', abort);
  }
}

/** How long a tool may take to stop by itself. */
const GRACE_MS = 4_000;
const MAX_OUTPUT = 8 * 1024 * 1024;

async function attempt(
  tool: ToolImplementation,
  input: JsonObject,
  context: ToolContext,
): Promise<ToolResult> {
  try {
    const result = await tool.run(input, context);
    const problem = outputProblem(result);
    return problem === null ? result : notOk('tool_failed', `\`${tool.name}\` ran, but ${problem}`);
  } catch (error) {
    const reason =
      (error instanceof Error ? error.message : String(error)).split('\n')[0]?.slice(0, 500) ?? '';
    return notOk('tool_failed', `\`${tool.name}\` broke: ${withoutOurPaths(reason, context.workspace)}`);
  }
}

function outputProblem(result: ToolResult | undefined): string | null {
  if (typeof result?.ok !== 'boolean' || result.output === undefined) return 'gave no result';
  try {
    if (tooDeep(result.output)) return 'its result is nested too deep';
    return canonicalJson(result.output).length > MAX_OUTPUT ? 'its result is too large' : null;
  } catch {
    return 'its result is no JSON';
  }
}

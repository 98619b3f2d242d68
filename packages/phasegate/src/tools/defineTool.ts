import type { Json, JsonObject } from '@phasegate/core';
import { compileSchema, reasonOf } from '@phasegate/core/model';
import type { ToolContext, ToolImplementation, ToolResult } from '../runtime/ports.ts';
import { PathRefused } from '../workspace/pathRefused.ts';
import { SandboxUnavailable } from '../workspace/sandboxUnavailable.ts';

/** A failure of the thing asked for, in words for the agent. */
export class ToolFailure extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = 'ToolFailure';
    this.code = code;
  }
}

/**
 * Makes a tool of its schema and what it does. Inputs that do not fit are not run, a refused path or a failure is a
 * result that is not `ok`, and only what nobody expected is thrown.
 */
export function defineTool(tool: ToolImplementation): ToolImplementation {
  const schema = compileSchema(tool.input);
  if (!schema.ok) throw new TypeError(`the schema of \`${tool.name}\`: ${schema.problems[0]?.message}`);
  return {
    ...tool,
    async run(input, context) {
      const [problem] = schema.validate(input);
      if (problem !== undefined) {
        return failed(
          'input_invalid',
          `${problem.path === '' ? 'the input' : `\`${problem.path}\``}: ${problem.message}`,
        );
      }
      return settled(context, () => tool.run(input, context));
    },
  };
}

/** A result that says what went wrong. */
export function failed(error: string, message: string, more: JsonObject = {}): ToolResult {
  return { ok: false, output: { error, message, ...more } };
}

/** The words of a failure that an agent can act on; null for a fault. */
export function failureOf(error: unknown): { readonly error: string; readonly message: string } | null {
  if (error instanceof PathRefused || error instanceof SandboxUnavailable || error instanceof ToolFailure)
    return { error: error.code, message: error.message };
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  // What the file system says about a file of the workspace: its code, never a path of ours.
  return typeof code === 'string' && FILE_SYSTEM.has(code)
    ? { error: 'file_system', message: `the file system answered: ${reasonOf(error)}` }
    : null;
}

/** Texts of an input member that is a text or a list of them. */
export function textsOf(value: Json | undefined): readonly string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

const FILE_SYSTEM: ReadonlySet<string> = new Set([
  'EACCES',
  'EPERM',
  'ENOSPC',
  'EDQUOT',
  'EROFS',
  'EBUSY',
  'EISDIR',
  'ENOTDIR',
  'ENOENT',
  'ENAMETOOLONG',
  'EMFILE',
  'ENXIO',
  'EIO',
  'ELOOP',
]);

async function settled(context: ToolContext, run: () => Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await run();
  } catch (error) {
    const known = failureOf(error);
    if (known !== null) return failed(known.error, known.message);
    if (context.signal.aborted) return failed('aborted', 'the call was ended before it was done');
    throw error;
  }
}

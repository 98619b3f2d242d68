import type { Json, JsonObject } from '@phasegate/core';
import { reasonOf } from '@phasegate/core/model';
import { createPaced } from '../limits/paced.ts';
import type { ToolContext, ToolResult } from '../runtime/ports.ts';
import { cleanEnvironment } from '../workspace/cleanEnvironment.ts';
import { findBeneath } from '../workspace/openBeneath.ts';
import { relativePath } from '../workspace/relativePath.ts';
import type { Ended } from '../workspace/runProgram.ts';
import { failed, ToolFailure } from './defineTool.ts';
import { PATH } from './schemas.ts';

/** Inputs that every tool that runs a program has. */
export const PROGRAM_INPUTS: JsonObject = {
  timeout_ms: {
    type: 'integer',
    minimum: 1,
    maximum: 600_000,
    description: 'Milliseconds after which it and all it started are killed; 120000 by default',
  },
  cwd: { ...PATH, description: 'Folder to run in, relative to the workspace' },
};

/** A program to run for an agent. */
export interface Order {
  readonly argv: readonly [string, ...string[]];
  readonly input: JsonObject;
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Runs a program in the workspace with a clean environment, as a process group of its own that is killed as one.
 * Of what it prints the end is kept, since that is where a failure says what it is.
 */
export async function runInWorkspace(order: Order, context: ToolContext): Promise<ToolResult> {
  const cwd = await folderInside(context.workspace, order.input.cwd);
  const timeoutMs = typeof order.input.timeout_ms === 'number' ? order.input.timeout_ms : DEFAULT_TIMEOUT_MS;
  const clean = cleanEnvironment(process.env, context.workspace, order.environment ?? {});
  const environment = { ...clean, ...context.environment };
  const { runEnclosed } = await import('../workspace/runEnclosed.ts');
  const { signal, agent = '' } = context;
  const program = {
    argv: order.argv,
    cwd,
    environment,
    timeoutMs,
    maxOutputBytes: 0,
    tailBytes: TAIL_BYTES,
    signal,
  };
  const started = await starts.act(agent, async () =>
    signal.aborted ? null : { ended: runEnclosed(program, context.enclose) },
  );
  return started === null ? NOT_BEGUN : resultOf(await started.ended, timeoutMs, order.argv[0]);
}

/**
 * Nothing else happens in this process until a program has begun. An agent that runs one after the other, and none for
 * long, would keep everybody waiting; how many wait is bounded by its share of calls.
 */
const starts = createPaced({ what: 'programs', waiting: 1000 });
const NOT_BEGUN = failed('aborted', 'the call was ended before its command began', {});

/** The folder `cwd` names, or the workspace; no link may lead to it. */
export async function folderInside(root: string, given: Json | undefined = '.'): Promise<string> {
  const path = relativePath(String(given));
  if (path === null)
    throw new ToolFailure('path_outside', `\`cwd\` \`${given}\` is not inside the workspace`);
  const found = await findBeneath(root, path);
  if (found.kind === 'link')
    throw new ToolFailure('path_is_link', `\`cwd\` leads through the link \`${found.at}\``);
  if (found.kind !== 'folder')
    throw new ToolFailure('path_not_a_folder', `\`cwd\` \`${given}\` is not a folder`);
  return path === '' ? root : `${root}/${path}`;
}

const DEFAULT_TIMEOUT_MS = 120_000;
/** Of each stream. */
const TAIL_BYTES = 64 * 1024;

function resultOf(ended: Ended, timeoutMs: number, program: string): ToolResult {
  const { how, stdout, stderr, printed, notHeld } = ended;
  const output = {
    stdout: textOf(stdout),
    stderr: textOf(stderr),
    truncated: printed.stdout > stdout.length || printed.stderr > stderr.length,
    ...(notHeld === undefined ? {} : { not_held: [...notHeld] }),
  };
  switch (how.kind) {
    case 'exited':
      return { ok: how.code === 0, output: { exit_code: how.code, ...output }, exitCode: how.code };
    case 'not_started':
      return failed('not_started', `\`${program}\` could not be started: ${reasonOf(how)}`);
    case 'timed_out':
      return stopped('timed_out', `it did not end within ${timeoutMs} ms and was killed`, output);
    case 'aborted':
      return stopped('aborted', 'the call was ended before it was done, and the command was killed', output);
    case 'killed':
      return stopped('killed', `it was killed by ${how.signal}`, output);
    case 'printed_too_much':
      return stopped('killed', 'it printed too much and was killed', output);
  }
}

function stopped(error: string, message: string, output: JsonObject): ToolResult {
  return { ...failed(error, message, { exit_code: null, ...output }), exitCode: null };
}

/** A tail may begin inside a character. */
function textOf(bytes: Buffer): string {
  return bytes.toString().replace(/^\ufffd{1,3}/u, '');
}

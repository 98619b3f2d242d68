import { existsSync } from 'node:fs';
import { type ErrorCode, own, PhasegateError, type Problem } from '@phasegate/core';
import { linesOf, oneLine, shellWord, systemReason } from '@phasegate/core/model';
import { encodeFault } from '@phasegate/wire';
import { Cancelled } from './cancelled.ts';
import type { ExitCode } from './command.ts';
import type { Environment } from './environment.ts';
import type { Output } from './output.ts';
import { closureText } from './text/unacceptedText.ts';

// What the caller wrote is wrong (2); everything else was refused or failed (1).
const CALLERS_FAULTS: ReadonlySet<ErrorCode> = new Set([
  'usage',
  'workflow_invalid',
  'config_invalid',
  'workflow_ambiguous',
  'evidence_unreadable',
  'file_unreadable',
  'range_unreadable',
  'path_outside',
  'too_large',
  'no_human',
  'source_parse_failed',
  'template_not_found',
]);

/** Says what went wrong, in words or as `{error, message, hint?, problems?, unaccepted?}`, and gives the exit code. */
export async function reportFailure(error: unknown, out: Output, env: Environment): Promise<ExitCode> {
  if (error instanceof Cancelled) {
    if (out.json) await out.result({ cancelled: true, message: error.message }, () => '');
    else await out.log(error.message);
    return 1;
  }
  const fault = asFault(error);
  if (out.json) await out.result(encodeFault(fault), () => '');
  else await out.log(faultText(fault, out));
  if (env.PHASEGATE_DEBUG === '1') await out.log(causes(error));
  return CALLERS_FAULTS.has(fault.code) ? 2 : 1;
}

/** One problem as compilers print them. */
export function problemLine({ file, line, column, message, severity }: Problem): string {
  return `${oneLine(file)}:${line}:${column}: ${severity === 'note' ? 'note: ' : ''}${oneLine(message)}`;
}

function asFault(error: unknown): PhasegateError {
  if (error instanceof PhasegateError) return withArchive(error);
  const refused = systemReason(error);
  if (refused !== null) {
    const { reason, hint } = refused;
    return new PhasegateError('file_unreadable', `${whatRefused(error)}: ${reason}`, { cause: error, hint });
  }
  const message = error instanceof Error ? error.message : String(error);
  return new PhasegateError('internal', `something unexpected went wrong: ${message}`, {
    cause: error,
    hint: 'run it again with PHASEGATE_DEBUG=1 for the cause, and report it',
  });
}

/** Where an archived run can be read, to one who is where its file is. */
function withArchive(error: PhasegateError): PhasegateError {
  const [run, file] = [own(error.cause, 'run'), own(error.cause, 'file')];
  if (error.code !== 'run_archived' || typeof run !== 'string' || typeof file !== 'string') return error;
  const search = `\`grep ${shellWord(run)} ${shellWord(file)}\` prints its records`;
  const hint = existsSync(file)
    ? search
    : `there is nothing at \`${oneLine(file)}\` any more: if the archive was moved, \`grep ${shellWord(run)} FILE\` prints its records, with FILE where it is now`;
  return new PhasegateError(error.code, error.message, { hint, cause: error });
}

/** What a failure of the system was about. */
function whatRefused(error: unknown): string {
  const [path, call] = [own(error, 'path'), own(error, 'syscall')];
  const named = typeof path === 'string' ? `\`${path}\`` : 'a file';
  return typeof call === 'string' && call.startsWith('spawn')
    ? `the program ${named} cannot be started`
    : `${named} cannot be used`;
}

function faultText(fault: PhasegateError, { paint }: Output): string {
  // A path in it may hold a line break: what follows must not read like a line of ours.
  const message = linesOf(fault.message).join('\n| ');
  const lines = [`${paint.red('error:')} ${message} ${paint.dim(`[${fault.code}]`)}`];
  const problems = fault.problems.map(problemLine);
  // What is the whole message already is not said again below it.
  if (problems.length !== 1 || problems[0] !== fault.message)
    lines.push(...problems.map((line) => `  ${line}`));
  if (fault.hint !== undefined) lines.push(`${paint.cyan('hint:')} ${fault.hint}`);
  if (fault.unaccepted !== undefined) lines.push(closureText(fault.unaccepted));
  return lines.join('\n');
}

function causes(error: unknown): string {
  const lines: string[] = [];
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    lines.push(cause.stack ?? cause.message);
  return lines.join('\ncaused by: ');
}

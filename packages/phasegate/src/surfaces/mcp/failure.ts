import { ERROR_CODES, type ErrorCode, type JsonObject, PhasegateError } from '@phasegate/core';
import { shellWord } from '@phasegate/core/model';
import { encodeSessionFault } from '@phasegate/wire';

// About the caller's own things: an agent reads the answer and goes another way. Everything else is a fault.
const REFUSALS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'workflow_unknown',
  'workflow_ambiguous',
  'workflow_invalid',
  'untrusted_workflow',
  'code_changed',
  'run_unknown',
  'run_archived',
  'not_permitted',
  'token_dead',
  'evidence_unreadable',
  'file_unreadable',
  'path_outside',
  'too_large',
  'source_parse_failed',
  'template_not_found',
]);

/** What is answered when something was thrown: a refusal in the contract's words, or a fault. Never a stack. */
export function answerToFailure(error: unknown): { readonly answer: JsonObject; readonly fault: boolean } {
  const failure = asFailure(error);
  return {
    answer: { ...encodeSessionFault(failure), ...inOurWords(failure) },
    fault: !REFUSALS.has(failure.code),
  };
}

/** The codes and next calls of this surface, where the command line's would mislead. */
function inOurWords({ code, hint, unaccepted }: PhasegateError): JsonObject {
  switch (code) {
    case 'run_unknown':
      return {
        error: 'session_unknown',
        hint: '`start_workflow` gives a session_id, also that of a run under way',
        next_action: 'list_workflows()',
      };
    case 'run_archived':
      return { hint: '`start_workflow` starts another run', next_action: 'list_workflows()' };
    case 'not_permitted':
      return { error: 'not_your_run', next_action: 'list_workflows()' };
    case 'token_dead':
      return { next_action: "ask for a fresh token with the agent's key, and look at the phase again" };
    case 'workflow_unknown':
      return { next_action: 'list_workflows()' };
    case 'untrusted_workflow':
      return {
        hint: `a human accepts it with \`${unaccepted === undefined ? (hint ?? 'phasegate trust') : `phasegate trust ${shellWord(unaccepted.workflow)}`}\``,
        next_action: 'tell a human, and call start_workflow again once it is accepted',
      };
    case 'file_unreadable':
    case 'path_outside':
    case 'source_parse_failed':
    case 'template_not_found':
      return { next_action: 'start_workflow(…) again once this is corrected' };
    case 'usage':
      return { next_action: 'call again with the arguments corrected' };
    case 'run_changed':
      return { hint: 'someone else moved the run', next_action: 'get_workflow_state(session_id)' };
    default:
      return { next_action: 'tell a human what this says' };
  }
}

/** Faults of the inside: their messages name files of ours, which are no business of an agent's. */
const INSIDE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'state_tampered',
  'audit_broken',
  'store_newer',
  'store_corrupt',
  'store_unavailable',
  'keys_unavailable',
  'config_invalid',
  'internal',
]);

function asFailure(error: unknown): PhasegateError {
  if (error instanceof PhasegateError && !INSIDE.has(error.code)) return error;
  const known = error instanceof PhasegateError ? error : null;
  const code = known?.code ?? 'internal';
  const cause = 'a human finds the cause with `phasegate doctor`, or on stderr of the server';
  const uncertain = known?.uncertain ?? false;
  const hint = uncertain ? `${known?.hint ?? ''}; ${cause}` : cause;
  return new PhasegateError(code, ERROR_CODES[code], { cause: error, hint, uncertain });
}

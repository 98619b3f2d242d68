/** Every fault Phasegate reports, with what it means. `docs/errors.md` says the same; a test compares them. */
export const ERROR_CODES = {
  workflow_invalid: 'a definition has problems; each is listed with file, line and column',
  workflow_unknown: 'no workflow of that name was found in the project',
  workflow_ambiguous: 'two files define a workflow of that name',
  untrusted_workflow: 'a human is set up and has not accepted these files',
  code_changed: 'the code of a TypeScript workflow is not the code the run was started with',
  run_unknown: 'there is no run with that id',
  run_archived: 'the run ended long ago and is in an archive',
  run_changed: 'someone else changed the run at the same time, or the work was done for an earlier visit',
  run_driven: 'another runner drives the run',
  state_tampered: 'a stored run does not match its seal',
  audit_broken: 'the audit chain does not verify',
  store_newer: 'the database was written by a newer version',
  store_corrupt: 'the database cannot be read',
  store_unavailable: 'the database cannot be opened or written',
  keys_unavailable: 'the keys that this server shares with others cannot be read or believed',
  config_invalid: 'the configuration file has problems',
  usage: 'the command was called wrongly',
  no_human: 'a human must act and none is set up',
  not_permitted: 'this principal may not do that',
  credential_invalid: 'the passphrase or token is wrong',
  token_invalid: 'the phase token is not valid',
  token_expired: 'the phase token has expired',
  token_dead: 'the phase token is of another run, phase, agent or earlier epoch',
  agent_unknown: 'there is no agent of that name',
  rate_limited: 'too many failed credentials, or too many at once',
  request_invalid: 'a request does not have the shape its route asks for; every problem is listed',
  route_unknown: 'there is no such route, or not with that method',
  server_unreachable: 'the server does not answer',
  server_running: 'a server of this project is running already',
  database_busy: 'the database of a workflow is in use by another process for too long',
  database_changed: 'someone else wrote to the database of a workflow during a step',
  database_refused: 'a statement is not allowed on the protected database',
  sandbox_unavailable: 'a program must be held by a sandbox, and that sandbox cannot be made',
  deps_not_frozen: 'dependencies could not be installed into the folder of the engine',
  tool_unavailable: 'the tool is allowed and cannot be carried out here',
  evidence_unreadable: 'the evidence is not a JSON object or is too large',
  function_failed: 'a function of a TypeScript workflow threw or hung',
  file_unreadable: 'a file cannot be read',
  guarded_changed: 'files of the guard itself were changed, and neither accepted nor put back',
  fence_failed: 'the workspace cannot be measured, or compared with what it was',
  worktree_failed: 'a git worktree for a run cannot be made or removed',
  range_unreadable: 'a range of commits cannot be read from the repository',
  bundle_invalid: 'a bundle of contents is not signed by a key that is pinned',
  path_outside: 'a path leaves the project',
  too_large: 'a file or value is over the size limit',
  source_parse_failed: 'nothing usable was found in the source of a dynamic workflow',
  template_not_found: 'a template of a dynamic workflow is not there',
  internal: 'a fault of Phasegate itself',
} as const;

/** The code of a fault. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** A fault: thrown once, with a code from the table, about the user's things rather than ours. */
export class PhasegateError extends Error {
  readonly code: ErrorCode;
  /** Where in which file, when a definition is at fault. */
  readonly problems: readonly Problem[];
  /** What to do next. */
  readonly hint: string | undefined;
  /** True where what was asked for may have been carried out all the same. */
  readonly uncertain: boolean;
  /** With `untrusted_workflow`: what could be read of it without running any of it. */
  readonly unaccepted: Unaccepted | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    details: {
      readonly cause?: unknown;
      readonly problems?: readonly Problem[];
      readonly hint?: string;
      readonly uncertain?: boolean;
      readonly unaccepted?: Unaccepted;
    } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'PhasegateError';
    this.code = code;
    this.problems = details.problems ?? [];
    this.hint = details.hint;
    this.uncertain = details.uncertain ?? false;
    this.unaccepted = details.unaccepted;
  }
}

/** A workflow that no human has accepted, as its files tell it. */
export interface Unaccepted {
  /** Its id, as far as it is written out in the file; else the name of the file. */
  readonly workflow: string;
  readonly path: string;
  /** SHA-256 over all its files; what `trust` accepts. */
  readonly closure: string;
  /** Path relative to the project → SHA-256. */
  readonly files: Readonly<Record<string, string>>;
}

/** One thing wrong with a definition, as `validate` prints it. Lines and columns count from 1. */
export interface Problem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly code: string;
  readonly message: string;
  /** A note does not make the definition invalid. */
  readonly severity: 'error' | 'note';
  /** What to do about it, where the message does not say. */
  readonly hint?: string;
}

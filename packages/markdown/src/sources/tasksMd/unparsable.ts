import { PhasegateError } from '@phasegate/core';

/** The fault of a source in which nothing usable was found, with file and line. */
export function unparsable(path: string, line: number, reason: string, cause?: unknown): PhasegateError {
  return new PhasegateError('source_parse_failed', `Could not parse ${path}: ${reason}`, {
    cause,
    hint: 'Verify tasks.md follows spec format',
    problems: [
      { file: path, line, column: 1, code: 'source_parse_failed', message: reason, severity: 'error' },
    ],
  });
}

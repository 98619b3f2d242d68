import { randomBytes } from 'node:crypto';

/** An id that no other run has. */
export function newRunId(): string {
  return `run-${randomBytes(10).toString('hex')}`;
}

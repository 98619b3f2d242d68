/** What came of a step. `DEFAULT` is a key of `next` only: it serves every outcome that is not in the map. */
export const Outcome = {
  OK: 'ok',
  FAIL: 'fail',
  SKIP: 'skip',
  ITERATE: 'iterate',
  DEFAULT: '_default',
} as const;

/** One of the values of `Outcome`. */
export type Outcome = (typeof Outcome)[keyof typeof Outcome];

/** Agents a step is commonly handed to; any other name is legal too. */
export const AgentRole = {
  QUALITY_REVIEWER: 'quality-reviewer',
  DEVELOPER: 'developer',
  ARCHITECT: 'architect',
  TECHNICAL_WRITER: 'technical-writer',
  EXPLORER: 'explorer',
} as const;

/** One of the values of `AgentRole`. */
export type AgentRole = (typeof AgentRole)[keyof typeof AgentRole];

/** What a quality review says: `PASS` becomes the outcome `ok`, `FAIL` becomes `fail`. */
export const QRStatus = {
  PASS: 'pass',
  FAIL: 'fail',
} as const;

/** One of the values of `QRStatus`. */
export type QRStatus = (typeof QRStatus)[keyof typeof QRStatus];

/** The outcome of a review's status, in either case; undefined for anything that is not a status. */
export function outcomeOfStatus(status: unknown): typeof Outcome.OK | typeof Outcome.FAIL | undefined {
  if (typeof status !== 'string') return undefined;
  switch (status.toLowerCase()) {
    case QRStatus.PASS:
      return Outcome.OK;
    case QRStatus.FAIL:
      return Outcome.FAIL;
    default:
      return undefined;
  }
}

import type { KnownCheck } from '@phasegate/core/model';
import type { CheckImplementation } from '../runtime/ports.ts';
import { artifactsPresent } from './artifactsPresent.ts';
import { citedReceipts } from './citedReceipts.ts';
import { command } from './command.ts';
import { expression } from './expression.ts';
import { files } from './files.ts';
import { jsonSchema } from './jsonSchema.ts';
import { madeFromThisTree } from './madeFromThisTree.ts';
import { submittedCheck } from './submitted.ts';
import { SUBMITTED_PLAN } from './submittedPlan.ts';
import { SUBMITTED_REVIEW } from './submittedReview.ts';
import { SUBMITTED_TESTS } from './submittedTests.ts';
import { tests } from './tests/tests.ts';
import { testsForCriteria } from './testsForCriteria.ts';

export { CheckTimeout } from './runOrder.ts';

/**
 * Every check a workflow may name. Functions of TypeScript workflows are not here: the runtime calls them itself,
 * and as they see what was submitted, their answers are `claimed`.
 */
export const CHECKS: readonly CheckImplementation[] = [
  expression,
  jsonSchema,
  command,
  tests,
  files,
  artifactsPresent,
  madeFromThisTree,
  citedReceipts,
  testsForCriteria,
  ...[...SUBMITTED_TESTS, ...SUBMITTED_PLAN, ...SUBMITTED_REVIEW].map(submittedCheck),
];

/** What `defineWorkflow` must know of them, by name. */
export function knownChecks(): Record<string, KnownCheck> {
  return Object.fromEntries(
    CHECKS.map(({ name, parameters, class: evidence, conditions, reads, verifiable }) => [
      name,
      {
        parameters,
        class: evidence,
        ...(conditions === undefined ? {} : { conditions }),
        ...(reads === undefined ? {} : { reads }),
        ...(verifiable === undefined ? {} : { verifiable }),
      },
    ]),
  );
}

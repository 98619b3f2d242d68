import type { CheckImplementation } from '../ports.ts';
import { type Guard, restoredMessage } from './guard.ts';

/** The shelf of checks, where one that runs a program is followed by a look at the guard's own files. */
export function guardedChecks(
  checks: readonly CheckImplementation[],
  guard: Guard,
): readonly CheckImplementation[] {
  return checks.map((check) => {
    if (check.verifiable !== true) return check;
    return {
      ...check,
      async run(input) {
        // Nothing of the workspace is within reach of it there.
        if (input.room !== undefined) return check.run(input);
        const { runId } = input.subject;
        await guard.hold(runId);
        const answer = await check.run(input);
        const restored = await guard.settle(runId);
        return restored.length === 0
          ? answer
          : { ...answer, passed: false, reason: restoredMessage(restored) };
      },
    };
  });
}

import { type Submitted, warningsOf } from '@phasegate/core';
import { type Guard, restoredMessage } from './guard.ts';
import type { Asked } from './mannerOf.ts';
import type { CheckImplementation } from './ports.ts';
import type { Runtime } from './runtime.ts';

/** The runtime with the guard's own files compared before a phase is completed, and let go when its run is not worked on. */
export function guardedRuntime(runtime: Runtime, guard: Guard): Runtime {
  const compared = async (runId: string, asked: Asked) =>
    'kind' in asked && (asked.kind === 'complete' || asked.kind === 'report_failure')
      ? guard.settle(runId)
      : [];
  return {
    ...runtime,
    async submit(runId, command, how) {
      const restored = await compared(runId, command);
      const kept = await runtime.submit(runId, command, how);
      await guard.release(runId);
      return { ...kept, submitted: withWord(kept.submitted, restored) };
    },
    as(principal, around) {
      const phasegate = runtime.as(principal, around);
      return {
        ...phasegate,
        async submit(runId, command) {
          const restored = await compared(runId, command);
          const submitted = await phasegate.submit(runId, command);
          await guard.release(runId);
          return withWord(submitted, restored);
        },
      };
    },
  };
}

/** The shelf of checks, where one that runs a program is followed by a look at the guard's own files. */
export function guardedChecks(
  checks: readonly CheckImplementation[],
  guard: Guard,
): readonly CheckImplementation[] {
  return checks.map((check) => {
    if (check.name !== 'command') return check;
    return {
      ...check,
      async run(input) {
        const { runId } = input.subject;
        await guard.hold(runId);
        const answer = await check.run(input);
        const restored = await guard.settle(runId);
        return restored.length === 0 ? answer : { passed: false, reason: restoredMessage(restored) };
      },
    };
  });
}

/** Refused or not, whoever handed in work is told what became of the files. */
function withWord(submitted: Submitted, restored: readonly string[]): Submitted {
  if (restored.length === 0) return submitted;
  const { verdict } = submitted;
  const warning = { code: 'scope_violation', message: restoredMessage(restored) } as const;
  const warnings = [...((verdict.allowed && verdict.warnings) || []), warning];
  return {
    verdict: verdict.allowed ? { ...verdict, warnings } : verdict,
    get view() {
      return submitted.view;
    },
    get answer() {
      return { ...submitted.answer, ...warningsOf(warnings) };
    },
  };
}

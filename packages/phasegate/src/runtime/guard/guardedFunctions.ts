import type { FunctionAnswer, FunctionCall, Functions } from '../ports.ts';
import { type Guard, restoredMessage } from './guard.ts';

/**
 * The functions of workflows, each followed by a look at the guard's own files: a human accepted the function, and it
 * may start a program that an agent wrote.
 */
export function guardedFunctions(
  functions: Functions,
  guard: Pick<Guard, 'hold' | 'settle'>,
): Pick<Functions, 'call'> {
  return {
    async call(request: FunctionCall): Promise<FunctionAnswer> {
      const runId = String(request.context.runId);
      await guard.hold(runId);
      const answer = await functions.call(request);
      const restored = await guard.settle(runId);
      return restored.length === 0 ? answer : { ok: false, kind: 'threw', reason: restoredMessage(restored) };
    },
  };
}

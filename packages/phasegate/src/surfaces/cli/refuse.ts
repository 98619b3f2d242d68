import type { BlockerCode } from '@phasegate/core';
import type { ExitCode } from './command.ts';
import type { Output } from './output.ts';
import { describeRefusal } from './text/describeAnswer.ts';

/** Prints a refusal the command line itself can see, in the engine's words for it: exit code 1. */
export async function refuse(
  out: Output,
  refusal: { readonly error: BlockerCode; readonly message: string; readonly next_action?: string },
): Promise<ExitCode> {
  await out.result(refusal, () => describeRefusal(refusal, out.paint));
  return 1;
}

import type { Workflow } from '@phasegate/core';
import type { DefinedWorkflow } from '../defineWorkflow.ts';
import { type GenerateOptions, generateInputs, type TestInput } from './generateInputs.ts';

/** As Vitest's `test`, or another's that takes a name and a function. */
export type MakesTests = (name: string, run: () => void | Promise<void>) => unknown;

/** Makes one test of each case, named by its id: `testEveryCase(test, workflow, async (input) => { … })`. */
export function testEveryCase(
  test: MakesTests,
  workflow: DefinedWorkflow | Workflow,
  run: (input: TestInput) => void | Promise<void>,
  options: GenerateOptions = {},
): void {
  for (const input of generateInputs(workflow, options)) test(input.id, () => run(input));
}

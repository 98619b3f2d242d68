import { type Check, oneLine, type Phase } from '@phasegate/core/model';
import type { Lack } from '@phasegate/core/ports';
import type { TreeFiles } from './loadedFiles.ts';
import { writableVerifier } from './verifierFiles.ts';

/** Why no room of this tree would verify what a check of a phase runs; null where what decides is known and out of reach. */
export function verifierLack(check: Check, phase: Phase, tree: TreeFiles): Lack | null {
  const deciding = writableVerifier(check, phase, tree);
  if (deciding === null) return null;
  if ('writable' in deciding) {
    return {
      code: 'verifier_in_scope',
      reason: `phase \`${phase.id}\` may write \`${deciding.writable}\`, which decides how \`${check.label}\` is judged`,
      nextStep: 'the author of the workflow takes it out of `writes`',
    };
  }
  return {
    code: 'verifier_unknown',
    reason: `what \`${oneLine(deciding.unknown.slice(0, 200))}\` runs is known only while it runs`,
    nextStep:
      'the author of the workflow names what it runs as `verifier`, or has it run without a recipe or a variable',
  };
}

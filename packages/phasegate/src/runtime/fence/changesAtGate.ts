import { PhasegateError, type Run } from '@phasegate/core';
import type { ChangesAtGate, Fence } from '../ports.ts';
import { fileAtGate, filesAtGate } from './diffAtGate.ts';

/** Tells people what the card of a gate has not the room for. */
export function createChangesAtGate(
  fence: Fence | undefined,
  load: (runId: string) => Promise<Run>,
): ChangesAtGate {
  const atGate = async (runId: string) => {
    const run = await load(runId);
    const files = fence === undefined ? undefined : await filesAtGate(fence, run);
    if (fence !== undefined && files !== undefined) return { fence, run, files };
    throw new PhasegateError('fence_failed', `nothing was measured for a gate of run \`${runId}\``, {
      hint: `phasegate status ${runId}`,
    });
  };
  return {
    files: async (runId) => (await atGate(runId)).files,
    async file(runId, path) {
      const { fence: files, run } = await atGate(runId);
      return fileAtGate(files, run, path);
    },
  };
}

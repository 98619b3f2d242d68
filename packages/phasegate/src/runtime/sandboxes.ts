import { PhasegateError, type Run } from '@phasegate/core';
import type { Enclose, Sandboxes } from './ports.ts';
import { encloseAlways, encloseFor, type HeldIn, heldOf, needsSandbox } from './sandboxing.ts';

/** The sandboxes of a project's runs. */
export function createSandboxes(
  { sandboxing, databases, workspace }: HeldIn,
  load: (runId: string) => Promise<Run>,
): Sandboxes {
  const place = async () => {
    const { realpath } = await import('node:fs/promises');
    return { workspace: await realpath(workspace), ...(databases === undefined ? {} : { databases }) };
  };
  return {
    state: async () =>
      (await sandboxing?.sandbox.state()) ?? {
        works: false,
        reason: 'programs of this project are not run here',
        nextStep: 'open the project on its own machine',
      },
    async mcp() {
      if (sandboxing === undefined) throw notHere();
      return sandboxing.sandbox.mcp();
    },
    isAsked: async (run) =>
      sandboxing !== undefined && (needsSandbox(heldOf(run)) || (await sandboxing.always())),
    async asked(runId) {
      if (sandboxing === undefined) return null;
      const enclose = await encloseFor(heldOf(await load(runId)), { sandboxing, ...(await place()) });
      return enclose === undefined ? null : withFaults(enclose);
    },
    async forRun(runId) {
      if (sandboxing === undefined) throw notHere();
      return withFaults(await encloseAlways(heldOf(await load(runId)), { sandboxing, ...(await place()) }));
    },
  };
}

function notHere(): PhasegateError {
  return new PhasegateError('sandbox_unavailable', 'programs of this project are not run here');
}

/** Why a sandbox cannot be made, as a fault for the one who asked for it. */
function withFaults(enclose: Enclose): Enclose {
  return (program) =>
    enclose(program).catch((error: unknown) => {
      const code = error instanceof Error && 'code' in error ? String(error.code) : '';
      if (error instanceof PhasegateError || !/^(?:path|sandbox)_/.test(code)) throw error;
      throw new PhasegateError('sandbox_unavailable', (error as Error).message, { cause: error });
    });
}

import { canonicalJson, type Json, type Run } from '@phasegate/core';
import type { Masking } from './masking.ts';
import type { Fence, Observing, Seal, Store } from './ports.ts';
import { makeReceipt } from './receipts.ts';
import { treesAround } from './treesAround.ts';

/** What it is built from. */
export interface ObservingParts {
  readonly store: Pick<Store, 'keep'>;
  readonly seal: Pick<Seal, 'sign'>;
  readonly measuring?: Pick<Fence, 'state'>;
  readonly masking?: Masking;
  /** SHA-256, hex. */
  hash(text: string): string;
  /** Milliseconds since the epoch. */
  now(): number;
  newId(): string;
  load(runId: string): Promise<Run>;
}

/** What the engine sees of programs that it runs for an agent by other ways than the toolbox. */
export function createObserving(parts: ObservingParts): Observing {
  const time = () => new Date(parts.now()).toISOString();
  return {
    async begin(runId, { argv, program, agent }) {
      const run = await parts.load(runId);
      const startedAt = time();
      const trees = await treesAround(parts.measuring, run);
      return async (exitCode) => {
        const input = argvHash(argv, parts.hash);
        const endedAt = time();
        const receipt = makeReceipt(
          {
            id: `receipt-${parts.newId().replace(/^run-/, '')}`,
            run: runId,
            phase: run.phase ?? '',
            epoch: run.epoch,
            agent: agent.name,
            tool: TOOL,
            input_hash: input,
            // It goes to the streams of the caller, and nobody reads along.
            output_hash: parts.hash(canonicalJson(null)),
            ok: exitCode === 0,
            exit_code: exitCode,
            argv: parts.masking?.mask([...argv]) ?? [...argv],
            program,
            ...(await trees()),
            started_at: startedAt,
            ended_at: endedAt,
          },
          parts.seal,
        );
        const note = {
          time: endedAt,
          principal: `agent:${agent.name}`,
          event: 'tool_executed',
          data: {
            tool: TOOL,
            ok: exitCode === 0,
            class: 'observed',
            receipt: { ...receipt } as unknown as Json,
          },
        } as const;
        const data = { receipt: receipt.id, epoch: run.epoch, at: startedAt, exit_code: exitCode };
        const key = `${runId}/${input}/${receipt.id}`;
        await parts.store.keep({ kind: OBSERVED, key, data }, { run: runId, audit: [note] });
        return receipt;
      };
    },
  };
}

/** As receipts and audit call it. */
const TOOL = 'exec';

/** The kind under which it is kept what the engine saw, until a client has reported it. */
export const OBSERVED = 'observed';

/** By which the report of a client is found to be about the same program. */
export function argvHash(argv: readonly string[], hash: (text: string) => string): string {
  return hash(canonicalJson({ argv: [...argv] }));
}

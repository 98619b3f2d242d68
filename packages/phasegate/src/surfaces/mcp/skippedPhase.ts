import type { Json, JsonObject, Phasegate } from '@phasegate/core';
import type { WorkflowOverview } from '@phasegate/core/engine';

/**
 * The refusal of a skipped phase, which also says so where the workflow has no such phase at all. The refusal itself
 * is the same in both cases: asking for a phase that is not there is an attempt to skip like any other.
 */
export async function withRange(
  refusal: JsonObject,
  requested: Json,
  { phasegate, run }: { readonly phasegate: Phasegate; readonly run: string },
): Promise<JsonObject> {
  if (refusal.error !== 'phase_sequence_violation') return refusal;
  const { phases } = await phasegate.overview(run);
  if (phases.some((phase) => isMeant(phase, requested))) return refusal;
  const message = `Phase ${String(requested)} not found (spec has ${phases.length} phases)`;
  return { ...refusal, detail: { error: 'phase_out_of_range', message } };
}

type TitledPhase = WorkflowOverview['phases'][number];

function isMeant({ id, number: position, name }: TitledPhase, requested: Json): boolean {
  const text = typeof requested === 'string' ? requested.trim() : requested;
  const number = text === '' || text === null ? Number.NaN : Number(text);
  return id === text || id === number || position === number || name === text;
}

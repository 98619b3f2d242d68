import { canonicalJson, type Json, type PhaseDraft, type PhaseId } from '@phasegate/core';
import { approvalGate, asksHuman } from '@phasegate/core/model';
import type { PhaseModel } from '@phasegate/core/ports';
import type { Report } from './report.ts';

const LISTS = ['preconditions', 'postconditions', 'fields', 'artifacts', 'gates', 'forbiddenTools'] as const;

/** What all files say of a phase together: checks, evidence and gates add up, anything else is said once. */
export function mergeModels(id: PhaseId, models: readonly PhaseModel[], report: Report): Partial<PhaseDraft> {
  const merged: Record<string, unknown> = {};
  const from: Record<string, string> = {};
  for (const model of models) {
    for (const [key, value] of Object.entries(model.draft)) {
      const known = merged[key];
      if (known === undefined) {
        merged[key] = value;
        from[key] = model.file;
      } else if ((LISTS as readonly string[]).includes(key)) {
        merged[key] = unique([...(known as readonly Json[]), ...(value as readonly Json[])]);
      } else if (canonicalJson(known as Json) !== canonicalJson(value as Json)) {
        const message = `\`${from[key]}\` and \`${model.file}\` say different things of \`${key}\` of phase \`${id}\`; say it in one place`;
        report.error(model.locate([key]) ?? { file: model.file, line: 1, column: 1 }, {
          code: 'conflict',
          message,
        });
      }
    }
  }
  const draft = merged as Partial<PhaseDraft>;
  return draft.gates === undefined ? draft : { ...draft, gates: withoutSimple(id, draft.gates) };
}

/** The short form asks for any human's yes; one that is written out says more and is enough. */
function withoutSimple(
  id: PhaseId,
  gates: NonNullable<PhaseDraft['gates']>,
): NonNullable<PhaseDraft['gates']> {
  const simple = canonicalJson(approvalGate(id) as unknown as Json);
  const others = gates.filter((gate) => canonicalJson(gate as unknown as Json) !== simple);
  return others.some(asksHuman) ? others : gates;
}

function unique(values: readonly Json[]): readonly Json[] {
  return [...new Map(values.map((value) => [canonicalJson(value), value])).values()];
}

import { asksHuman } from '@phasegate/core/model';
import type { PhaseModel } from '@phasegate/core/ports';
import { approvalLines } from './approvalProse.ts';
import type { PlacedPhase } from './placedPhase.ts';
import type { Report } from './report.ts';

/** The texts of a phase, and what its files say of it. */
export interface SpokenOf {
  readonly texts: readonly { readonly path: string; readonly text: string }[];
  readonly models: readonly PhaseModel[];
}

/** A text that promises a human's approval must not stand over a phase that an agent leaves alone. */
export function demandGate({ draft }: PlacedPhase, { texts, models }: SpokenOf, report: Report): void {
  const human = (draft.gates ?? []).some(asksHuman);
  if (human || models.some(({ noHuman }) => noHuman)) return;
  for (const { path, text } of texts) {
    for (const { line, sentence } of approvalLines(text)) {
      const said = sentence.replaceAll('`', "'").slice(0, 80);
      const message = `\`${said}\` demands a human, and phase \`${draft.id}\` has no human gate: add \`human_approval_required: true\` or \`human\` to its gate file or front matter, or \`human_gate: none\` with \`human_gate_reason\``;
      report.error({ file: path, line, column: 1 }, { code: 'approval_without_gate', message });
    }
  }
}

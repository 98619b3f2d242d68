import type { PhaseDraft, PhaseId } from '@phasegate/core';
import { type Document, readRequirements } from './checkpointProse.ts';
import type { EvidenceDraft, EvidenceFieldDraft } from './evidence.ts';
import { readExamples } from './evidenceExamples.ts';
import { readEvidenceTables } from './evidenceTable.ts';
import { readGateDefinition } from './gateDefinition.ts';
import type { MarkdownLine } from './markdownText.ts';
import { type Report, topOf } from './report.ts';
import type { MarkdownFile, WorkflowFolder } from './workflowFolder.ts';

/** The parts of a phase that ask for evidence. */
export type EvidenceParts = Pick<PhaseDraft, 'fields' | 'postconditions' | 'examples'>;

/** The phase evidence is read for. */
export interface PhaseWithFile {
  readonly id: PhaseId;
  readonly file: MarkdownFile;
  readonly hasGate: boolean;
}

/** What a phase asks for: its gate file where it has one, else the tables and the prose of `phase.md`. */
export async function phaseEvidence(
  folder: WorkflowFolder,
  within: string,
  { id, file, hasGate }: PhaseWithFile,
): Promise<{ readonly draft: EvidenceParts; readonly file: string }> {
  const { report } = folder;
  const gate = `${within}/gate-definition.yaml`;
  if (hasGate) {
    const text = await folder.read(gate);
    const path = folder.pathOf(gate);
    const evidence = text === null ? null : readGateDefinition(path, text, report);
    if (evidence === null) return { draft: {}, file: path };
    return { draft: draftOf({ id, evidence, lines: file.lines }, report), file: path };
  }
  const tables = readEvidenceTables(file.path, file.lines, report);
  const prose = readRequirements([{ file: file.path, from: 1, lines: file.lines }], report);
  const evidence = { fields: [...new Map([...prose, ...tables]).values()], crossRules: [] };
  if (evidence.fields.length === 0) {
    const message = `phase \`${id}\` asks for no evidence, so it is completed by saying so`;
    report.note(topOf(file.path), { code: 'no_evidence', message });
  }
  return { draft: draftOf({ id, evidence, lines: file.lines }, report), file: file.path };
}

/** What passages of the documentation ask for (S0.18, S0.27). */
export function evidenceFromPassages(
  id: PhaseId,
  requirements: readonly Document[],
  report: Report,
): EvidenceDraft & { readonly id: PhaseId } {
  return { id, fields: [...readRequirements(requirements, report).values()], crossRules: [] };
}

/** The evidence as the draft of a phase has it; says what was understood. */
export function draftOf(
  {
    id,
    evidence,
    lines,
  }: { readonly id: PhaseId; readonly evidence: EvidenceDraft; readonly lines: readonly MarkdownLine[] },
  report: Report,
): EvidenceParts {
  for (const field of evidence.fields) {
    const message = `phase \`${id}\` asks for ${understood(field)}`;
    report.note(field.at, { code: 'understood_evidence', message });
  }
  const fields = evidence.fields.map(({ name, type, rule, description }) => ({
    name,
    type,
    rule,
    description,
  }));
  const conditions = [
    ...evidence.fields.flatMap(({ name, condition, description }) =>
      condition === undefined
        ? []
        : [
            {
              condition,
              label: name,
              message: `${name} (validation failed: ${description || 'no description'})`,
            },
          ],
    ),
    ...evidence.crossRules.map(({ condition, message }) => ({ condition, label: message, message })),
  ];
  const examples = readExamples(lines, new Set(fields.map(({ name }) => name)));
  return {
    fields,
    ...(conditions.length === 0
      ? {}
      : {
          postconditions: conditions.map(({ condition, label, message }) => ({
            check: 'expression',
            label,
            message,
            with: { condition },
          })),
        }),
    ...(Object.keys(examples).length === 0 ? {} : { examples }),
  };
}

const RULES = {
  present: '',
  positive: ', above zero or not empty',
  non_empty: ', not empty',
  optional: ', optional',
  is_true: ', true',
};

function understood({ name, type, rule, condition }: EvidenceFieldDraft): string {
  return `\`${name}\`: ${type}${RULES[rule]}${condition === undefined ? '' : `, where \`${condition}\``}`;
}

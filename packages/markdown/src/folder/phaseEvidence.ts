import type { PhaseDraft, PhaseId } from '@phasegate/core';
import { type Document, readRequirements } from './checkpointProse.ts';
import type { EvidenceDraft, EvidenceFieldDraft } from './evidence.ts';
import { readExamples } from './evidenceExamples.ts';
import { readEvidenceTables } from './evidenceTable.ts';
import { readGateDefinition } from './gateDefinition.ts';
import type { PlacedObject } from './jsonTree.ts';
import type { MarkdownLine } from './markdownText.ts';
import { mergeEvidence } from './mergeEvidence.ts';
import type { Report } from './report.ts';
import type { MarkdownFile, WorkflowFolder } from './workflowFolder.ts';

/** The parts of a phase that ask for evidence. */
export type EvidenceParts = Pick<PhaseDraft, 'fields' | 'postconditions' | 'examples'>;

/** The phase evidence is read for. */
export interface PhaseWithFile {
  readonly id: PhaseId;
  readonly file: MarkdownFile;
  readonly hasGate: boolean;
}

/** What a phase asks for: its gate file, and the tables and the prose of `phase.md`. Both hold. */
export async function phaseEvidence(
  folder: WorkflowFolder,
  within: string,
  { id, file, hasGate }: PhaseWithFile,
): Promise<{ readonly draft: EvidenceParts; readonly file: string; readonly gate: PlacedObject | null }> {
  const { report } = folder;
  const tables = readEvidenceTables(file.path, file.lines, report);
  const documents = [{ file: file.path, from: 1, lines: file.lines }];
  const prose = readRequirements(documents, report, { beside: hasGate });
  const text = [...new Map([...prose, ...tables]).values()];
  if (hasGate) {
    const name = `${within}/gate-definition.yaml`;
    const read = await folder.read(name);
    const path = folder.pathOf(name);
    const gate = read === null ? null : readGateDefinition(path, read, folder);
    if (gate === null) return { draft: {}, file: path, gate: null };
    const evidence = { ...gate, fields: mergeEvidence(gate.fields, text, report) };
    return { draft: draftOf({ id, evidence, lines: file.lines }, report), file: path, gate: gate.source };
  }
  const draft = draftOf({ id, evidence: { fields: text, crossRules: [] }, lines: file.lines }, report);
  return { draft, file: file.path, gate: null };
}

/** What passages of the documentation ask for. */
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

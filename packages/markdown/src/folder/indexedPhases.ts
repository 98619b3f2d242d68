import type { PhaseDraft, PhaseId } from '@phasegate/core';
import type { Standards, StandardsResult, StartingWith } from '@phasegate/core/ports';
import { linesOf } from './markdownText.ts';
import type { Metadata } from './metadata.ts';
import { draftOf, evidenceFromPassages } from './phaseEvidence.ts';
import type { PlacedPhase } from './placedPhase.ts';
import { readModel } from './readModel.ts';
import { withModels } from './withModels.ts';
import type { WorkflowFolder } from './workflowFolder.ts';

/** The content of a phase that has no files. */
export interface PhaseContent {
  readonly phaseNumber: number;
  readonly content: string;
  readonly sources: readonly string[];
  readonly totalTokens: number;
}

/** The passages that are about one phase of a workflow. */
export async function loadPhaseContent(
  standards: Standards,
  workflow: string,
  phase: number,
): Promise<PhaseContent> {
  const query = `Phase ${phase} requirements commands checkpoint`;
  const { results, totalTokens } = await standards.search({ query, phase, workflow, limit: 3 });
  const own = ofPhase(results, phase);
  return {
    phaseNumber: phase,
    content: own.map((result) => result.content).join('\n\n'),
    sources: own.map((result) => result.file),
    totalTokens,
  };
}

/**
 * Phases of a workflow without phase files: content and requirements are looked up in the documentation when a run
 * starts, and kept with it. What is not found there is an error: a phase that asks for nothing would let all pass.
 */
export async function readIndexedPhases(
  folder: WorkflowFolder,
  { metadata, standards }: { readonly metadata: Metadata; readonly standards: Standards },
  starting: StartingWith | undefined,
): Promise<readonly PlacedPhase[]> {
  const file = folder.pathOf('metadata.json');
  const listed = phasesOf(metadata);
  if (starting === undefined) {
    const message =
      'there are no phase files: content and evidence are looked up in the documentation when a run starts';
    folder.report.note(metadata.at([]), { code: 'indexed_content', message });
    return listed.map((draft) => modelled({ draft, file, evidenceFile: file }, metadata, folder));
  }
  // What the documentation says is looked up at every start.
  folder.readings.neverStand();
  const phases: PlacedPhase[] = [];
  for (const draft of listed) {
    if (typeof draft.id !== 'number') {
      const message = `phase \`${draft.id}\` has no files, and only a phase with a whole number can be looked up`;
      folder.report.error(metadata.at(['phases']), { code: 'no_content', message });
      continue;
    }
    const found = await lookUp(folder, { metadata, standards }, draft.id);
    if (found !== null)
      phases.push(modelled({ draft: { ...draft, ...found }, file, evidenceFile: file }, metadata, folder));
  }
  return phases;
}

/** With what `metadata.json` says of the phase in the keys of the contract. */
function modelled(phase: PlacedPhase, metadata: Metadata, folder: WorkflowFolder): PlacedPhase {
  const { id } = phase.draft;
  const models = (metadata.phases ?? [])
    .filter((described) => described.id === id)
    .map(({ model }) => readModel({ ...model, id }, folder.report));
  return withModels(phase, models, folder.report);
}

async function lookUp(
  folder: WorkflowFolder,
  { metadata, standards }: { readonly metadata: Metadata; readonly standards: Standards },
  phase: number,
): Promise<Partial<PhaseDraft> | null> {
  const { id: workflow } = metadata;
  const { content, sources } = await loadPhaseContent(standards, workflow, phase);
  if (content.trim() === '') {
    const message = `nothing in the documentation is about phase ${phase} of \`${workflow}\``;
    folder.report.error(metadata.at([]), {
      code: 'no_content',
      message,
      hint: 'run `phasegate index` and look at the front matter',
    });
    return null;
  }
  const asked = await standards.search({
    query: `${workflow} Phase ${phase} checkpoint requirements evidence`,
    phase,
    workflow,
    tags: ['checkpoint', 'evidence'],
    limit: 3,
  });
  const documents = ofPhase(asked.results, phase).map((result) => ({
    file: result.file,
    from: result.line,
    lines: linesOf(result.content),
  }));
  const evidence = evidenceFromPassages(phase, documents, folder.report);
  if (evidence.fields.length === 0) {
    const message = `the documentation asks for no evidence in phase ${phase} of \`${workflow}\``;
    folder.report.error(metadata.at([]), {
      code: 'no_requirements',
      message,
      hint: 'tag the passage `checkpoint` or `evidence`',
    });
    return null;
  }
  const shown = await standards.search({
    query: `${workflow} Phase ${phase} evidence examples`,
    phase,
    workflow,
    tags: ['example', 'evidence'],
    limit: 2,
  });
  const lines = ofPhase(shown.results, phase).flatMap(({ content: text }) => linesOf(text));
  const message = `phase ${phase} is taken from ${[...new Set(sources)].map((source) => `\`${source}\``).join(', ')}`;
  folder.report.note(metadata.at([]), { code: 'indexed_content', message });
  return {
    content: { kind: 'text', text: content },
    ...draftOf({ id: phase, evidence, lines }, folder.report),
  };
}

/** A passage of another phase must not be served, whatever the search let through. */
function ofPhase(results: readonly StandardsResult[], phase: number): readonly StandardsResult[] {
  return results.filter((result) => result.phase === phase);
}

function phasesOf({ phases, totalPhases, startPhase }: Metadata): readonly PhaseDraft[] {
  const described = (phases ?? []).flatMap(({ id, name, purpose }) =>
    id === null ? [] : [{ id, name: name ?? `Phase ${id}`, description: purpose }],
  );
  if (described.length > 0) return described;
  const first = startPhase ?? 1;
  return Array.from({ length: Math.min(totalPhases?.count ?? 0, MOST_PHASES) }, (_, index) => {
    const id: PhaseId = first + index;
    return { id, name: `Phase ${id}` };
  });
}

const MOST_PHASES = 1000;

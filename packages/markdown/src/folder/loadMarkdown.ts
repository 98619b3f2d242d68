import { dirname, posix } from 'node:path';
import { defineWorkflow, type Known, type PhaseDraft, type WorkflowDraft } from '@phasegate/core';
import {
  type DraftProblem,
  GRAPH_CODES,
  type Readings,
  type Templates,
  WHOLE_CODES,
} from '@phasegate/core/model';
import type {
  DefinitionReader,
  Loaded,
  SourceFile,
  SourceParsers,
  Standards,
  StartingWith,
} from '@phasegate/core/ports';
import { readDynamicPhases } from './dynamicPhases.ts';
import { readIndexedPhases } from './indexedPhases.ts';
import { readJsonTree } from './jsonTree.ts';
import { type Metadata, readMetadata } from './metadata.ts';
import type { PlacedPhase } from './placedPhase.ts';
import { type Place, Report, topOf } from './report.ts';
import { readStaticPhases } from './staticPhases.ts';
import { WorkflowFolder } from './workflowFolder.ts';

/** What the loader is made of. */
export interface MarkdownLoaderOptions {
  readonly known: Known;
  /** Parsers of sources by name; asked for when a workflow has one. */
  readonly sources: () => Promise<SourceParsers>;
  readonly standards: Standards;
  /** Reads the files, as those of the other formats are read; asked for when one is. */
  readonly reader: () => Promise<DefinitionReader>;
}

/** What a load is for, and what it was made from. */
export interface MarkdownLoading {
  readonly starting: StartingWith | undefined;
  readonly readings: Readings;
}

/** A workflow, and whether it is made for the params of one start. */
export interface LoadedMarkdown extends Loaded {
  readonly dynamic: boolean;
}

/** Reads the folder of a workflow, checks and compiles it. Everything that is wrong is in `problems`. */
export async function loadMarkdown(
  { root, path }: SourceFile,
  options: MarkdownLoaderOptions,
  { starting, readings }: MarkdownLoading,
): Promise<LoadedMarkdown> {
  const report = new Report();
  const reading = { reader: await options.reader(), report, readings };
  let dynamic = false;
  const folder = new WorkflowFolder({ root, path: dirname(path) }, reading);
  const done = (workflow: Loaded['workflow']): LoadedMarkdown => ({
    dynamic,
    workflow: report.failed ? null : workflow,
    problems: report.inOrder(path),
    files: folder.files,
  });
  const text = await folder.read(posix.basename(path));
  const tree = text === null ? null : readJsonTree(path, text, reading);
  const metadata = tree === null ? null : readMetadata(tree, posix.basename(folder.path), report);
  if (metadata === null) return done(null);
  dynamic = metadata.dynamic !== null;
  const { phases, templates, source } = await readPhases(folder, metadata, options, starting);
  if (phases.length === 0) {
    if (!report.failed)
      report.error(metadata.at([]), { code: 'no_phases', message: `\`${folder.path}\` has no phases` });
    return done(null);
  }
  const broken = report.failed;
  const defined = defineWorkflow(
    {
      id: metadata.id,
      title: metadata.title,
      ...(metadata.version === undefined ? {} : { version: metadata.version }),
      description: metadata.description,
      params: metadata.params,
      capabilities: metadata.capabilities,
      ...(metadata.oneRunPer === undefined ? {} : { oneRunPer: metadata.oneRunPer }),
      ...(metadata.workspace === undefined ? {} : { enforcement: { workspace: metadata.workspace } }),
      ...(metadata.start === undefined ? {} : { start: metadata.start }),
      ...(source === undefined ? {} : { source }),
      phases: phases.map(({ draft }) => draft),
      ...(templates === null ? {} : { templates }),
    },
    options.known,
    // A report that sends its reader after consequences is worse than a short one.
    ({ code }) => !broken || !CONSEQUENCES.includes(code),
  );
  for (const problem of defined.ok ? defined.notes : defined.problems) {
    const at = placeOf(problem.path, metadata, phases);
    if (problem.severity === 'error') report.error(at, problem);
    else report.note(at, problem);
  }
  report.leaveOut(defined.leftOut);
  return {
    ...done(defined.ok ? defined.workflow : null),
    places: (draftPath) => placeOf(draftPath, metadata, phases),
  };
}

interface AllPhases {
  readonly phases: readonly PlacedPhase[];
  readonly templates: Templates | null;
  readonly source?: WorkflowDraft['source'];
}

async function readPhases(
  folder: WorkflowFolder,
  metadata: Metadata,
  { sources, standards }: MarkdownLoaderOptions,
  starting: StartingWith | undefined,
): Promise<AllPhases> {
  const statics = (await readStaticPhases(folder, metadata)) ?? [];
  const { dynamic: config } = metadata;
  if (config === null) {
    if (statics.length > 0 || folder.report.failed) return { phases: statics, templates: null };
    const phases = await readIndexedPhases(folder, { metadata, standards }, starting);
    return { phases, templates: null };
  }
  const ids = statics.map(({ draft }) => draft.id);
  const parts = { metadata, config, sources: await sources(), statics: ids };
  const { phases, templates, source } = await readDynamicPhases(folder, parts, starting);
  const all = [...statics, ...phases];
  if (all.length > 0) return { phases: all, templates, ...(source === undefined ? {} : { source }) };
  const file = folder.pathOf('metadata.json');
  return { phases: [{ draft: LATER, file, evidenceFile: file }], templates };
}

/** Stands for the phases of a workflow that has none of its own, where there is no run to read a source for. */
const LATER: PhaseDraft = {
  id: 1,
  name: 'Phases of the source',
  content: { kind: 'text', text: 'Phases of the source' },
};

/** Problems that may only follow from something that could not be read. */
const CONSEQUENCES = [...GRAPH_CODES, ...WHOLE_CODES];

const EVIDENCE_PARTS = ['fields', 'postconditions', 'artifacts'];

/** Where a part of the draft is written: at least its file. */
function placeOf(path: DraftProblem['path'], metadata: Metadata, phases: readonly PlacedPhase[]): Place {
  const [part, index, key] = path;
  if (part === 'params' || part === 'capabilities' || part === 'start') return metadata.at(path);
  const phase = part === 'phases' && typeof index === 'number' ? phases[index] : undefined;
  if (phase !== undefined)
    return (
      phase.locate?.(path.slice(2)) ??
      topOf(EVIDENCE_PARTS.includes(String(key)) ? phase.evidenceFile : phase.file)
    );
  return metadata.at(part === 'id' ? ['workflow_type'] : []);
}

import { posix, relative, resolve, sep } from 'node:path';
import { canonicalJson, own, PhasegateError, type PhaseId, type WorkflowDraft } from '@phasegate/core';
import { didYouMean, type Templates } from '@phasegate/core/model';
import type { ParsedSource, SourceParsers, StartingWith } from '@phasegate/core/ports';
import { demandGate } from './demandGate.ts';
import type { DynamicConfig, Metadata } from './metadata.ts';
import type { PlacedPhase } from './placedPhase.ts';
import { readModel } from './readModel.ts';
import { topOf } from './report.ts';
import { draftSourcePhases } from './sourcePhases.ts';
import { readTemplates } from './templates.ts';
import { withModels } from './withModels.ts';
import { linkOn, type WorkflowFolder } from './workflowFolder.ts';

/** What the phases of a source are made with. */
export interface DynamicParts {
  readonly metadata: Metadata;
  readonly config: DynamicConfig;
  readonly sources: SourceParsers;
  readonly statics: readonly PhaseId[];
}

/** The phases a run takes from its source. Without a run there is only a note that they come later. */
export async function readDynamicPhases(
  folder: WorkflowFolder,
  parts: DynamicParts,
  starting: StartingWith | undefined,
): Promise<{
  readonly templates: Templates | null;
  readonly phases: readonly PlacedPhase[];
  readonly source?: WorkflowDraft['source'];
}> {
  const { config, metadata, sources, statics } = parts;
  const templates = await readTemplates(folder, config);
  judgeTemplates(folder, parts, templates);
  const parser = sources.get(config.parser.name);
  if (parser === undefined) {
    const message = `there is no parser \`${config.parser.name}\`${didYouMean(config.parser.name, sources.names())}`;
    folder.report.error(config.parser.at, { code: 'unknown_parser', message });
    // It may be registered before the next start.
    folder.readings.neverStand();
  }
  const key = config.sourcePathKey;
  if (starting === undefined) {
    const message = `further phases come from the source that \`${key}\` names, when a run starts`;
    folder.report.note(metadata.at(['dynamic_phases']), { code: 'dynamic_source', message });
    return { templates, phases: [] };
  }
  const path =
    own(starting.params, key) ??
    (Object.hasOwn(metadata.params, key) ? metadata.params[key]?.default : undefined);
  // The engine refuses to start without a param that is required, and says so in its own words.
  if (typeof path !== 'string' || parser === undefined || templates === null)
    return { templates, phases: [] };
  const link = await folder.readings.take(async () => linkBeneath(folder.root, path), String);
  if (link !== null) {
    const message = `\`${link}\` is a symlink, which is not followed`;
    folder.report.error(topOf(path), { code: 'path_outside', message, hint: 'name the file itself' });
    return { templates, phases: [] };
  }
  const source = await parse(folder, () => readParsed(folder, () => parser.parse(folder.root, path)), path);
  if (source === null) {
    folder.readings.neverStand();
    return { templates, phases: [] };
  }
  const phases = draftSourcePhases(source, statics).map((draft) =>
    withModels({ draft, file: path, evidenceFile: path }, modelsOf(parts, draft.id, folder), folder.report),
  );
  // Kept with the run: the file may say something else by the time a human asks what it was made from.
  const [read] = Object.entries(source.files ?? {});
  return { templates, phases, ...(read === undefined ? {} : { source: { path: read[0], hash: read[1] } }) };
}

/** What `metadata.json` says of the phases of a source: of all of them under a range such as `1-N`, or of one. */
function modelsOf({ metadata, statics }: DynamicParts, id: PhaseId | null, folder: WorkflowFolder) {
  return (metadata.phases ?? [])
    .filter((phase) => phase.id === null || (phase.id === id && !statics.includes(phase.id)))
    .map(({ model }) => readModel({ ...model, id: id ?? 1 }, folder.report));
}

/** The templates are the texts of every phase of the source, so they are judged before there is one. */
function judgeTemplates(folder: WorkflowFolder, parts: DynamicParts, templates: Templates | null): void {
  if (templates === null) return;
  const { phase, task } = parts.config.templates;
  const texts = [
    { path: folder.pathOf(phase.path), text: templates.phase },
    { path: folder.pathOf(task.path), text: templates.task },
  ];
  const models = modelsOf(parts, null, folder);
  const file = folder.pathOf('metadata.json');
  const any = withModels({ draft: { id: '1-N' }, file, evidenceFile: file }, models, folder.report);
  demandGate(any, { texts, models }, folder.report);
}

/** A symlink on the way to a source. A way that leaves the project is the parser's to refuse. */
function linkBeneath(root: string, path: string): string | null {
  const way = relative(root, resolve(root, path)).split(sep).join('/');
  return way.startsWith('..') ? null : linkOn(root, posix.join(way, 'tasks.md'));
}

/** A parser that does not say which bytes it read is asked each time, and all that follows is made anew. */
function readParsed(folder: WorkflowFolder, parsing: () => Promise<ParsedSource>): Promise<ParsedSource> {
  return folder.readings.take(
    async () => {
      const source = await parsing();
      if (source.files === undefined) folder.readings.neverStand();
      return source;
    },
    ({ files }) => canonicalJson(files ?? {}),
  );
}

const HINT = 'Verify tasks.md follows spec format';

async function parse(
  folder: WorkflowFolder,
  reading: () => Promise<ParsedSource>,
  path: string,
): Promise<ParsedSource | null> {
  const place = topOf(path === '' ? '.' : path);
  try {
    const source = await reading();
    const [file = place.file] = Object.keys(source.files ?? {});
    for (const { line, message } of source.warnings)
      folder.report.note({ file, line, column: 1 }, { code: 'source_warning', message });
    if (source.phases.length > 0) return source;
    const message = `Could not parse ${path}: no phase was found in it`;
    folder.report.error(place, { code: 'source_parse_failed', message, hint: HINT });
  } catch (error) {
    // A parser may be anybody's: whatever it throws is a source that could not be read.
    const fault = error instanceof PhasegateError ? error : null;
    const reason = error instanceof Error ? error.message : String(error);
    const code = fault === null ? 'source_parse_failed' : fault.code;
    const own = code !== 'source_parse_failed' || reason.startsWith('Could not parse');
    const message = own ? reason : `Could not parse ${path}: ${reason}`;
    folder.report.error(placeOf(fault) ?? place, { code, message, hint: fault?.hint ?? HINT });
  }
  return null;
}

function placeOf(fault: PhasegateError | null) {
  const [first] = fault?.problems ?? [];
  return first === undefined ? undefined : { file: first.file, line: first.line, column: first.column };
}

import type { PhaseId } from '@phasegate/core';
import { readPhaseId } from '@phasegate/core/model';
import { demandGate } from './demandGate.ts';
import { readPhaseFrontMatter } from './frontMatter.ts';
import type { PlacedObject } from './jsonTree.ts';
import { hasProse, headingsOf } from './markdownText.ts';
import { type Metadata, type MetadataPhase, PHASE_ID } from './metadata.ts';
import { phaseEvidence } from './phaseEvidence.ts';
import type { PlacedPhase } from './placedPhase.ts';
import { readModel } from './readModel.ts';
import { topOf } from './report.ts';
import { withModels } from './withModels.ts';
import type { MarkdownFile, WorkflowFolder } from './workflowFolder.ts';

/** The phases that have files, in order. Null where the folder has none. */
export async function readStaticPhases(
  folder: WorkflowFolder,
  metadata: Metadata,
): Promise<readonly PlacedPhase[] | null> {
  const listed = await folder.list('phases');
  if (listed === null) return null;
  const names = listed.folders.filter((name) => PHASE_ID.test(name)).toSorted(byNumber);
  await reportOtherFolders(folder, metadata, listed.folders);
  if (names.length === 0) return null;
  const described = new Map((metadata.phases ?? []).map((phase) => [String(phase.id), phase]));
  reportMismatch(folder, metadata, names);
  const phases = await Promise.all(
    names.map((name) => readPhase(folder, name, described.get(String(readPhaseId(name))))),
  );
  return phases.filter((phase) => phase !== null);
}

async function readPhase(
  folder: WorkflowFolder,
  name: string,
  described: MetadataPhase | undefined,
): Promise<PlacedPhase | null> {
  const id = readPhaseId(name);
  const within = `phases/${name}`;
  const { files = [] } = (await folder.list(within)) ?? {};
  const path = folder.pathOf(`${within}/phase.md`);
  const missing = {
    at: topOf(path),
    remark: { code: 'file_unreadable', message: `phase \`${name}\` has no \`phase.md\`` },
  };
  const [file, tasks] = await Promise.all([
    folder.readMarkdown(`${within}/phase.md`, missing),
    readTasks(folder, within, files),
  ]);
  for (const { name: task, at } of described?.files ?? []) {
    if (files.includes(task)) continue;
    const message = `\`${folder.pathOf(`${within}/${task}`)}\` does not exist`;
    folder.report.error(at, { code: 'file_unreadable', message });
  }
  if (file === null) return null;
  if (!hasProse(file.lines))
    folder.report.error(topOf(path), {
      code: 'no_instructions',
      message: `\`${path}\` has headings and no instructions`,
    });
  const evidence = await phaseEvidence(folder, within, { id, file, hasGate: files.includes(GATE) });
  const above = readPhaseFrontMatter(file, folder);
  const sources = [
    ...(evidence.gate === null ? [] : [[], ['checkpoint']].map((at) => ({ source: evidence.gate, at }))),
    ...(above === null ? [] : [{ source: above, at: [] }]),
    ...(described === undefined ? [] : [described.model]),
  ];
  const models = sources.map(({ source, at }) =>
    readModel({ source: source as PlacedObject, at, id }, folder.report),
  );
  const merged = withModels(
    {
      draft: {
        id,
        name: described?.name ?? nameOf(file, id),
        description: described?.purpose ?? '',
        content: { kind: 'text', text: file.text },
        tasks: tasks.map(({ name: task, content }) => ({ name: task, content })),
        ...evidence.draft,
      },
      file: path,
      evidenceFile: evidence.file,
    },
    models,
    folder.report,
  );
  const placed = withNames(merged, described, folder);
  if (
    (placed.draft.fields ?? []).length + (placed.draft.artifacts ?? []).length === 0 &&
    evidence.gate === null
  ) {
    const message = `phase \`${id}\` asks for no evidence, so it is completed by saying so`;
    folder.report.note(topOf(file.path), { code: 'no_evidence', message });
  }
  const texts = [file, ...tasks].map(({ path: at, text }) => ({ path: at, text }));
  demandGate(placed, { texts, models }, folder.report);
  return placed;
}

/** Evidence that only `metadata.json` names is asked for too; of what kind it is, nobody says. */
function withNames(
  placed: PlacedPhase,
  described: MetadataPhase | undefined,
  folder: WorkflowFolder,
): PlacedPhase {
  const { fields = [], artifacts = [] } = placed.draft;
  const known = new Set([...fields.map(({ name }) => name), ...artifacts.map(({ type }) => type)]);
  const names = [...new Set(described?.evidence ?? [])].filter((name) => !known.has(name));
  if (described === undefined || names.length === 0) return placed;
  const shown = names.map((name) => `\`${name}\``).join(', ');
  const message = `phase \`${placed.draft.id}\` asks for ${shown} here and nowhere else; asked for, as any value`;
  folder.report.note(described.at, { code: 'evidence_differs', message });
  const more = names.map((name) => ({ type: name, description: 'Named in metadata.json' }));
  return { ...placed, draft: { ...placed.draft, artifacts: [...artifacts, ...more] } };
}

const GATE = 'gate-definition.yaml';
const TASK_FILE = /^task-(\d+)([a-z]?)(?:[-_.].*)?\.md$/;

interface TaskFile {
  readonly name: string;
  readonly content: { readonly kind: 'text'; readonly text: string };
  readonly path: string;
  readonly text: string;
}

/** Every task file in the order of its number, each exactly once, whatever the first number is. */
async function readTasks(
  folder: WorkflowFolder,
  within: string,
  files: readonly string[],
): Promise<readonly TaskFile[]> {
  const numbered = files.filter((name) => TASK_FILE.test(name)).toSorted(byNumber);
  for (const name of files) {
    if (numbered.includes(name) || name === 'phase.md' || name === GATE) continue;
    reportOther(folder, `${within}/${name}`, name);
  }
  reportNumbers(folder, within, numbered);
  const tasks = await Promise.all(
    numbered.map(async (name) => {
      const file = await folder.readMarkdown(`${within}/${name}`);
      if (file === null) return [];
      if (!hasProse(file.lines))
        folder.report.error(topOf(file.path), {
          code: 'no_instructions',
          message: `\`${file.path}\` has headings and no instructions`,
        });
      const heading = headingsOf(file.lines)[0]?.text;
      const content = { kind: 'text' as const, text: file.text };
      return [{ name: heading ?? nameFrom(name), content, path: file.path, text: file.text }];
    }),
  );
  return tasks.flat();
}

function reportOther(folder: WorkflowFolder, path: string, name: string): void {
  const at = topOf(folder.pathOf(path));
  if (/^task.*\.md$/i.test(name)) {
    const message = `\`${name}\` has no number, so its place among the tasks is not known: \`task-1-${name.replace(/^task[-_]?/i, '')}\``;
    folder.report.error(at, { code: 'bad_task_name', message });
  } else if (/^gate-definition\./.test(name)) {
    folder.report.error(at, { code: 'bad_gate_name', message: `a gate is read from \`${GATE}\` only` });
  } else if (name.endsWith('.md')) {
    folder.report.note(at, {
      code: 'not_served',
      message: `\`${name}\` is neither \`phase.md\` nor a task, and is not served`,
    });
  }
}

function reportNumbers(folder: WorkflowFolder, within: string, names: readonly string[]): void {
  const seen = new Map<string, string>();
  for (const name of names) {
    const [, number = '', letter = ''] = TASK_FILE.exec(name) ?? [];
    const key = `${Number(number)}${letter}`;
    const first = seen.get(key);
    if (first !== undefined) {
      const message = `\`${first}\` and \`${name}\` have the same number; both are served, in the order of their names`;
      folder.report.note(topOf(folder.pathOf(`${within}/${name}`)), { code: 'duplicate_task', message });
    }
    seen.set(key, name);
  }
}

/** A folder that holds a phase under a name that is none would be left out unseen. */
async function reportOtherFolders(
  folder: WorkflowFolder,
  metadata: Metadata,
  names: readonly string[],
): Promise<void> {
  const templates =
    metadata.dynamic === null ? [] : Object.values(metadata.dynamic.templates).map(({ path }) => path);
  for (const name of names) {
    if (
      PHASE_ID.test(name) ||
      templates.some((path) => path.replace(/^\.\//, '').startsWith(`phases/${name}/`))
    )
      continue;
    const { files = [] } = (await folder.list(`phases/${name}`)) ?? {};
    if (!files.includes('phase.md')) continue;
    const message = `\`${name}\` is not a phase: the folder of a phase is its number, perhaps with a letter such as \`1A\``;
    folder.report.error(topOf(folder.pathOf(`phases/${name}`)), { code: 'bad_phase_folder', message });
  }
}

/** What `metadata.json` says of the phases must be what is there. */
function reportMismatch(folder: WorkflowFolder, metadata: Metadata, names: readonly string[]): void {
  const there = new Set(names.map((name) => String(readPhaseId(name))));
  const { totalPhases, phases, dynamic } = metadata;
  if (totalPhases !== null && totalPhases.count !== there.size) {
    const message = `\`total_phases\` is ${totalPhases.count}, and there are ${there.size} folders of phases`;
    folder.report.error(totalPhases.at, { code: 'phase_mismatch', message });
  }
  if (phases === null) return;
  for (const { id, at } of phases) {
    if (id === null || there.has(String(id)) || dynamic !== null) continue;
    const message = `phase \`${id}\` has no folder \`phases/${id}\``;
    folder.report.error(at, { code: 'phase_mismatch', message });
  }
  const described = new Set(phases.map(({ id }) => String(id)));
  for (const id of there) {
    if (described.has(id)) continue;
    const message = `\`phases\` does not describe phase \`${id}\`, which has a folder`;
    folder.report.error(metadata.at(['phases'], 'key'), { code: 'phase_mismatch', message });
  }
}

function nameOf(file: MarkdownFile, id: PhaseId): string {
  const heading = headingsOf(file.lines)[0]?.text ?? '';
  return heading.replace(/^phase\s+\w+\s*[:.–—-]?\s*/i, '') || `Phase ${id}`;
}

function nameFrom(file: string): string {
  return file.replace(/^task-\d+[a-z]?[-_.]?|\.md$/g, '').replace(/[-_]+/g, ' ') || file;
}

function byNumber(a: string, b: string): number {
  const [x, y] = [/\d+/.exec(a)?.[0] ?? '', /\d+/.exec(b)?.[0] ?? ''];
  return Number(x) - Number(y) || (a < b ? -1 : a > b ? 1 : 0);
}

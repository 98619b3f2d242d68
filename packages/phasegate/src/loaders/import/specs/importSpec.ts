import { readdir } from 'node:fs/promises';
import { basename, join, posix } from 'node:path';
import { type Json, PhasegateError } from '@phasegate/core';
import type {
  ImportedKey,
  ImportKind,
  ParsedSource,
  SourceParsers,
  SourcePhase,
} from '../../../runtime/ports.ts';
import { readSource } from '../../readSource.ts';
import {
  bullets,
  idFrom,
  nameIn,
  newPhase,
  type PhaseDraft,
  type TaskDraft,
  type WorkflowDraft,
} from '../draft.ts';
import { markdownKey, markedLines, wordsOf } from './markdownKeys.ts';
import { type Requirement, requirementsIn } from './requirements.ts';

/** Where a specification is. */
export interface SpecFolder {
  readonly folder: string;
  /** The name of its list of tasks. */
  readonly tasks: string;
  readonly names: readonly string[];
  /** How the folder is named in the report. */
  readonly named: string;
}

const APPROVED: Readonly<Partial<Record<ImportKind, string>>> = {
  'spec-kit-tasks': 'Are the specification, the plan and the tasks what should be built?',
  'kiro-spec': 'Are the requirements, the design and the tasks approved?',
  'openspec-change': 'Is the proposal approved, with its tasks and the changes to the specifications?',
};

/**
 * Imports a specification with a `tasks.md`: a human approves the documents, then one phase for each part of the list,
 * then a human accepts the requirements.
 */
export async function importSpec(
  kind: ImportKind,
  spec: SpecFolder,
  parsers: SourceParsers,
): Promise<{ readonly draft: WorkflowDraft; readonly keys: readonly ImportedKey[] }> {
  const parser = parsers.get('spec_tasks_parser');
  if (parser === undefined) throw new PhasegateError('internal', 'there is no parser for `tasks.md`');
  const source = await parser.parse(spec.folder, spec.tasks);
  const documents = await documentsOf(spec);
  const title = documents.find(({ name }) => name === spec.tasks)?.title ?? basename(spec.folder);
  const draft: WorkflowDraft = {
    id: idFrom(basename(spec.folder).toLowerCase()),
    title,
    version: undefined,
    description: undefined,
    head: {},
    phases: [],
    added: [],
  };
  const others = documents.filter(({ name }) => name !== spec.tasks);
  draft.phases.push(
    approval(
      kind,
      documents.map(({ name }) => posix.join(spec.named, name)),
    ),
  );
  for (const phase of source.phases) draft.phases.push(workPhase(phase, draft));
  const accept = newPhase(
    idFrom(
      'accept',
      draft.phases.map(({ id }) => id),
    ),
    'Accept',
  );
  accept.instructions.push('Show for each requirement that it is met: what was tried, and what was seen.');
  const requirements = others.flatMap(({ name, text }) =>
    requirementsIn(text).map((requirement) => ({ ...requirement, file: name })),
  );
  accept.tasks.push(...requirements.map(taskOf));
  accept.approvals.push('Are all requirements met?');
  draft.phases.push(accept);
  draft.added.push(
    'phase `spec`: a human approves the documents first',
    'phase `accept`: a human accepts the result',
  );
  const keys = documents.flatMap((document) =>
    document.name === spec.tasks
      ? tasksKeys({ ...document, source, draft, accept, named: spec.named })
      : documentKeys(document, spec.named),
  );
  return { draft, keys: [...keys, ...unread(spec, documents)] };
}

function approval(kind: ImportKind, names: readonly string[]): PhaseDraft {
  const phase = newPhase('spec', 'Approve the specification');
  phase.instructions.push(
    `Read these files and say in your own words what is to be built:\n${bullets(names)}`,
  );
  phase.approvals.push(APPROVED[kind] ?? 'Is this what should be built?');
  return phase;
}

function workPhase(source: SourcePhase, draft: WorkflowDraft): PhaseDraft {
  const taken = draft.phases.map(({ id }) => id);
  const phase = newPhase(idFrom(`phase-${source.id}`, [...taken, 'accept']), source.name);
  phase.instructions.push(source.description);
  const shown: Record<string, Json> = {};
  for (const task of source.tasks) {
    const notes = [
      task.description,
      task.dependencies.length === 0 ? '' : `After ${task.dependencies.join(', ')}.`,
      task.dependencyNotes ?? '',
      task.estimatedTime === '' ? '' : `Estimated: ${task.estimatedTime}`,
    ].filter((text) => text !== '');
    phase.tasks.push({
      name: `${task.id} ${task.name}`,
      ...(notes.length === 0 ? {} : { instructions: notes.join('\n\n') }),
      ...(task.acceptanceCriteria.length === 0
        ? {}
        : { acceptance_criteria: task.acceptanceCriteria.map(({ text }) => text) }),
    });
    shown[task.id] = { type: 'string', minLength: 10, description: task.name };
    if (CHECKPOINT.test(task.name)) phase.confirm.push(task.name);
  }
  if (source.tasks.length > 0) {
    phase.artifacts.push({
      type: nameIn(phase.id, 'tasks'),
      description: 'For every task, what shows that it is done',
      schema: {
        type: 'object',
        required: Object.keys(shown),
        properties: shown,
        additionalProperties: false,
      },
    });
  }
  if (CHECKPOINT.test(source.name)) phase.confirm.push(source.name);
  phase.confirm.push(...source.validationGate.map(({ text }) => text));
  return phase;
}

const CHECKPOINT = /^checkpoint\b/i;

function taskOf({ name, criteria, file }: Requirement & { readonly file: string }): TaskDraft {
  const instructions = `From ${file}.`;
  return criteria.length === 0
    ? { name, instructions }
    : { name, instructions, acceptance_criteria: criteria };
}

interface SpecDocument {
  readonly name: string;
  readonly text: string;
  readonly title: string | undefined;
}

async function documentsOf({ folder, names, tasks }: SpecFolder): Promise<readonly SpecDocument[]> {
  const deltas = names.includes('specs') ? await readdir(join(folder, 'specs')).catch(() => []) : [];
  const paths = [
    ...new Set([tasks, ...names.filter((name) => name.endsWith('.md')).toSorted()]),
    ...deltas.toSorted().map((name) => `specs/${name}/spec.md`),
  ];
  const read = await Promise.all(
    paths.map(async (name): Promise<readonly SpecDocument[]> => {
      const source = await readSource(folder, name);
      if (!source.ok) return [];
      const title = markedLines(source.text).find(
        ({ level, kind }) => kind === 'heading' && level === 1,
      )?.text;
      return [{ name, text: source.text, title: title === '' ? undefined : title }];
    }),
  );
  return read.flat();
}

/** What became of the list of tasks: a box that no phase holds is put before a human. */
function tasksKeys({
  name,
  text,
  source,
  draft,
  accept,
  named,
}: SpecDocument & {
  readonly source: ParsedSource;
  readonly draft: WorkflowDraft;
  readonly accept: PhaseDraft;
  readonly named: string;
}): readonly ImportedKey[] {
  const file = posix.join(named, name);
  const kept = wordsOf(
    JSON.stringify(draft.phases.map((phase) => [phase.name, phase.instructions, phase.tasks, phase.confirm])),
  );
  const confirmed = draft.phases.flatMap(({ confirm }) => confirm.map(wordsOf));
  const keys = markedLines(text)
    .filter(({ kind }) => kind !== 'item')
    .map((marked) => {
      const { line, kind, mark } = marked;
      const key = marked.text;
      const core = wordsOf(
        key.replace(/^(?:\[[^\]]*\]\s*|T\d+\s+|Phase\s+\w+\s*[:.–-]\s*|\d+(?:\.\d+)*\.?\s+)+/i, ''),
      );
      const found = kept.includes(core.slice(0, 60).trim());
      const decided = confirmed.some((one) => core !== '' && one.includes(core));
      if (kind === 'label' && decided) {
        return markdownKey(file, line, { key, became: 'human', text: 'a human decides behind the phase' });
      }
      if (kind === 'heading' || kind === 'label') {
        const to = found ? 'a phase, or part of one' : 'prose: the agent reads it in the file';
        return markdownKey(file, line, { key, became: found ? 'mapped' : 'left_out', text: to });
      }
      if (!found) {
        accept.confirm.push(`line ${line} of ${name} is done: ${key}`);
        return markdownKey(file, line, {
          key,
          became: 'human',
          text: 'not part of a phase: a human confirms it',
        });
      }
      const notes = [
        mark.startsWith(' ') ? '' : 'it is ticked there, which is a claim: it is asked for here',
        mark.endsWith('*')
          ? 'it is optional there and asked for here; the evidence may say why it was not needed'
          : '',
      ].filter((note) => note !== '');
      return markdownKey(file, line, { key, became: 'mapped', text: ['tasks', ...notes].join('; ') });
    });
  const warnings = source.warnings.map(({ line, message }) =>
    markdownKey(file, line, { key: 'not understood', became: 'left_out', text: message }),
  );
  return [...keys, ...warnings].toSorted((a, b) => a.line - b.line);
}

function documentKeys({ name, text }: SpecDocument, named: string): readonly ImportedKey[] {
  const file = posix.join(named, name);
  const required = new Set(requirementsIn(text).map(({ line }) => line));
  return markedLines(text)
    .filter(({ kind, line }) => kind === 'heading' || required.has(line))
    .map(({ line, text: key }) =>
      required.has(line)
        ? markdownKey(file, line, { key, became: 'human', text: 'a task of `accept`, where a human decides' })
        : markdownKey(file, line, {
            key,
            became: 'mapped',
            text: 'the agent reads the file in phase `spec`',
          }),
    );
}

function unread({ names, named }: SpecFolder, documents: readonly SpecDocument[]): readonly ImportedKey[] {
  const read = documents.map(({ name }) => name.split('/')[0]);
  return names
    .filter((name) => !read.includes(name))
    .toSorted()
    .map((name) =>
      markdownKey(posix.join(named, name), 1, {
        key: name,
        became: 'left_out',
        text: 'not read: nothing in it makes a phase',
      }),
    );
}

import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, extname, join, posix } from 'node:path';
import { type Json, type Known, own, PhasegateError } from '@phasegate/core';
import { Readings } from '@phasegate/core/model';
import type { Imported, ImportKind, ImportRequest, Loaded, SourceParsers } from '../../runtime/ports.ts';
import { readSource } from '../readSource.ts';
import { loadYaml } from '../yaml/loadYaml.ts';
import { YamlTree } from '../yaml/yamlTree.ts';
import { kindsOfFolder, kindsOfYaml, LOOKED_FOR } from './detectKind.ts';
import { contractText, demandEvidence, hasGate, type WorkflowDraft } from './draft.ts';
import { importFolder } from './importFolder.ts';
import { KeyLedger } from './keyLedger.ts';
import { importContract } from './orchestrator/contract.ts';
import { importItems } from './orchestrator/items.ts';
import { importTypedGates } from './orchestrator/typedGates.ts';
import { importSpecKitWorkflow } from './specKit/workflow.ts';
import { importSpec } from './specs/importSpec.ts';

/** What an import needs beside the files. */
export interface ImportShelves {
  readonly known: Known;
  sources(): Promise<SourceParsers>;
  /** Loads a folder of phases in Markdown; the path is that of its `metadata.json`. */
  loadFolder(root: string, path: string): Promise<Loaded>;
}

/** Makes a workflow of ours from one of others. Reads files, and runs and writes nothing. */
export async function importWorkflow(request: ImportRequest, shelves: ImportShelves): Promise<Imported> {
  const source = await openSource(request);
  const kind = kindOf(source, request);
  if (kind === 'praxis-folder') {
    if (!source.names.includes('metadata.json')) throw notThat(kind, source.named);
    return importFolder(source, shelves);
  }
  const made = await convert(kind, source, shelves);
  const { draft, keys } = made;
  demandEvidence(draft);
  if (draft.phases.every(({ tools }) => Object.keys(tools).length === 0)) {
    draft.added.push('no tools: the source names none; add `allowed_tools` and `writes` to serve some');
    if (kind !== 'orchestrator-contract') addOpenScope(draft);
  }
  const text = contractText(draft, `Imported by \`phasegate import\` from ${request.named} (${kind}).`);
  await requireValid(draft.id, { text, named: request.named, known: shelves.known });
  return {
    kind,
    workflow: draft.id,
    phases: draft.phases.map(({ id }) => id),
    gates: draft.phases.filter(hasGate).map(({ id }) => id),
    text,
    files: [],
    keys,
    added: draft.added,
  };
}

/** Where nobody was held to a scope: without one nothing may be written here. */
function addOpenScope(draft: Awaited<ReturnType<typeof convert>>['draft']): void {
  for (const phase of draft.phases) phase.tools = { writes: ['**'] };
  draft.added.push('`writes: ["**"]` in every phase: the source limits nothing; name what each may write');
}

/** What was found at the path. */
interface Source {
  readonly folder: string;
  readonly names: readonly string[];
  /** The YAML file, where one was named or is the only one that can be meant. */
  readonly yaml: { readonly name: string; readonly tree: YamlTree; readonly named: string } | null;
  readonly tasks: string | undefined;
  readonly tasksName: string;
  readonly named: string;
  /** How the folder is named in the report. */
  readonly namedFolder: string;
}

const CONTRACTS = ['agent_workflow.yaml', 'agent_workflow.yml', 'workflow.yaml', 'workflow.yml'];

async function openSource({ path, named }: ImportRequest): Promise<Source> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) {
    throw new PhasegateError('file_unreadable', `\`${named}\` does not exist`, {
      hint: 'name a file or a folder',
    });
  }
  const isFolder = found.isDirectory();
  const folder = isFolder ? path : dirname(path);
  const names = await readdir(folder).catch(() => [] as string[]);
  const file = isFolder ? names.find((name) => CONTRACTS.includes(name)) : basename(path);
  const isYaml = file !== undefined && ['.yaml', '.yml', '.json'].includes(extname(file).toLowerCase());
  const tasksMd = !isFolder && file?.endsWith('.md') === true ? file : 'tasks.md';
  const shown = isFolder && file !== undefined ? posix.join(named, file) : named;
  const yaml =
    isYaml && !(isFolder && names.includes('tasks.md')) ? await openYaml(folder, file, shown) : null;
  return {
    folder,
    names: isFolder || !isYaml ? names : [],
    yaml,
    tasks: names.includes(tasksMd) && yaml === null ? await textIn(folder, tasksMd) : undefined,
    tasksName: tasksMd,
    named,
    namedFolder: isFolder ? named : posix.dirname(named),
  };
}

async function openYaml(folder: string, name: string, named: string): Promise<NonNullable<Source['yaml']>> {
  const tree = new YamlTree(named, (await textIn(folder, name)) ?? '');
  const [flaw] = tree.flaws;
  if (flaw === undefined) return { name, tree, named };
  const { code, message } = flaw;
  throw new PhasegateError('workflow_invalid', `\`${named}\` cannot be read`, {
    problems: [{ file: named, ...tree.lines.at(flaw.offset), code, message, severity: 'error' }],
  });
}

async function textIn(folder: string, name: string): Promise<string | undefined> {
  const read = await readSource(folder, name);
  if (read.ok) return read.text;
  const isText = read.code !== 'not_utf8' && read.code !== 'nul_byte';
  throw new PhasegateError(
    read.code === 'too_large' ? 'too_large' : 'file_unreadable',
    read.message,
    isText ? {} : { hint: 'save it as UTF-8 text, or name another file' },
  );
}

function kindOf({ yaml, names, tasks, named }: Source, { kind }: ImportRequest): ImportKind {
  if (kind !== undefined) return kind;
  const found = yaml === null ? kindsOfFolder(names, tasks) : kindsOfYaml(yaml.tree.value);
  const [only, ...more] = found;
  if (only !== undefined && more.length === 0) return only;
  if (only !== undefined) {
    throw new PhasegateError('usage', `\`${named}\` looks like ${found.join(' and like ')}`, {
      hint: `say which with \`--from ${only}\``,
    });
  }
  if (typeof own(yaml?.tree.value, 'workflow') === 'string') {
    throw new PhasegateError('usage', `\`${named}\` is a contract of ours already`, {
      hint: 'put it in `workflows/` as NAME.workflow.yaml and run `phasegate validate`',
    });
  }
  throw new PhasegateError(
    'usage',
    `\`${named}\` is not a format that can be imported: looked for ${LOOKED_FOR}`,
    {
      hint: 'name the format with `--from KIND`, or begin with a template: `phasegate init --template list`',
    },
  );
}

const SPECS: readonly ImportKind[] = ['spec-kit-tasks', 'kiro-spec', 'openspec-change'];

interface Made {
  readonly draft: WorkflowDraft;
  readonly keys: Imported['keys'];
}

async function convert(kind: ImportKind, source: Source, shelves: ImportShelves): Promise<Made> {
  const { yaml, folder } = source;
  if (SPECS.includes(kind)) {
    if (source.tasks === undefined) throw notThat(kind, source.named);
    return importSpec(
      kind,
      { ...source, tasks: source.tasksName, named: source.namedFolder },
      await shelves.sources(),
    );
  }
  if (yaml === null) throw notThat(kind, source.named);
  const ledger = new KeyLedger(yaml.tree, yaml.named);
  const beside = async (path: string): Promise<Json | undefined> => {
    const read = await readSource(folder, path);
    return read.ok ? new YamlTree(path, read.text).value : undefined;
  };
  switch (kind) {
    case 'orchestrator-contract':
      return { draft: await importContract(ledger, beside), keys: ledger.keys() };
    case 'orchestrator-items':
      return { draft: importItems(ledger), keys: ledger.keys() };
    case 'orchestrator-gates':
      return { draft: importTypedGates(ledger), keys: ledger.keys() };
    case 'spec-kit-workflow':
      return { draft: importSpecKitWorkflow(ledger), keys: ledger.keys() };
    default:
      throw notThat(kind, source.named);
  }
}

function notThat(kind: ImportKind, named: string): PhasegateError {
  return new PhasegateError('usage', `\`${named}\` cannot be read as ${kind}: looked for ${LOOKED_FOR}`, {
    hint: 'leave out `--from`, or name another format',
  });
}

/** A contract that our own loader would not take is not written: what is in the way is said instead. */
async function requireValid(
  id: string,
  { text, named, known }: { readonly text: string; readonly named: string; readonly known: Known },
): Promise<void> {
  const path = `${id}.workflow.yaml`;
  const sha256 = createHash('sha256').update(text).digest('hex');
  const { problems } = await loadYaml(
    { root: join('/', id), path },
    { known, readings: new Readings(), given: { text, sha256 } },
  );
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return;
  throw new PhasegateError(
    'workflow_invalid',
    `what \`${named}\` says cannot be written as a contract of ours`,
    {
      problems: errors,
      hint: 'nothing was written; the lines are those of the contract it would have been',
    },
  );
}

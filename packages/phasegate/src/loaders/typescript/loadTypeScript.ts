import { relative, sep } from 'node:path';
import { defineWorkflow, type Known, type Problem, type Workflow } from '@phasegate/core';
import { type DraftProblem, firstProblems, isWorkflowId, notAnId } from '@phasegate/core/model';
import type {
  FunctionAnswer,
  Functions,
  Loaded,
  Peeked,
  Peeking,
  Place,
  SourceFile,
} from '../../runtime/ports.ts';
import { readSource } from '../readSource.ts';
import { type Closure, closureOf, type KnownModules } from './closureOf.ts';
import { type FoundWorkflow, findWorkflow, stemOf } from './findWorkflow.ts';
import { DESCRIBE, type Described } from './hostProtocol.ts';
import { locateInSource } from './locateInSource.ts';
import { parseModule } from './parseModule.ts';

const DESCRIBE_MS = 10_000;

/** Reads enough of a module for a listing, without running it. Null when it defines no workflow and need not. */
export async function peekTypeScript(
  file: SourceFile,
  mustDefine: boolean,
  peeking?: Peeking,
): Promise<Peeked | null> {
  const stem = stemOf(file.path);
  const unread = (problem: Problem) => ({ id: stem, title: stem, phases: null, problems: [problem] });
  const source = await readSource(file.root, file.path);
  if (source.sha256 !== undefined) peeking?.read(source.sha256);
  if (!source.ok) return mustDefine ? unread({ file: file.path, severity: 'error', ...pick(source) }) : null;
  const parsed = parseModule(file.path, source.text);
  if (!parsed.ok) {
    const problem: Problem = { file: file.path, severity: 'error', ...pick({ code: 'syntax', ...parsed }) };
    return mustDefine || /\b(?:defineWorkflow|Workflow)\b/.test(source.text) ? unread(problem) : null;
  }
  const found = findWorkflow(parsed.program);
  if (!mustDefine && (found.calls.length === 0 || !found.exported)) return null;
  const written = found.id ?? stem;
  // What is no id is nobody's: it would be shown, signed and told as one.
  const id = isWorkflowId(written) ? written : idFrom(stem);
  const problems = definitionProblems(file.path, found, (offset) => parsed.lines.at(offset));
  return { id, title: found.title ?? id, phases: found.phases, problems };
}

/** What a module was loaded as before. */
export interface KeptModule {
  /** What was read of its files. */
  readonly modules: KnownModules;
  last?: {
    /** All that was read. */
    readonly closure: string;
    /** What the module said of itself. */
    readonly described: string;
    readonly found: FoundWorkflow;
    readonly loaded: Loaded;
  };
}

/** What modules are loaded with. */
export interface ModuleLoading {
  readonly known: Known;
  readonly functions: Functions;
  readonly kept: KeptModule;
}

/**
 * Loads a module in a process of its own and compiles what it defines. INVARIANT: all files are read and hashed, and
 * the one who runs code is asked, each time; only what follows from the same bytes and the same words is given again.
 */
export async function loadTypeScript(
  file: SourceFile,
  { known, functions, kept }: ModuleLoading,
): Promise<Loaded> {
  const closure = await closureOf(file.root, file.path, kept.modules);
  const files = Object.fromEntries(closure.files.map((part) => [part.path, part.sha256]));
  const failed = (problems: readonly Problem[]): Loaded => ({
    workflow: null,
    problems: inOrder(problems, file.path),
    files,
  });
  if (closure.module === null || hasErrors(closure.problems)) return failed(closure.problems);
  const { program, lines } = closure.module;
  const read = JSON.stringify([closure.code, closure.problems]);
  const last = kept.last?.closure === read ? kept.last : undefined;
  const found = last?.found ?? findWorkflow(program);
  const defined = definitionProblems(file.path, found, (offset) => lines.at(offset));
  if (hasErrors(defined)) return failed([...closure.problems, ...defined]);
  if (/\.m?ts$/.test(file.path) && process.features.typescript === false) {
    return failed([
      at(
        file.path,
        'node_too_old',
        `workflows in TypeScript need Node 22.18 or newer, and this is ${process.versions.node}`,
      ),
    ]);
  }

  const places = (path: DraftProblem['path'], offset?: number): Place => ({
    file: file.path,
    ...lines.at(locateInSource(found, path, offset)),
  });
  const place = (problem: DraftProblem): Problem => ({
    ...places(problem.path, problem.offset),
    code: problem.code,
    message: problem.message,
    severity: problem.severity,
  });
  const described = await describe(file, closure, functions);
  if (!described.ok && described.kind === 'untrusted') {
    return { workflow: null, problems: closure.problems, files, unaccepted: true };
  }
  if (!described.ok) return failed([...closure.problems, failure(file, described)]);
  const words = JSON.stringify(described.value);
  if (last?.described === words) return last.loaded;
  const value = described.value as unknown as Described;
  const { workflow, problems, leftOut } = compile(value, { file, known, closure, id: found.id });
  const notes = value.printed ? [printed(file.path)] : [];
  const loaded: Loaded = {
    workflow,
    problems: firstProblems(
      inOrder([...closure.problems, ...notes, ...problems.map(place)], file.path),
      leftOut,
    ),
    files,
    places,
  };
  kept.last = { closure: read, described: words, found, loaded };
  return loaded;
}

/** Asks the module what it defines, where it may be run at all. */
function describe({ path }: SourceFile, { code }: Closure, functions: Functions): Promise<FunctionAnswer> {
  return functions.call({ file: path, code, ref: DESCRIBE, context: {}, timeoutMs: DESCRIBE_MS });
}

interface Compiled {
  readonly workflow: Workflow | null;
  readonly problems: readonly DraftProblem[];
  /** How many more were found. */
  readonly leftOut?: { readonly errors: number; readonly notes: number };
}

function compile(
  { draft, problems, functions }: Described,
  {
    file,
    known,
    closure,
    id,
  }: {
    readonly file: SourceFile;
    readonly known: Known;
    readonly closure: Closure;
    /** As the source has it, where that is written out. */
    readonly id: string | undefined;
  },
): Compiled {
  // Without functions nothing of the code runs later, so the workflow does not depend on it.
  const bound = functions === 0 ? draft : { ...draft, code: closure.code, module: file.path };
  if (problems.length > 0) {
    const result = defineWorkflow(bound, known, notCoveredBy(problems));
    return { ...result, workflow: null, problems: [...problems, ...(result.ok ? [] : result.problems)] };
  }
  const result = defineWorkflow(bound, known);
  if (id !== undefined && draft.id !== id) {
    // By the one a human accepted it, and it would be started, told and compared by the other.
    const message = `the id is written \`${id}\`, and the code makes it \`${draft.id}\`: write the one it is to have`;
    const other: DraftProblem = { path: ['id'], code: 'bad_id', message, severity: 'error' };
    return { ...result, workflow: null, problems: [other, ...(result.ok ? [] : result.problems)] };
  }
  return result.ok ? { ...result, problems: result.notes } : { ...result, workflow: null };
}

/** Whether a problem of meaning is one of its own, and may not only follow from one of shape, which is told already. */
function notCoveredBy(shape: readonly DraftProblem[]): (meaning: DraftProblem) => boolean {
  // As text: of both there may be many.
  const places = new Set(shape.map(({ path }) => JSON.stringify(path)));
  const isPhaseLost = shape.some(({ path }) => path.length < 3);
  return ({ severity, code, path }) => {
    if (severity === 'note' || MAY_FOLLOW.includes(code)) return false;
    if (code === 'unknown_phase' && isPhaseLost) return false;
    return ![[], ...path].some((_, steps) => places.has(JSON.stringify(path.slice(0, steps))));
  };
}

const MAY_FOLLOW = ['unreachable_phase', 'no_end', 'no_phases', 'bad_id'];

function definitionProblems(
  path: string,
  found: FoundWorkflow,
  lineAt: (offset: number) => { readonly line: number; readonly column: number },
): readonly Problem[] {
  const [first, second] = found.calls;
  if (second !== undefined) {
    const message = 'a file defines exactly one workflow, and here is a second';
    return [{ file: path, ...lineAt(second.start), code: 'several_workflows', message, severity: 'error' }];
  }
  if (found.exported) return idProblems(path, found, lineAt);
  const message =
    first === undefined
      ? 'the file defines no workflow; its default export must be what `defineWorkflow` returns'
      : 'the workflow is not exported; make it the default export or `WORKFLOW`';
  return [{ file: path, ...lineAt(first?.start ?? 0), code: 'no_workflow', message, severity: 'error' }];
}

/** INVARIANT: before code is run, what a human is asked about and signs is called by what can be the id of a workflow. */
function idProblems(
  path: string,
  { id, call }: FoundWorkflow,
  lineAt: (offset: number) => { readonly line: number; readonly column: number },
): readonly Problem[] {
  const name = id ?? stemOf(path);
  if (isWorkflowId(name)) return [];
  const why = id === undefined ? ', and it is what the file is called; rename it, or write the id out' : '';
  const place = lineAt(call?.start ?? 0);
  return [{ file: path, ...place, code: 'bad_id', message: `${notAnId(name)}${why}`, severity: 'error' }];
}

/** An id for a file whose name is none. */
function idFrom(stem: string): string {
  const id = stem
    .replace(/[^A-Za-z0-9_.-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 100);
  return id === '' ? 'workflow' : id;
}

/** Why a module has no workflow to show, at the place its own stack names. */
function failure(
  file: SourceFile,
  { kind, reason, at: where }: FunctionAnswer & { readonly ok: false },
): Problem {
  const words = {
    threw: `the module cannot be loaded: ${reason}`,
    timed_out: `the module cannot be loaded: it ${reason}`,
    code_changed: `the module changed while it was loaded: ${reason}`,
    unknown_function: `the file ${reason}`,
    untrusted: `the module was not run: ${reason}`,
  };
  const codes = {
    threw: 'module_failed',
    timed_out: 'module_failed',
    code_changed: 'code_changed',
    unknown_function: 'no_workflow',
    untrusted: 'untrusted_workflow',
  };
  const problem = at(file.path, codes[kind], words[kind]);
  const path = where && relative(file.root, where.file).split(sep).join('/');
  if (where === undefined || path === undefined || path.startsWith('../')) return problem;
  return { ...problem, file: path, line: where.line, column: where.column };
}

function printed(path: string): Problem {
  const message = 'the module prints to stdout when it is loaded; what it prints is ignored';
  return { ...at(path, 'module_prints', message), severity: 'note' };
}

function at(file: string, code: string, message: string): Problem {
  return { file, line: 1, column: 1, code, message, severity: 'error' };
}

function pick({ line, column, code, message }: Pick<Problem, 'line' | 'column' | 'code' | 'message'>) {
  return { line, column, code, message };
}

function hasErrors(problems: readonly Problem[]): boolean {
  return problems.some((problem) => problem.severity === 'error');
}

function inOrder(problems: readonly Problem[], module: string): readonly Problem[] {
  return problems.toSorted(
    (a, b) =>
      Number(b.file === module) - Number(a.file === module) ||
      (a.file < b.file ? -1 : a.file > b.file ? 1 : 0) ||
      a.line - b.line ||
      a.column - b.column,
  );
}

import { isJsonObject, type Json, type Known, own, type Problem } from '@phasegate/core';
import { firstProblems, type Readings } from '@phasegate/core/model';
import type { DefinitionSource, Loaded, Peeked, Peeking, Place, SourceFile } from '../../runtime/ports.ts';
import { markOf, readSource } from '../readSource.ts';
import { draftOf } from './draftOf.ts';
import { meaningOf } from './meaningProblems.ts';
import { parseOnce } from './parseOnce.ts';
import { readSchemaFile, type SchemaFile, type SourceReader } from './schemaFiles.ts';
import { type ShapeProblem, shapeProblems } from './shapeProblems.ts';
import { SourceMap } from './sourceMap.ts';
import { spelled, spellingOf } from './spelling.ts';
import { phaseIdOf } from './spots.ts';
import type { YamlPath, YamlTree } from './yamlTree.ts';

/** What a file holds, where that is known before it is written. */
export interface GivenText {
  readonly text: string;
  readonly sha256: string;
}

/** Reads a contract, checks shape and meaning, and compiles it. Everything that is wrong is in `problems`. */
export async function loadYaml(
  file: SourceFile,
  means: { readonly known: Known; readonly readings: Readings; readonly given?: GivenText },
): Promise<Loaded> {
  const { known, readings, given } = means;
  const read = (path: string) => readings.take(() => readSource(file.root, path), markOf);
  const opened = openTree(
    file,
    given === undefined ? await read(file.path) : { ok: true, path: file.path, ...given },
  );
  if (!opened.ok) return { workflow: null, problems: opened.problems, files: opened.files };
  const { tree, value } = opened;
  const files: Record<string, string> = { ...opened.files };
  const found: Problem[] = tree.flaws.map((flaw) => problemAt(tree, flaw.offset, flaw));
  if (!isJsonObject(value)) return { workflow: null, problems: firstProblems(found), files };

  const shaped = shapeProblems(value);
  const shape = [...shaped.problems, ...duplicateIds(value, tree)];
  const schemas = await readSchemas(file, value, read);
  const map = new SourceMap(tree);
  const broken = new Set<SchemaFile>();
  const draft = draftOf(value, map, (named, at, draftPath) => {
    const schema = schemas.get(named);
    if (schema === undefined) return undefined;
    if (schema.sha256 !== undefined && schema.refusal?.code !== 'path_outside')
      files[schema.path] = schema.sha256;
    if (schema.refusal !== null) shape.push({ path: at, ...schema.refusal, at: 'value' });
    if (schema.problems.length > 0 && !broken.has(schema)) {
      broken.add(schema);
      found.push(...schema.problems);
    }
    if (schema.tree !== null) map.put(draftPath, [], schema.tree);
    return schema.schema;
  });
  for (const problem of shape) found.push(problemAt(tree, tree.offsetOf(problem.path, problem.at), problem));

  const spelling = spellingOf(value);
  const wellFormed = found.length === 0;
  const meaning = meaningOf(draft, known, { shape, map });
  for (const problem of meaning.problems) {
    const place = map.find(problem.path);
    const offset =
      problem.offset === undefined
        ? place.tree.offsetOf(place.path, isPhase(place.path) ? 'key' : 'value')
        : place.tree.offsetInText(place.path, problem.offset);
    found.push(
      problemAt(place.tree, offset, { ...problem, message: withHint(spelled(problem.message, spelling)) }),
    );
  }
  return {
    workflow: wellFormed ? meaning.workflow : null,
    problems: firstProblems(
      inOrder(found, file.path),
      leftOut(tree.leftOut + shaped.leftOut, meaning.leftOut),
    ),
    files,
    places: (path) => placeIn(map, path),
  };
}

/** Where a part of the draft begins: what has a name of its own begins with it. */
function placeIn(map: SourceMap, draftPath: YamlPath): Place | null {
  const place = map.locate(draftPath);
  if (place === null) return null;
  const { tree, path } = place;
  const offset = tree.offsetOf(path, typeof path.at(-1) === 'string' ? 'key' : 'value');
  return { file: tree.file, ...tree.lines.at(offset) };
}

/** Reads enough of a contract for a listing. */
export async function peekYaml(file: SourceFile, peeking?: Peeking): Promise<Peeked> {
  const stem = (file.path.split('/').at(-1) ?? file.path).replace(/(?:\.workflow)?\.ya?ml$/i, '');
  const source = await readSource(file.root, file.path);
  if (source.sha256 !== undefined) peeking?.read(source.sha256);
  const opened = openTree(file, source);
  if (!opened.ok) return { id: stem, title: stem, phases: null, problems: opened.problems };
  const { tree, value } = opened;
  const problems = firstProblems(
    tree.flaws.map((flaw) => problemAt(tree, flaw.offset, flaw)),
    leftOut(tree.leftOut),
  );
  const named = own(value, 'workflow');
  const id = typeof named === 'string' && named !== '' ? named : stem;
  const title = own(value, 'title');
  return {
    id,
    title: typeof title === 'string' ? title : id,
    phases: phaseNames(own(value, 'phases')),
    problems,
  };
}

type Opened =
  | {
      readonly ok: true;
      readonly tree: YamlTree;
      readonly value: Json | undefined;
      readonly files: Loaded['files'];
    }
  | { readonly ok: false; readonly problems: readonly Problem[]; readonly files: Loaded['files'] };

function openTree(file: SourceFile, source: DefinitionSource): Opened {
  if (!source.ok) {
    const { code, message, line, column, sha256 } = source;
    const problems = [{ file: file.path, line, column, code, message, severity: 'error' as const }];
    return { ok: false, problems, files: sha256 === undefined ? {} : { [file.path]: sha256 } };
  }
  const files = { [file.path]: source.sha256 };
  const tree = parseOnce(file.path, source);
  if (tree.flaws.length > 0 && tree.value === undefined) {
    return {
      ok: false,
      problems: firstProblems(
        inOrder(
          tree.flaws.map((flaw) => problemAt(tree, flaw.offset, flaw)),
          file.path,
        ),
        leftOut(tree.leftOut),
      ),
      files,
    };
  }
  if (isJsonObject(tree.value)) return { ok: true, tree, value: tree.value, files };
  const empty = tree.value === null;
  const message = empty
    ? 'the file is empty; a contract starts with `workflow: NAME`'
    : 'a contract is a map of keys';
  const problem = problemAt(tree, 0, { code: empty ? 'empty_file' : 'wrong_type', message });
  return { ok: false, problems: [problem], files };
}

/** Two phases or gates of one id in a list: a map cannot have them, and the tree reports those itself. */
function duplicateIds(value: Json, tree: YamlTree): readonly ShapeProblem[] {
  return ['phases', 'gates'].flatMap((list) => {
    const items = own(value, list);
    const seen = new Map<string, YamlPath>();
    const ids: readonly (readonly [string | number | undefined, YamlPath])[] = Array.isArray(items)
      ? items.map((item: Json, index) => [phaseIdOf(own(item, 'id')), [list, index, 'id']])
      : [];
    return ids.flatMap(([id, path]): ShapeProblem[] => {
      if (id === undefined) return [];
      const first = seen.get(String(id));
      if (first === undefined) {
        seen.set(String(id), path);
        return [];
      }
      const { line, column } = tree.lines.at(tree.offsetOf(first));
      const noun = list === 'phases' ? 'phase' : 'gate';
      const message = `${noun} \`${id}\` is defined twice; the first is at ${line}:${column}`;
      return [{ path, code: `duplicate_${noun}`, message, at: 'value' }];
    });
  });
}

/** Every schema file the contract may name, read before it is translated. */
async function readSchemas(
  file: SourceFile,
  value: Json,
  read: SourceReader,
): Promise<ReadonlyMap<string, SchemaFile>> {
  const named = new Set<string>();
  const schemas = own(value, 'schemas');
  for (const schema of isJsonObject(schemas) ? Object.values(schemas) : []) {
    if (typeof schema === 'string') named.add(schema);
  }
  const phases = own(value, 'phases');
  for (const phase of typeof phases === 'object' && phases !== null ? Object.values(phases) : []) {
    const artifacts = own(phase, 'required_artifacts') ?? own(phase, 'requiredArtifacts');
    for (const artifact of Array.isArray(artifacts) ? artifacts : []) {
      const schema = own(artifact, 'schema');
      if (typeof schema === 'string' && own(schemas, schema) === undefined) named.add(schema);
    }
  }
  const files = [...named]
    .slice(0, 500)
    .map(async (path) => [path, await readSchemaFile(file.path, path, read)] as const);
  return new Map(await Promise.all(files));
}

/** What was found and not kept: of the file as it is written, and of its meaning. */
function leftOut(written: number, { errors, notes } = { errors: 0, notes: 0 }) {
  return { errors: errors + written, notes };
}

function phaseNames(phases: Json | undefined): readonly string[] | null {
  if (isJsonObject(phases)) return Object.keys(phases);
  if (!Array.isArray(phases)) return null;
  return phases.map((phase: Json) => String(own(phase, 'id') ?? '?'));
}

function isPhase(path: YamlPath): boolean {
  return path.length === 2 && (path[0] === 'phases' || path[0] === 'gates');
}

function withHint(message: string): string {
  return message.endsWith('outside this schema') ? `${message}: put what it names under \`$defs\`` : message;
}

function problemAt(
  tree: YamlTree,
  offset: number,
  about: { readonly code: string; readonly message: string; readonly severity?: Problem['severity'] },
): Problem {
  const { code, message, severity = 'error' } = about;
  return { file: tree.file, ...tree.lines.at(offset), code, message, severity };
}

/** The contract's own problems first, each file's by position; the same problem only once. */
function inOrder(problems: readonly Problem[], contract: string): readonly Problem[] {
  const unique = new Map(problems.map((problem) => [JSON.stringify(problem), problem]));
  return [...unique.values()].toSorted(
    (a, b) =>
      Number(b.file === contract) - Number(a.file === contract) ||
      (a.file < b.file ? -1 : a.file > b.file ? 1 : 0) ||
      a.line - b.line ||
      a.column - b.column,
  );
}

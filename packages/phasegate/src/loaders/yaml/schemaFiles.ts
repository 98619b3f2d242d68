import { dirname, posix } from 'node:path';
import { isJsonObject, type JsonObject, type Problem } from '@phasegate/core';
import { jsonFault, Lines } from '@phasegate/core/model';
import type { DefinitionSource } from '../../runtime/ports.ts';
import { type YamlPath, YamlTree } from './yamlTree.ts';

/** Gives the schema a contract names by a path; undefined where it is not available, which was reported. */
export type SchemaReader = (
  path: string,
  at: YamlPath,
  draftPath: YamlPath,
) => JsonObject | boolean | undefined;

/** Reads a file of the project as text. */
export type SourceReader = (path: string) => Promise<DefinitionSource>;

/** A schema file as it was read. */
export interface SchemaFile {
  readonly tree: YamlTree | null;
  readonly schema: JsonObject | boolean | undefined;
  /** Problems inside the file, with places of their own. */
  readonly problems: readonly Problem[];
  /** Why the file is not available at all; belongs to the place that names it. */
  readonly refusal: { readonly code: string; readonly message: string } | null;
  readonly path: string;
  readonly sha256: string | undefined;
}

/** Reads a schema file named by a contract, relative to the contract. Only files of the project are read. */
export async function readSchemaFile(
  contract: string,
  named: string,
  read: SourceReader,
): Promise<SchemaFile> {
  const refused = (code: string, message: string, sha256?: string): SchemaFile => ({
    tree: null,
    schema: undefined,
    problems: [],
    refusal: { code, message },
    path: named,
    sha256,
  });
  if (!/\.(?:json|ya?ml)$/i.test(named)) {
    return refused(
      'bad_schema',
      `\`${named}\` is not a schema file; it must end in \`.json\`, \`.yaml\` or \`.yml\``,
    );
  }
  if (named.startsWith('/') || /^[A-Za-z]:/.test(named))
    return refused('path_outside', `\`${named}\` leaves the project`);
  const path = posix.join(dirname(contract), named);
  const source = await read(path);
  if (!source.ok) {
    const missing = source.code === 'file_unreadable' ? `schema file ${source.message}` : source.message;
    return refused(source.code, missing, source.sha256);
  }
  // A contract may name many: others are to be served in between.
  await new Promise((resume) => setImmediate(resume));
  return { ...parseSchema(source.path, source.text), path: source.path, sha256: source.sha256 };
}

function parseSchema(
  path: string,
  text: string,
): Pick<SchemaFile, 'tree' | 'schema' | 'problems' | 'refusal'> {
  const lines = new Lines(text);
  const problem = (offset: number, code: string, message: string): Problem => ({
    file: path,
    ...lines.at(offset),
    code,
    message,
    severity: 'error',
  });
  const broken = (found: readonly Problem[]) => ({
    tree: null,
    schema: undefined,
    problems: found,
    refusal: null,
  });
  if (/\.json$/i.test(path)) {
    const fault = jsonFault(text);
    if (fault !== null) return broken([problem(fault.offset, 'syntax', `not JSON: ${fault.message}`)]);
  }
  const tree = new YamlTree(path, text);
  if (tree.flaws.length > 0)
    return broken(tree.flaws.map((flaw) => problem(flaw.offset, flaw.code, flaw.message)));
  const { value } = tree;
  if (!isJsonObject(value) && typeof value !== 'boolean') {
    return broken([problem(0, 'bad_schema', 'a JSON Schema is a map, `true` or `false`')]);
  }
  return { tree, schema: value, problems: [], refusal: null };
}

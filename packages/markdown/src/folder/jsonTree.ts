import { isJsonObject, type JsonObject } from '@phasegate/core';
import { jsonFault, Lines } from '@phasegate/core/model';
import type { DefinitionPath, DefinitionReader, DefinitionTree } from '@phasegate/core/ports';
import type { Place, Report } from './report.ts';

/** What a file is read with, and where it is said what is wrong with it. */
export interface Reading {
  readonly reader: DefinitionReader;
  readonly report: Report;
}

/** A JSON object of which every part has a place. */
export interface PlacedObject {
  readonly value: JsonObject;
  readonly tree: DefinitionTree;
  readonly reader: DefinitionReader;
  /** The place of the value at a path, or of its key. */
  at(path: DefinitionPath, part?: 'key' | 'value'): Place;
}

/** Reads a JSON file as an object; null after it was reported. */
export function readJsonTree(file: string, text: string, reading: Reading): PlacedObject | null {
  const { report } = reading;
  const lines = new Lines(text);
  if (text.trim() === '') {
    report.error({ file, line: 1, column: 1 }, { code: 'empty_file', message: `\`${file}\` is empty` });
    return null;
  }
  const fault = jsonFault(text);
  if (fault !== null) {
    report.error(
      { file, ...lines.at(fault.offset) },
      { code: 'syntax', message: `not JSON: ${fault.message}` },
    );
    return null;
  }
  // JSON has no tab but between its parts, and YAML would take one there for indentation.
  return readYamlTree(file, text.replaceAll('\t', ' '), reading);
}

/** Reads a YAML file as an object; null after it was reported. */
export function readYamlTree(file: string, text: string, { reader, report }: Reading): PlacedObject | null {
  const tree = reader.tree(file, text);
  for (const problem of tree.problems) report.error(problem.place, problem);
  if (tree.value === undefined || tree.problems.length > 0) return null;
  const { value } = tree;
  if (!isJsonObject(value)) {
    const empty = value === null;
    const message = empty ? `\`${file}\` is empty` : `\`${file}\` must hold a map of keys`;
    report.error({ file, line: 1, column: 1 }, { code: empty ? 'empty_file' : 'wrong_type', message });
    return null;
  }
  return { value, tree, reader, at: tree.at };
}

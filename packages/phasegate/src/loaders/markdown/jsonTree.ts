import { isJsonObject, type JsonObject } from '@phasegate/core';
import { jsonFault, Lines } from '@phasegate/core/model';
import { type YamlPath, YamlTree } from '../yaml/yamlTree.ts';
import type { Place, Report } from './report.ts';

/** A JSON object of which every part has a place. */
export interface PlacedObject {
  readonly value: JsonObject;
  readonly tree: YamlTree;
  /** The place of the value at a path, or of its key. */
  at(path: YamlPath, part?: 'key' | 'value'): Place;
}

/** Reads a JSON file as an object; null after it was reported. */
export function readJsonTree(file: string, text: string, report: Report): PlacedObject | null {
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
  return readYamlTree(file, text.replaceAll('\t', ' '), report);
}

/** Reads a YAML file as an object; null after it was reported. */
export function readYamlTree(file: string, text: string, report: Report): PlacedObject | null {
  const tree = new YamlTree(file, text);
  for (const flaw of tree.flaws) report.error({ file, ...tree.lines.at(flaw.offset) }, flaw);
  if (tree.value === undefined || tree.flaws.length > 0) return null;
  const { value } = tree;
  if (!isJsonObject(value)) {
    const empty = value === null;
    const message = empty ? `\`${file}\` is empty` : `\`${file}\` must hold a map of keys`;
    report.error({ file, line: 1, column: 1 }, { code: empty ? 'empty_file' : 'wrong_type', message });
    return null;
  }
  return {
    value,
    tree,
    at: (path, part = 'value') => ({ file, ...tree.lines.at(tree.offsetOf(path, part)) }),
  };
}

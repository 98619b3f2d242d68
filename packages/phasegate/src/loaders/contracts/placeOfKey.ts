import { readSource } from '../readSource.ts';
import { YamlTree } from '../yaml/yamlTree.ts';

/** A place in a file of the project. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Where a key of a section stands in a definition of any format; the file's beginning where it cannot be told. */
export async function placeOfKey(
  root: string,
  file: string,
  [section, key]: readonly [string, string],
): Promise<Place> {
  const source = await readSource(root, file);
  if (!source.ok) return { file, line: 1, column: 1 };
  const tree = new YamlTree(file, /\.ya?ml$/.test(file) ? source.text : '');
  if (tree.value !== undefined && tree.value !== null) {
    return { file, ...tree.lines.at(tree.offsetOf([section, key], 'key')) };
  }
  // A module is not parsed for this: the first thing of that name after the section's is what an author looks at.
  const from = Math.max(source.text.indexOf(section), 0);
  const found = new RegExp(`(?<![\\w$])["']?${key.replaceAll(/[^\w]/g, '\\$&')}["']?\\s*:`).exec(
    source.text.slice(from),
  );
  const lines = source.text.slice(0, from + (found?.index ?? 0)).split('\n');
  return { file, line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

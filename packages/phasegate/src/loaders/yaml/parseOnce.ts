import { YamlTree } from './yamlTree.ts';

/** Of many files only the newest are kept. */
const MOST = 32;
const trees = new Map<string, YamlTree>();

/** The tree of a file with this content: a file is peeked at to learn its name, and then loaded, and parsed once. */
export function parseOnce(
  file: string,
  { text, sha256 }: { readonly text: string; readonly sha256: string },
): YamlTree {
  const key = `${sha256} ${file}`;
  const tree = trees.get(key) ?? new YamlTree(file, text);
  trees.delete(key);
  trees.set(key, tree);
  for (const oldest of trees.keys()) {
    if (trees.size <= MOST) break;
    trees.delete(oldest);
  }
  return tree;
}

import { YamlTree } from './yamlTree.ts';

/** Of many files only the newest are kept: as many as workflows, so that all of a listing are there when they are loaded. */
const MOST = 128;
/** The same in characters of all of them: a tree takes about fifty times as much memory as its text. */
const MOST_CHARACTERS = 1_000_000;
const trees = new Map<string, YamlTree>();
/** Of all that are kept. */
let characters = 0;

/** The tree of a file with this content: a file is peeked at to learn its name, and then loaded, and parsed once. */
export function parseOnce(
  file: string,
  { text, sha256 }: { readonly text: string; readonly sha256: string },
): YamlTree {
  const key = `${sha256} ${file}`;
  const known = trees.get(key);
  const tree = known ?? new YamlTree(file, text);
  if (known === undefined) characters += tree.length;
  trees.delete(key);
  trees.set(key, tree);
  for (const [oldest, { length }] of trees) {
    if (trees.size === 1 || (trees.size <= MOST && characters <= MOST_CHARACTERS)) break;
    trees.delete(oldest);
    characters -= length;
  }
  return tree;
}

import type { YamlPath, YamlTree } from './yamlTree.ts';

/** A place in one of the files a contract is made of. */
export interface Place {
  readonly tree: YamlTree;
  readonly path: YamlPath;
}

/** Remembers where each part of a draft came from. */
export class SourceMap {
  readonly #tree: YamlTree;
  readonly #places = new Map<string, Place>();

  constructor(tree: YamlTree) {
    this.#tree = tree;
  }

  /** A part of the draft stands at a path of the contract, or of another file. */
  put(draftPath: YamlPath, path: YamlPath, tree: YamlTree = this.#tree): void {
    const key = JSON.stringify(draftPath);
    // A schema's file was read before its name is mapped; the file is the better place.
    if (this.#places.get(key)?.tree !== undefined && this.#places.get(key)?.tree !== this.#tree) return;
    this.#places.set(key, { tree, path });
  }

  /** Where a part of the draft stands: the place of its nearest known ancestor, walked on from there. */
  find(draftPath: YamlPath): Place {
    return this.locate(draftPath) ?? { tree: this.#tree, path: draftPath };
  }

  /** The same, or null where nothing is known of it. */
  locate(draftPath: YamlPath): Place | null {
    for (let length = draftPath.length; length > 0; length--) {
      const place = this.#places.get(JSON.stringify(draftPath.slice(0, length)));
      if (place !== undefined) return { tree: place.tree, path: [...place.path, ...draftPath.slice(length)] };
    }
    return null;
  }

  /** A scalar of the contract exactly as it was written. */
  sourceOf(path: YamlPath): string | undefined {
    return this.#tree.sourceOf(path);
  }
}

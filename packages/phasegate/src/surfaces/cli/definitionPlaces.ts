import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PhaseId } from '@phasegate/core';

/** A part of a definition that something can be said about. */
export type DefinitionPart =
  | { readonly kind: 'phase'; readonly name: PhaseId }
  | { readonly kind: 'param' | 'property'; readonly name: string };

/** Where something stands; without a line where the file is no YAML or JSON, or does not have the part itself. */
export interface DefinitionPlace {
  readonly file: string;
  readonly line: number | null;
  readonly column: number | null;
}

/** Finds parts of a definition in the file it was written in. What cannot be found is said to be in the file. */
export async function definitionPlaces(
  root: string,
  file: string,
): Promise<(part: DefinitionPart) => DefinitionPlace> {
  const nowhere = { file, line: null, column: null };
  const text = /\.(?:ya?ml|json)$/u.test(file)
    ? await readFile(join(root, file), 'utf8').catch(() => null)
    : null;
  if (text === null) return () => nowhere;
  // Loaded late: only who has something to point at pays for the parser.
  const { isMap, isNode, isSeq, LineCounter, parseDocument } = await import('yaml');
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  return ({ kind, name }) => {
    const parts = document.get(LISTS[kind], true);
    const entries = isMap(parts) ? parts.items.map(({ key }) => [key, key] as const) : [];
    const items = isSeq(parts)
      ? parts.items.flatMap((item) =>
          isMap(item) ? NAMES.flatMap((key) => (item.has(key) ? [[item.get(key), item] as const] : [])) : [],
        )
      : [];
    const found = [...entries, ...items].find(([named]) => String(named) === String(name))?.[1];
    if (!isNode(found) || !found.range) return nowhere;
    const { line, col } = lines.linePos(found.range[0]);
    return { file, line, column: col };
  };
}

const LISTS = { phase: 'phases', param: 'params', property: 'properties' } as const;
/** What an item of a list may be called by. */
const NAMES = ['id', 'name', 'phase_number'];

import type { Json } from '@phasegate/core';
import { isMap, LineCounter, parseDocument } from 'yaml';

/** A place in a text, from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** The value with a way to find its parts, or what is wrong with the text. */
export type ParsedText =
  | {
      readonly ok: true;
      readonly value: Json;
      /** Where the part at a path stands; a member of a map stands at its key. */
      placeOf(path: readonly (string | number)[]): Place;
    }
  | {
      readonly ok: false;
      readonly problems: readonly (Place & { readonly code: string; readonly message: string })[];
    };

/** Parses YAML, and JSON with it, keeping places. Loaded only where it is needed: the parser is not small. */
export function parseWithPlaces(text: string): ParsedText {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false, version: '1.2' });
  const place = (offset: number): Place => {
    const { line, col } = lineCounter.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  // An unknown tag is only a warning to the parser; to us it is something that would be ignored.
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) {
    return {
      ok: false,
      problems: faults.map(({ pos, message }) => ({
        ...place(pos[0]),
        code: 'syntax',
        message: lower(message),
      })),
    };
  }
  const placeOf = (path: readonly (string | number)[]): Place => {
    const parent = path.length <= 1 ? document.contents : document.getIn(path.slice(0, -1), true);
    const pair = isMap(parent)
      ? parent.items.find((item) => String(item.key) === String(path.at(-1)))
      : undefined;
    const node = (pair?.key ?? document.getIn(path, true)) as
      | { readonly range?: readonly number[] }
      | undefined;
    return place(node?.range?.[0] ?? 0);
  };
  try {
    // Through JSON once more: what is no JSON (a value that holds itself) fails here and not later.
    const value = JSON.parse(JSON.stringify(document.toJS({ maxAliasCount: 100 }) ?? null)) as Json;
    return { ok: true, value, placeOf };
  } catch (error) {
    const message = `cannot be read as data: ${(error as Error).message.split('\n')[0]}`;
    return { ok: false, problems: [{ line: 1, column: 1, code: 'syntax', message }] };
  }
}

function lower(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1);
}

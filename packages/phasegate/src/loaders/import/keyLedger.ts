import { isJsonObject, type Json, own, PhasegateError } from '@phasegate/core';
import type { ImportedKey } from '../../runtime/ports.ts';
import type { YamlPath, YamlTree } from '../yaml/yamlTree.ts';

/** A value of the source and where it stands. */
export interface Spot {
  readonly value: Json | undefined;
  readonly path: YamlPath;
}

/**
 * Keeps what became of every key of a YAML file. INVARIANT: a key nobody spoke for is in the list all the same, as left
 * out; so nothing of the source can be lost without a line about it.
 */
export class KeyLedger {
  readonly #tree: YamlTree;
  readonly #named: string;
  readonly #spoken = new Map<string, { readonly became: ImportedKey['became']; readonly text: string }>();

  constructor(tree: YamlTree, named: string) {
    this.#tree = tree;
    this.#named = named;
  }

  get root(): Spot {
    return { value: this.#tree.value, path: [] };
  }

  /** The key went to a place of our contract, with all that is under it. */
  mapped(spot: Spot, to: string): void {
    this.#speak(spot, 'mapped', to);
  }

  /** A human decides it. */
  human(spot: Spot, reason: string): void {
    this.#speak(spot, 'human', reason);
  }

  /** It has no meaning here. */
  leftOut(spot: Spot, reason: string): void {
    this.#speak(spot, 'left_out', reason);
  }

  /** The fault that ends an import at a place. */
  refusal(spot: Spot, message: string, hint: string): PhasegateError {
    const place = this.#tree.lines.at(this.#tree.offsetOf(spot.path));
    return new PhasegateError('workflow_invalid', `\`${this.#named}\` cannot be imported`, {
      problems: [{ file: this.#named, ...place, code: 'not_importable', message, severity: 'error' }],
      hint,
    });
  }

  /**
   * The members of a list. Anything else at its place ends the import: a gate that is written in a way that is not
   * understood would otherwise be none.
   */
  list(spot: Spot): readonly Spot[] {
    if (spot.value === undefined || spot.value === null || Array.isArray(spot.value)) return itemsOf(spot);
    throw this.refusal(spot, `\`${String(spot.path.at(-1))}\` is not a list`, 'write it as a list');
  }

  /** A map, with the same care. */
  map(spot: Spot): Spot {
    if (spot.value === undefined || spot.value === null || isJsonObject(spot.value)) return spot;
    throw this.refusal(spot, `\`${String(spot.path.at(-1))}\` is not a map`, 'write it as a map of keys');
  }

  /** Every key of the file once, in its order. */
  keys(): readonly ImportedKey[] {
    return this.#walk(this.#tree.value, []);
  }

  #speak({ value, path }: Spot, became: ImportedKey['became'], text: string): void {
    if (value !== undefined) this.#spoken.set(JSON.stringify(path), { became, text });
  }

  #walk(value: Json | undefined, path: YamlPath): readonly ImportedKey[] {
    const spoken = this.#spoken.get(JSON.stringify(path));
    if (spoken !== undefined) return [this.#entry(path, spoken)];
    const parts: readonly (readonly [string | number, Json])[] = isJsonObject(value)
      ? Object.entries(value)
      : Array.isArray(value)
        ? value.map((item: Json, index) => [index, item] as const)
        : [];
    const below = parts.flatMap(([step, part]) => this.#walk(part, [...path, step]));
    const isKey = typeof path.at(-1) === 'string';
    if (isKey && (value === null || (parts.length === 0 && typeof value === 'object')))
      return [this.#entry(path, { became: 'mapped', text: 'empty: it says nothing' })];
    // A list or map nobody spoke for and in which nothing was meant either is one line, not one for each part.
    const silent = below.every(({ text }) => text.startsWith(UNKNOWN));
    return isKey && silent ? [this.#entry(path, { became: 'left_out', text: UNKNOWN })] : below;
  }

  #entry(path: YamlPath, about: Pick<ImportedKey, 'became' | 'text'>): ImportedKey {
    const place = this.#tree.lines.at(this.#tree.offsetOf(path, 'key'));
    const under = about.became === 'left_out' ? keysUnder(this.#valueAt(path)) : 0;
    const text =
      under === 0 ? about.text : `${about.text} (with ${under} ${under === 1 ? 'key' : 'keys'} in it)`;
    return { file: this.#named, ...place, key: this.#nameOf(path), became: about.became, text };
  }

  #valueAt(path: YamlPath): Json | undefined {
    let value = this.#tree.value;
    for (const step of path)
      value = Array.isArray(value) ? (value[Number(step)] as Json) : own(value, String(step));
    return value;
  }

  /** A path with the names of its members instead of their positions. */
  #nameOf(path: YamlPath): string {
    let value = this.#tree.value;
    const names = path.map((step) => {
      value = Array.isArray(value) ? (value[Number(step)] as Json) : own(value, String(step));
      const name = own(value, 'id') ?? own(value, 'type') ?? own(value, 'check') ?? own(value, 'rule');
      return typeof step === 'number' ? `[${typeof name === 'string' ? name : step}]` : `.${step}`;
    });
    return names.join('').replace(/^\./, '');
  }
}

const UNKNOWN = 'not a key of this format as far as it is known here';

function keysUnder(value: Json | undefined): number {
  const parts = typeof value === 'object' && value !== null ? Object.values(value) : [];
  const own = isJsonObject(value) ? parts.length : 0;
  return parts.reduce<number>((sum, part) => sum + keysUnder(part as Json), own);
}

/** Keys and values for the human who decides about them: ` (a: 1, b: "x")`; empty where there are none. */
export function inBrackets(spots: readonly Spot[]): string {
  const parts = spots.map(({ path, value }) => `${String(path.at(-1))}: ${JSON.stringify(value)}`);
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

/** A member of a map. */
export function at(spot: Spot, key: string): Spot {
  return { value: own(spot.value, key), path: [...spot.path, key] };
}

/** The members of a list. */
export function itemsOf(spot: Spot): readonly Spot[] {
  const { value, path } = spot;
  return Array.isArray(value)
    ? value.map((item: Json, index) => ({ value: item, path: [...path, index] }))
    : [];
}

/** The members of a map that are not named. */
export function others(spot: Spot, named: readonly string[]): readonly Spot[] {
  const keys = isJsonObject(spot.value) ? Object.keys(spot.value) : [];
  return keys.filter((key) => !named.includes(key)).map((key) => at(spot, key));
}

/** A text, or undefined where it is something else or empty; numbers are written out. */
export function textOf({ value }: Spot): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

/** The texts of a list; a text alone is a list of one. */
export function textsOf(spot: Spot): readonly string[] {
  return (Array.isArray(spot.value) ? itemsOf(spot) : [spot]).flatMap((item) => textOf(item) ?? []);
}

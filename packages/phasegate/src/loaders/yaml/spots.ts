import { isJsonObject, type Json, own, type PhaseId, type Target } from '@phasegate/core';
import { readPhaseId } from '@phasegate/core/model';
import type { SourceMap } from './sourceMap.ts';
import { camelCase } from './spelling.ts';
import type { YamlPath } from './yamlTree.ts';

/** A value with its place in the YAML. */
export interface Spot {
  readonly value: Json | undefined;
  readonly at: YamlPath;
}

/** Reads a contract part by part and remembers, for each part of the draft, where it came from. */
export class Spots {
  readonly map: SourceMap;

  constructor(map: SourceMap) {
    this.map = map;
  }

  /** The member of a map in either spelling; its place is remembered under `draftPath`. */
  get(spot: Spot, key: string, draftPath: YamlPath): Spot {
    const spelling = own(spot.value, key) === undefined ? camelCase(key) : key;
    const value = isJsonObject(spot.value) ? own(spot.value, spelling) : undefined;
    const at = [...spot.at, value === undefined ? key : spelling];
    if (value !== undefined) this.map.put(draftPath, at);
    return { value, at };
  }

  text(spot: Spot, key: string, draftPath: YamlPath): string | undefined {
    return textOf(this.get(spot, key, draftPath).value);
  }

  texts(spot: Spot, key: string, draftPath: YamlPath): readonly string[] | undefined {
    return this.textsOf(this.get(spot, key, draftPath), draftPath);
  }

  textsOf(spot: Spot, draftPath: YamlPath): readonly string[] | undefined {
    return this.items(spot, draftPath, (item) => textOf(item.value));
  }

  number(spot: Spot, key: string, draftPath: YamlPath): number | undefined {
    const { value } = this.get(spot, key, draftPath);
    return typeof value === 'number' ? value : undefined;
  }

  flag(spot: Spot, key: string, draftPath: YamlPath): boolean | undefined {
    const { value } = this.get(spot, key, draftPath);
    return typeof value === 'boolean' ? value : undefined;
  }

  choice<T extends string>(
    spot: Spot,
    key: string,
    draftPath: YamlPath,
    choices: readonly T[],
  ): T | undefined {
    const { value } = this.get(spot, key, draftPath);
    return choices.find((choice) => choice === value);
  }

  target(spot: Spot, key: string, draftPath: YamlPath): Target | undefined {
    return targetOf(this.get(spot, key, draftPath).value);
  }

  /** Every member of a map, read on its own. */
  members<T>(
    spot: Spot,
    draftPath: YamlPath,
    read: (member: Spot, draftPath: YamlPath) => T,
  ): Readonly<Record<string, T>> | undefined {
    if (!isJsonObject(spot.value)) return undefined;
    return Object.fromEntries(
      Object.entries(spot.value).map(([name, value]) => {
        const at = [...spot.at, name];
        this.map.put([...draftPath, name], at);
        return [name, read({ value, at }, [...draftPath, name])];
      }),
    );
  }

  /** Every item of a list that can be read. */
  items<T>(
    spot: Spot,
    draftPath: YamlPath,
    read: (item: Spot, draftPath: YamlPath) => T | undefined,
  ): readonly T[] | undefined {
    if (!Array.isArray(spot.value)) return undefined;
    const items: T[] = [];
    spot.value.forEach((value: Json, index) => {
      const path = [...draftPath, items.length];
      const at = [...spot.at, index];
      const item = read({ value, at }, path);
      if (item === undefined) return;
      this.map.put(path, at);
      items.push(item);
    });
    return items;
  }
}

/** The value if it is text. */
export function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The value as the id of a phase. */
export function phaseIdOf(value: Json | undefined): PhaseId | undefined {
  if (typeof value === 'string' && value !== '') return readPhaseId(value);
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** The value as the id of a phase, or `null` for the end. */
export function targetOf(value: Json | undefined): Target | undefined {
  return value === null ? null : phaseIdOf(value);
}

/** An object without the members that are undefined. */
export function defined<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

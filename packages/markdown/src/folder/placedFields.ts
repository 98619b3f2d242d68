import { isJsonObject, type Json, type JsonObject, own } from '@phasegate/core';
import { didYouMean, unknownKey } from '@phasegate/core/model';
import type { PlacedObject } from './jsonTree.ts';
import type { Place, Report } from './report.ts';

type Path = readonly (string | number)[];

/** Reads fields of a placed object by type; what has the wrong type or is missing is reported with its place. */
export class PlacedFields {
  readonly #tree: PlacedObject;
  readonly #report: Report;
  readonly #path: Path;
  readonly object: JsonObject;

  constructor(tree: PlacedObject, report: Report, path: Path = []) {
    this.#tree = tree;
    this.#report = report;
    this.#path = path;
    let here: Json | undefined = tree.value;
    for (const step of path) here = own(here, String(step));
    this.object = isJsonObject(here) ? here : {};
  }

  /** Where it stands in the file. */
  get path(): Path {
    return this.#path;
  }

  /** The place of a key's value, or of the key. */
  at(key?: string, part?: 'key' | 'value'): Place {
    return this.#tree.at(key === undefined ? this.#path : [...this.#path, key], part);
  }

  /** The place of an item or a member of a list or map below. */
  placeIn(key: string, item: string): Place {
    const value = own(this.object, key);
    return this.#tree.at([...this.#path, key, Array.isArray(value) ? Number(item) : item]);
  }

  text(key: string): string | undefined {
    const value = own(this.object, key);
    if (value === undefined || (typeof value === 'string' && value.trim() !== '')) return value;
    if (value === '') this.error(key, 'bad_value', `\`${this.#name(key)}\` must not be empty`);
    else this.#wrongType(key, 'text');
    return undefined;
  }

  /** Text that must be there. */
  demandText(key: string): string | undefined {
    if (own(this.object, key) !== undefined) return this.text(key);
    this.#report.error(this.at(), { code: 'missing_key', message: `\`${this.#name(key)}\` is missing` });
    return undefined;
  }

  flag(key: string): boolean | undefined {
    const value = own(this.object, key);
    if (value === undefined || typeof value === 'boolean') return value;
    this.#wrongType(key, '`true` or `false`');
    return undefined;
  }

  whole(key: string): number | undefined {
    const value = own(this.object, key);
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
    this.#wrongType(key, 'a whole number');
    return undefined;
  }

  /** The fields of an object below, or undefined. */
  below(key: string): PlacedFields | undefined {
    const value = own(this.object, key);
    if (value === undefined) return undefined;
    if (isJsonObject(value)) return new PlacedFields(this.#tree, this.#report, [...this.#path, key]);
    this.#wrongType(key, 'a map');
    return undefined;
  }

  /** The fields of each object in a list below, or undefined. */
  list(key: string): readonly PlacedFields[] | undefined {
    const value = own(this.object, key);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) {
      this.#wrongType(key, 'a list');
      return undefined;
    }
    return value.flatMap((item: Json, index) => {
      const path = [...this.#path, key, index];
      if (isJsonObject(item)) return [new PlacedFields(this.#tree, this.#report, path)];
      this.#report.error(this.#tree.at(path), {
        code: 'wrong_type',
        message: `\`${this.#name(key)}[${index}]\` must be a map, not ${shown(item)}`,
      });
      return [];
    });
  }

  /** The texts of a list below, or undefined. */
  texts(key: string): readonly string[] | undefined {
    const value = own(this.object, key);
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.every((item): item is string => typeof item === 'string')) return value;
    this.#wrongType(key, 'a list of texts');
    return undefined;
  }

  /** A note for every key that is in none of the lists. */
  noteUnknown(read: readonly string[], descriptive: ReadonlySet<string>): void {
    for (const key of Object.keys(this.object)) {
      if (read.includes(key) || descriptive.has(key)) continue;
      const message = `\`${this.#name(key)}\` is not read${didYouMean(key, read)}`;
      this.#report.note(this.at(key, 'key'), { code: 'unknown_key', message });
    }
  }

  /** An error for every key that is not read and not shared with contracts; a note for those known to mean nothing. */
  refuseUnknown(read: readonly string[], withoutMeaning: readonly string[]): void {
    const { reader } = this.#tree;
    const known = [...read, ...reader.phaseKeys];
    for (const key of Object.keys(this.object)) {
      if (read.includes(key) || reader.isPhaseKey(key)) continue;
      if (withoutMeaning.includes(key)) {
        const message = `\`${this.#name(key)}\` means nothing here`;
        this.#report.note(this.at(key, 'key'), { code: 'no_meaning', message });
        continue;
      }
      const message = `${unknownKey(this.#name(key), known)}; known are ${known.join(', ')}`;
      this.#report.error(this.at(key, 'key'), { code: 'unknown_key', message });
    }
  }

  error(key: string, code: string, message: string): void {
    this.#report.error(this.at(key), { code, message });
  }

  errorAt(place: Place, code: string, message: string): void {
    this.#report.error(place, { code, message });
  }

  note(key: string, code: string, message: string): void {
    this.#report.note(this.at(key), { code, message });
  }

  #wrongType(key: string, wanted: string): void {
    const message = `\`${this.#name(key)}\` must be ${wanted}, not ${shown(own(this.object, key))}`;
    this.error(key, 'wrong_type', message);
  }

  #name(key: string): string {
    const path = this.#path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
    return `${path}.${key}`.replace(/^\./, '');
  }
}

function shown(value: Json | undefined): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'a map';
  if (typeof value === 'string') return value.length > 60 ? 'text' : `\`${value}\``;
  return `\`${String(value)}\``;
}

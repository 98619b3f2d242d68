import { isJsonObject, type Json, type JsonObject } from '../../json.ts';
import { didYouMean } from '../suggest.ts';
import { quoted } from '../wording.ts';
import { IN_PLACE, KEYWORDS, regexProblem, type Shape, shapeProblem, UNSUPPORTED } from './schemaKeywords.ts';
import { pointerOf } from './schemaPass.ts';

/** Something wrong with a schema itself: `path` leads to it, `message` goes on from `the schema …`. */
export interface SchemaDefect {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Every schema inside a schema, and every way from one to another. */
export interface Survey {
  /** By JSON pointer; a schema always comes before those inside it. */
  readonly places: ReadonlyMap<string, Place>;
  readonly defects: readonly SchemaDefect[];
}

/** One schema inside a schema. */
export interface Place {
  readonly schema: JsonObject | boolean;
  readonly path: readonly (string | number)[];
  /** Pointers of the schemas that judge the same value. */
  readonly inPlace: string[];
  /** Pointer of the schema that `$ref` names. */
  ref: string | null;
}

/** Looks at a whole schema once: finds its parts, resolves every `$ref`, and lists all that is wrong. */
export function surveySchema(schema: JsonObject | boolean): Survey {
  const surveyor = new Surveyor(schema);
  surveyor.visit(schema, []);
  surveyor.resolve();
  surveyor.findCircles();
  return surveyor;
}

const DIALECT = /^https?:\/\/json-schema\.org\/(?:draft\/20(?:20-12|19-09)|draft-0[67])\/schema#?$/;

class Surveyor implements Survey {
  readonly places = new Map<string, Place>();
  readonly defects: SchemaDefect[] = [];
  readonly #anchors = new Map<string, string>();
  /** The root's `$id`, which a `$ref` may start with. */
  readonly #id: string;

  constructor(root: JsonObject | boolean) {
    this.#id = isJsonObject(root) && typeof root.$id === 'string' ? root.$id.replace(/#$/, '') : '';
  }

  visit(schema: Json, path: readonly (string | number)[]): void {
    if (!isJsonObject(schema) && typeof schema !== 'boolean') {
      this.#defect(path, 'needs an object or a boolean as every schema inside it');
      return;
    }
    const place: Place = { schema, path, inPlace: [], ref: null };
    this.places.set(pointerOf(path), place);
    if (typeof schema === 'boolean') return;
    for (const [keyword, value] of Object.entries(schema)) this.#keyword(place, keyword, value);
  }

  resolve(): void {
    for (const place of this.places.values()) {
      if (typeof place.schema === 'boolean' || typeof place.schema.$ref !== 'string') continue;
      const target = this.#target(place.schema.$ref);
      if (target.ok) place.ref = target.pointer;
      else
        this.#defect(
          [...place.path, '$ref'],
          `has the \`$ref\` ${quoted(place.schema.$ref)}, ${target.reason}`,
        );
    }
  }

  /** A circle that never goes into a part of the value would never end. */
  findCircles(): void {
    const done = new Set<string>();
    const open = new Set<string>();
    const follow = (pointer: string): void => {
      if (done.has(pointer)) return;
      open.add(pointer);
      const place = this.places.get(pointer);
      for (const next of place === undefined ? [] : waysFrom(place)) {
        if (!open.has(next)) follow(next);
        else if (place?.ref === next) {
          this.#defect(
            [...place.path, '$ref'],
            'has a `$ref` that leads back to itself without going into the value',
          );
        }
      }
      open.delete(pointer);
      done.add(pointer);
    };
    for (const pointer of this.places.keys()) follow(pointer);
  }

  #keyword(place: Place, keyword: string, value: Json): void {
    if (keyword.startsWith('x-')) return;
    const path = [...place.path, keyword];
    const shape = KEYWORDS.get(keyword);
    if (shape === undefined) {
      this.#defect(path, unknownKeyword(keyword));
      return;
    }
    const problem = shapeProblem(keyword, shape, value) ?? this.#textProblem(keyword, value, place);
    if (problem !== null) this.#defect(path, problem);
    else this.#inner(place, keyword, shape);
  }

  #textProblem(keyword: string, value: Json, place: Place): string | null {
    if (typeof value !== 'string') return null;
    if (keyword === 'pattern') return regexProblem(value);
    if (keyword === '$schema' && !DIALECT.test(value))
      return `is written in ${quoted(value)}, which is not understood`;
    // A base inside would change what every `$ref` below it means.
    if (keyword === '$id' && place.path.length > 0)
      return 'has an `$id` inside; only the outermost schema has one';
    if (keyword !== '$anchor') return null;
    if (this.#anchors.has(value)) return `has the \`$anchor\` ${quoted(value)} twice`;
    this.#anchors.set(value, pointerOf(place.path));
    return null;
  }

  #inner(place: Place, keyword: string, shape: Shape): void {
    const value = (place.schema as JsonObject)[keyword] as Json;
    for (const [key, schema] of innerSchemas(shape, value)) {
      const path = key === null ? [...place.path, keyword] : [...place.path, keyword, key];
      const problem = shape === 'schemaByPattern' ? regexProblem(String(key)) : null;
      if (problem !== null) this.#defect(path, problem);
      if (IN_PLACE.has(keyword)) place.inPlace.push(pointerOf(path));
      this.visit(schema, path);
    }
  }

  #target(
    ref: string,
  ): { readonly ok: true; readonly pointer: string } | { readonly ok: false; readonly reason: string } {
    const [base = '', ...rest] = ref.split('#');
    if (base !== '' && base !== this.#id) return { ok: false, reason: 'which is outside this schema' };
    const fragment = decoded(rest.join('#'));
    if (fragment === null) return { ok: false, reason: 'which is not a reference' };
    const isAnchor = fragment !== '' && !fragment.startsWith('/');
    const pointer = isAnchor ? this.#anchors.get(fragment) : fragment;
    if (pointer === undefined || !this.places.has(pointer))
      return { ok: false, reason: 'where there is no schema' };
    return { ok: true, pointer };
  }

  #defect(path: readonly (string | number)[], message: string): void {
    this.defects.push({ path, message });
  }
}

function waysFrom(place: Place): readonly string[] {
  return place.ref === null ? place.inPlace : [...place.inPlace, place.ref];
}

function innerSchemas(shape: Shape, value: Json): readonly (readonly [string | number | null, Json])[] {
  if (shape === 'schema') return [[null, value]];
  if (shape === 'schemaList') return (value as readonly Json[]).map((schema, index) => [index, schema]);
  if (shape === 'schemaMap' || shape === 'schemaByPattern') return Object.entries(value as JsonObject);
  return [];
}

function unknownKeyword(keyword: string): string {
  const instead = UNSUPPORTED.get(keyword);
  if (instead !== undefined) return `has the keyword ${quoted(keyword)}, which is not supported; ${instead}`;
  return `has an unknown keyword ${quoted(keyword)}${didYouMean(keyword, KEYWORDS.keys())}`;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

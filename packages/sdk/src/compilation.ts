import type { Json, PhaseId, Target } from '@phasegate/core';
import type { DraftProblem, FunctionRef } from '@phasegate/core/model';
import { didYouMean, readPhaseId, unknownKey } from '@phasegate/core/model';
import type { StepContext } from './stepContext.ts';

/** A function an author wrote, whatever it is for. */
export type WorkflowFunction = (ctx: StepContext) => unknown;

/** What a function is for, which says what it must return. A `helper` is given the database, and called by the others only. */
export type FunctionKind = 'check' | 'condition' | 'handler' | 'body' | 'helper';

/** A place in the draft. */
export type Path = readonly (string | number)[];

/** A value that has keys, not yet looked at. */
export type Fields = Readonly<Record<string, unknown>>;

/**
 * Gathers what a definition compiles to: problems and functions. Its readers return `undefined` for what is
 * absent or wrong, and note what is wrong, so that all of it is reported at once and nothing throws.
 */
export class Compilation {
  readonly problems: DraftProblem[] = [];
  readonly functions: Record<FunctionRef, WorkflowFunction> = {};
  readonly kinds: Record<FunctionRef, FunctionKind> = {};

  problem(path: Path, code: string, message: string): void {
    this.problems.push({ path, code, message, severity: 'error' });
  }

  /** Keeps a function under a name of its own; a second one of that name gets a number. */
  keep(name: string, kind: FunctionKind, run: WorkflowFunction): FunctionRef {
    let ref = name;
    for (let count = 2; Object.hasOwn(this.functions, ref); count++) ref = `${name}-${count}`;
    this.functions[ref] = run;
    this.kinds[ref] = kind;
    return ref;
  }

  /** The value as a map whose keys are all known. */
  fields(value: unknown, path: Path, known: readonly string[] | null): Fields | undefined {
    if (value === undefined) return undefined;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return this.#wrong(path, 'an object', value);
    }
    for (const key of known === null ? [] : Object.keys(value)) {
      if (known?.includes(key)) continue;
      this.problem([...path, key], 'unknown_key', unknownKey(key, known ?? []));
    }
    return value as Fields;
  }

  text(value: unknown, path: Path): string | undefined {
    if (value === undefined || typeof value === 'string') return value;
    return this.#wrong(path, 'text', value);
  }

  number(value: unknown, path: Path): number | undefined {
    if (value === undefined || (typeof value === 'number' && Number.isFinite(value))) return value;
    return this.#wrong(path, 'a number', value);
  }

  flag(value: unknown, path: Path): boolean | undefined {
    if (value === undefined || typeof value === 'boolean') return value;
    return this.#wrong(path, '`true` or `false`', value);
  }

  choice<T extends string>(value: unknown, path: Path, choices: readonly T[]): T | undefined {
    if (value === undefined) return undefined;
    const found = choices.find((choice) => choice === value);
    if (found !== undefined) return found;
    const hint = typeof value === 'string' ? didYouMean(value, choices) : '';
    const names = choices.map((choice) => `\`${choice}\``).join(', ');
    this.problem(path, 'bad_value', `\`${nameOf(path)}\` must be one of ${names}, not ${show(value)}${hint}`);
    return undefined;
  }

  /** The value as a list, each item read on its own; items that cannot be read are left out. */
  list<T>(
    value: unknown,
    path: Path,
    read: (item: unknown, path: Path) => T | undefined,
  ): readonly T[] | undefined {
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) return this.#wrong(path, 'a list', value);
    const items: T[] = [];
    value.forEach((item, index) => {
      const at = [...path, index];
      const read_ = item === undefined ? this.#wrong(at, 'a value', item) : read(item, at);
      if (read_ !== undefined) items.push(read_);
    });
    return items;
  }

  /** The value as a map of names, each member read on its own. */
  map<T>(
    value: unknown,
    path: Path,
    read: (member: unknown, path: Path, name: string) => T | undefined,
  ): Readonly<Record<string, T>> | undefined {
    const fields = this.fields(value, path, null);
    if (fields === undefined) return undefined;
    return Object.fromEntries(
      Object.entries(fields).flatMap(([name, member]) => {
        const read_ = read(member, [...path, name], name);
        return read_ === undefined ? [] : [[name, read_] as const];
      }),
    );
  }

  texts(value: unknown, path: Path): readonly string[] | undefined {
    return this.list(value, path, (item, at) => this.text(item, at));
  }

  id(value: unknown, path: Path): PhaseId | undefined {
    if (value === undefined) return undefined;
    if (typeof value === 'string' && value !== '') return readPhaseId(value);
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
    return this.#wrong(path, 'the name of a step', value);
  }

  target(value: unknown, path: Path): Target | undefined {
    if (value === null) return null;
    return this.id(value, path);
  }

  /** A copy of a JSON value; what JSON has no word for is a problem. */
  json(value: unknown, path: Path): Json | undefined {
    return this.#json(value, path, []);
  }

  #json(value: unknown, path: Path, above: readonly unknown[]): Json | undefined {
    if (value === undefined) return undefined;
    if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    if (typeof value !== 'object' || above.includes(value) || above.length > 200) {
      return this.#wrong(path, 'plain JSON', value);
    }
    const deeper = [...above, value];
    if (Array.isArray(value)) {
      // A list with holes is walked whole: `map` would leave them in.
      return Array.from(value, (item, index) => this.#json(item, [...path, index], deeper) ?? null);
    }
    if (Object.getPrototypeOf(value) !== Object.prototype && Object.getPrototypeOf(value) !== null) {
      return this.#wrong(path, 'plain JSON', value);
    }
    const members = Object.entries(value).map(
      ([key, member]) => [key, this.#json(member, [...path, key], deeper)] as const,
    );
    return Object.fromEntries(
      members.filter((member): member is readonly [string, Json] => member[1] !== undefined),
    );
  }

  #wrong(path: Path, wanted: string, value: unknown): undefined {
    this.problem(path, 'wrong_type', `\`${nameOf(path)}\` must be ${wanted}, not ${show(value)}`);
    return undefined;
  }
}

/** An object without the members that are undefined. */
export function defined<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

function nameOf(path: Path): string {
  const last = path.at(-1);
  return typeof last === 'number' ? `${path.at(-2) ?? ''}[${last}]` : (last ?? 'definition');
}

function show(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'boolean' || typeof value === 'number') {
    return `\`${String(value)}\``;
  }
  if (typeof value === 'string') return value.length > 60 ? 'text' : `\`${value}\``;
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'function') return 'a function';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

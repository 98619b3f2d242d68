import { didYouMean } from '@phasegate/core/model';

/** A part of `ctx`, and what reading a name from it may mean. */
export interface Named {
  /** As the author writes it, e.g. `ctx.params`. */
  readonly root: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Names that are declared: null while nothing is there. */
  readonly known: readonly string[];
  /** What to do about a name that is not there. */
  readonly cure: (name: string) => string;
}

/** Read by the language itself, of any object: to tell promises apart, and to write JSON. */
const ASKED_OF_ANY = ['then', 'toJSON'];
const MOST_NAMES = 20;
const views = new WeakSet<object>();

/**
 * The data as an object of which no mistyped name can be read: `undefined` would pass for a value in `!== null`.
 * What is there are plain properties. The names that are not there are answered by the object's prototype, so that
 * keys, spread, JSON and copies are those of the data.
 */
export function namedView({ root, data, known, cure }: Named): Record<string, unknown> {
  const get = (target: object, key: string | symbol, receiver: unknown): unknown => {
    if (typeof key === 'string' && known.includes(key)) return null;
    if (typeof key === 'symbol' || key in target) return Reflect.get(target, key, receiver);
    if (ASKED_OF_ANY.includes(key)) return undefined;
    const names = [...new Set([...Object.keys(data), ...known])].sort();
    const error = new Error(
      `there is no \`${key}\` in \`${root}\`${didYouMean(key, names)}; ${inWords(names)}; ${cure(key)}`,
    );
    // The place to be told is the author's.
    Error.captureStackTrace(error, get);
    throw error;
  };
  const view: Record<string, unknown> = Object.defineProperties(
    Object.create(new Proxy({}, { get })),
    Object.getOwnPropertyDescriptors(data),
  );
  views.add(view);
  return view;
}

/** Whether this is an object that `namedView` made. */
export function isNamedView(value: object): boolean {
  return views.has(value);
}

function inWords(names: readonly string[]): string {
  if (names.length === 0) return 'it is empty';
  const shown = names.slice(0, MOST_NAMES).map((name) => `\`${name}\``);
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
  return `it has ${shown.join(', ')}${more}`;
}

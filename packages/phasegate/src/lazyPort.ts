/** Something that is made when it is first asked for, and only once. */
export interface Lazy<T> {
  get(): Promise<T>;
  /** What was made; undefined while nobody has asked for it. */
  made(): Promise<T> | undefined;
}

/** Waits with making something until it is asked for. */
export function lazy<T>(make: () => Promise<T>): Lazy<T> {
  let made: Promise<T> | undefined;
  return {
    get: () => {
      made ??= make();
      return made;
    },
    made: () => made,
  };
}

type Method<Answer = unknown> = (...args: never[]) => Promise<Answer>;

/** The names of the methods of `T` that can wait until there is a `T`. */
type MethodName<T, Answer = unknown> = {
  [Name in keyof T]: T[Name] extends Method<Answer> ? Name : never;
}[keyof T];

/** A port by names: a room is loaded when the first of `calls` is made; `ends` do nothing where it never was. */
export function lazyPort<T, Call extends MethodName<T>, End extends MethodName<T, void> = never>(
  port: Lazy<T>,
  { calls, ends = [] }: { readonly calls: readonly Call[]; readonly ends?: readonly End[] },
): Pick<T, Call | End> {
  const callOf =
    (name: Call) =>
    async (...args: never[]) =>
      port.get().then((made) => on(made, name)(...args));
  const endOf =
    (name: End) =>
    async (...args: never[]) =>
      port.made()?.then((made) => on(made, name)(...args));
  return Object.fromEntries([
    ...calls.map((name) => [name, callOf(name)]),
    ...ends.map((name) => [name, endOf(name)]),
  ]) as Pick<T, Call | End>;
}

function on<T>(made: T, name: keyof T): Method {
  return (made[name] as Method).bind(made);
}

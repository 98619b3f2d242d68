/** The methods a path is served with, whatever method it was asked for by; empty for a path that is not served. */
export function methodsOf(
  routes: readonly { readonly method: string; readonly path: string }[],
  path: string,
): readonly string[] {
  const methods = new Set<string>();
  for (const route of routes) {
    // Middleware and mounts take every method; they are not routes of their own.
    if (route.method === 'ALL' || !patternOf(route.path).test(path)) continue;
    methods.add(route.method);
    if (route.method === 'GET') methods.add('HEAD');
  }
  return [...methods].sort();
}

/** A route's path as a pattern: `:name` is one segment, `:name{…}` what the braces say. */
function patternOf(path: string): RegExp {
  const source = path.replace(/[.+?^$()|[\]\\]|:\w+(\{[^}]*\})?|\*/g, (found) => {
    if (found === '*') return '.*';
    if (!found.startsWith(':')) return `\\${found}`;
    const braces = /\{(.*)\}$/.exec(found)?.[1];
    return braces === undefined ? '[^/]+' : `(?:${braces})`;
  });
  return new RegExp(`^${source}$`);
}

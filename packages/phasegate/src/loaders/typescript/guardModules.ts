import { isBuiltin, registerHooks } from 'node:module';
import { dirname, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { LOADS_BY_ITSELF, type Opening, OUR_ENTRIES, type SealedModule } from './hostProtocol.ts';

/** Something is loaded that is not among the files that were accepted. */
export class CodeChanged extends Error {
  /** As Node's own, so that code which tries what may not be there goes on without it. */
  readonly code: string;

  constructor(message: string, isRequire: boolean) {
    super(message);
    this.code = isRequire ? 'MODULE_NOT_FOUND' : 'ERR_MODULE_NOT_FOUND';
  }
}

const isSource = import.meta.url.endsWith('.ts');

/** The file behind each entry of our own packages. */
function ourPackages(): ReadonlyMap<string, string> {
  const source = (path: string) => new URL(`../../../../${path}`, import.meta.url).href;
  const entries = Object.entries(OUR_ENTRIES).map(
    ([name, path]) => [name, isSource ? source(path) : import.meta.resolve(name)] as const,
  );
  // What is published has this in the files of the SDK.
  return new Map(isSource ? [...entries, ['#wire', source('wire/src/index.ts')]] : entries);
}

/**
 * From here on nothing is loaded but what was handed over: sources made from the bytes that were hashed, and the links
 * between them that were found then. No file of the project or of a package is opened again, so there is no moment in
 * between, and no way to a file that was not hashed: not by `import()`, `require`, `createRequire` or a URL.
 */
export function guardModules({ root, modules }: Opening): void {
  const packages = ourPackages();
  const ours = [
    ...[...packages.values()].map((url) => `${dirname(url)}/`),
    new URL('../../', import.meta.url).href,
  ];
  const sealed = new Map<string, SealedModule>();
  for (const [real, module] of Object.entries(modules)) sealed.set(pathToFileURL(real).href, module);
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const url = packages.get(specifier);
      if (url !== undefined) return { url, shortCircuit: true };
      const isRequire = context.conditions.includes('require');
      const importer = context.parentURL === undefined ? undefined : sealed.get(context.parentURL);
      if (isBuiltin(specifier) && !(importer !== undefined && LOADS_BY_ITSELF.test(specifier)))
        return nextResolve(specifier, context);
      const target = importer?.links[`${isRequire ? 'require' : 'import'}:${specifier}`];
      if (target !== undefined) return found(pathToFileURL(target).href);
      if (importer === undefined && isOurs(context.parentURL)) {
        return sealed.has(specifier) ? found(specifier) : nextResolve(specifier, context);
      }
      throw new CodeChanged(
        `\`${specifier}\` is loaded${from(context.parentURL)}, but was not hashed`,
        isRequire,
      );
    },
    load(url, context, nextLoad) {
      const module = sealed.get(url);
      if (module !== undefined) return { format: module.format, source: module.source, shortCircuit: true };
      if (url.startsWith('node:') || isOurs(url)) return nextLoad(url, context);
      throw new CodeChanged(`\`${url}\` is loaded, but was not hashed`, false);
    },
  });

  function found(url: string) {
    return { url, format: sealed.get(url)?.format ?? null, shortCircuit: true };
  }

  function isOurs(url: string | undefined): boolean {
    return url !== undefined && !sealed.has(url) && ours.some((folder) => url.startsWith(folder));
  }

  function from(parent: string | undefined): string {
    return parent?.startsWith('file:') ? ` by \`${relative(root, fileURLToPath(parent))}\`` : '';
  }
}

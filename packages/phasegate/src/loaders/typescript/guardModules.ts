import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { dirname, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Opening } from './hostProtocol.ts';
import { resolveImport } from './resolveImport.ts';

/** A file is not the one that was accepted. */
export class CodeChanged extends Error {}

const isSource = import.meta.url.endsWith('.ts');

/** Our own packages: the engine's copy always, as one found in the workspace may have been put there by an agent. */
function ourPackages(): Readonly<Record<string, string>> {
  if (!isSource) {
    return {
      '@phasegate/sdk': import.meta.resolve('@phasegate/sdk'),
      '@phasegate/core': import.meta.resolve('@phasegate/core'),
    };
  }
  const source = (name: string) => new URL(`../../../../${name}/src/index.ts`, import.meta.url).href;
  return { '@phasegate/sdk': source('sdk'), '@phasegate/core': source('core') };
}

/**
 * From here on, a file of the project is loaded only if its bytes have the hash they were accepted with. The bytes
 * that are hashed are the bytes that run, so there is no moment in between.
 */
export function guardModules({ root, files }: Opening): void {
  const packages = ourPackages();
  const ours = Object.values(packages).map((url) => `${dirname(url)}/`);
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const url = packages[specifier];
      if (url !== undefined) return { url, shortCircuit: true };
      const parent = context.parentURL;
      if (parent?.startsWith('file:') && /^\.\.?(?:\/|$)/.test(specifier) && !isOurs(parent)) {
        const file = resolveImport(fileURLToPath(parent), specifier);
        if (file !== undefined) return { url: pathToFileURL(realpathSync(file)).href, shortCircuit: true };
      }
      return nextResolve(specifier, context);
    },
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!url.startsWith('file:') || isOurs(url)) return loaded;
      const path = fileURLToPath(url);
      const way = relative(root, path);
      if (way.split(sep).includes('node_modules')) return loaded;
      const expected = Object.hasOwn(files, path) ? files[path] : undefined;
      if (expected === undefined)
        throw new CodeChanged(`\`${way}\` is loaded, but nothing imports it by name`);
      const { source } = loaded;
      const bytes = typeof source === 'string' ? Buffer.from(source) : Buffer.from(source as Uint8Array);
      if (createHash('sha256').update(bytes).digest('hex') !== expected)
        throw new CodeChanged(`\`${way}\` has changed`);
      return loaded;
    },
  });

  function isOurs(url: string): boolean {
    return ours.some((folder) => url.startsWith(folder));
  }
}

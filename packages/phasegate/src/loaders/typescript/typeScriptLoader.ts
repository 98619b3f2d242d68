import type { Known } from '@phasegate/core';
import { unloadable } from '@phasegate/core/model';
import type { Functions, Loader, SourceFile } from '../../runtime/ports.ts';
import type { KeptModule } from './loadTypeScript.ts';

/** What the loader checks definitions against, and what runs their code. */
export interface TypeScriptLoaderOptions {
  readonly known: Known;
  readonly functions: Functions;
}

const NAMED = /\.workflow\.m?[jt]s$/;
const IN_FOLDER = /^(?:workflows|\.phasegate\/workflows|\.praxis-os\/workflows)\/[^/]+\.m?[jt]s$/;
/** More workflows than a project has, as a rule. */
const MOST_KEPT = 128;
const NEVER = /\.(?:d|test|spec)\.m?[jt]s$/;

/**
 * Loads workflows written in code: `*.workflow.ts`, and modules directly in a workflows folder. Listing reads
 * source only; a module is run, in a process of its own, when its workflow is loaded.
 */
export function createTypeScriptLoader({ known, functions }: TypeScriptLoaderOptions): Loader {
  const modules = new Map<string, KeptModule>();
  const keptOf = ({ root, path }: SourceFile): KeptModule => {
    const key = `${root}\0${path}`;
    const kept = modules.get(key) ?? { modules: new Map() };
    modules.delete(key);
    modules.set(key, kept);
    const oldest = modules.keys().next().value;
    if (modules.size > MOST_KEPT && oldest !== undefined) modules.delete(oldest);
    return kept;
  };
  return {
    format: 'typescript',
    accepts: (path) => !NEVER.test(path) && (NAMED.test(path) || IN_FOLDER.test(path)),
    peek: async (file, peeking) => {
      // Loaded late: the parser is not needed to run a workflow that is already compiled.
      const { peekTypeScript } = await import('./loadTypeScript.ts');
      return peekTypeScript(file, NAMED.test(file.path), peeking);
    },
    load: async (file) => {
      const { loadTypeScript } = await import('./loadTypeScript.ts');
      try {
        return await loadTypeScript(file, { known, functions, kept: keptOf(file) });
      } catch (error) {
        return unloadable(file.path, 'the file cannot be loaded', error);
      }
    },
  };
}

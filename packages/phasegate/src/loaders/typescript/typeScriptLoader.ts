import type { Known } from '@phasegate/core';
import { unloadable } from '@phasegate/core/model';
import type { Functions, Loader } from '../../runtime/ports.ts';

/** What the loader checks definitions against, and what runs their code. */
export interface TypeScriptLoaderOptions {
  readonly known: Known;
  readonly functions: Functions;
}

const NAMED = /\.workflow\.m?[jt]s$/;
const IN_FOLDER = /^(?:workflows|\.phasegate\/workflows|\.praxis-os\/workflows)\/[^/]+\.m?[jt]s$/;
const NEVER = /\.(?:d|test|spec)\.m?[jt]s$/;

/**
 * Loads workflows written in code: `*.workflow.ts`, and modules directly in a workflows folder. Listing reads
 * source only; a module is run, in a process of its own, when its workflow is loaded.
 */
export function createTypeScriptLoader({ known, functions }: TypeScriptLoaderOptions): Loader {
  return {
    format: 'typescript',
    accepts: (path) => !NEVER.test(path) && (NAMED.test(path) || IN_FOLDER.test(path)),
    peek: async (file) => {
      // Loaded late: the parser is not needed to run a workflow that is already compiled.
      const { peekTypeScript } = await import('./loadTypeScript.ts');
      return peekTypeScript(file, NAMED.test(file.path));
    },
    load: async (file) => {
      const { loadTypeScript } = await import('./loadTypeScript.ts');
      try {
        return await loadTypeScript(file, known, functions);
      } catch (error) {
        return unloadable(file.path, 'the file cannot be loaded', error);
      }
    },
  };
}

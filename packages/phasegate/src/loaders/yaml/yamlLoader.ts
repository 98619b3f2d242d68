import type { Known } from '@phasegate/core';
import { unloadable } from '@phasegate/core/model';
import type { Loader } from '../../runtime/ports.ts';

/** What the loader checks definitions against. */
export interface YamlLoaderOptions {
  readonly known: Known;
}

const CONTRACT = /(?:^|\/)(?:agent_workflow|[^/]+\.workflow)\.ya?ml$/;

/** Loads contracts: `agent_workflow.yaml` and `*.workflow.yaml`. */
export function createYamlLoader({ known }: YamlLoaderOptions): Loader {
  return {
    format: 'yaml',
    accepts: (path) => CONTRACT.test(path),
    peek: async (file) => {
      // Loaded late: reading YAML takes two libraries, and most processes never do it.
      const { peekYaml } = await import('./loadYaml.ts');
      return peekYaml(file);
    },
    load: async (file) => {
      const { loadYaml } = await import('./loadYaml.ts');
      try {
        return await loadYaml(file, known);
      } catch (error) {
        return unloadable(file.path, 'the file cannot be read', error);
      }
    },
  };
}

import type { Known } from '@phasegate/core';
import { KeptValues, unloadable } from '@phasegate/core/model';
import type { Loaded, Loader } from '../../runtime/ports.ts';

/** What the loader checks definitions against. */
export interface YamlLoaderOptions {
  readonly known: Known;
}

/** More workflows than a project has, as a rule. */
const MOST_KEPT = 128;

const CONTRACT = /(?:^|\/)(?:agent_workflow|[^/]+\.workflow)\.ya?ml$/;

/** Loads contracts: `agent_workflow.yaml` and `*.workflow.yaml`. */
export function createYamlLoader({ known }: YamlLoaderOptions): Loader {
  const loaded = new KeptValues<Loaded>(MOST_KEPT);
  // Loaded late: reading YAML takes two libraries, and most processes never do it. Kept, as asking for a module that
  // is there takes longer than finding that a file is as it was.
  let yaml: Promise<typeof import('./loadYaml.ts')> | undefined;
  const library = () => {
    yaml ??= import('./loadYaml.ts');
    return yaml;
  };
  return {
    format: 'yaml',
    accepts: (path) => CONTRACT.test(path),
    peek: async (file, peeking) => {
      const { peekYaml } = await library();
      return peekYaml(file, peeking);
    },
    load: async (file) => {
      const { loadYaml } = await library();
      try {
        return await loaded.get(`${file.root}\0${file.path}`, (readings) =>
          loadYaml(file, { known, readings }),
        );
      } catch (error) {
        return unloadable(file.path, 'the file cannot be read', error);
      }
    },
  };
}

import type { Known } from '@phasegate/core';
import type { Loader, SourceFile } from '../../runtime/ports.ts';

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
        return { workflow: null, problems: [unexpected(file, error)], files: {} };
      }
    },
  };
}

function unexpected(file: SourceFile, error: unknown) {
  const message = `the file cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  return { file: file.path, line: 1, column: 1, code: 'internal', message, severity: 'error' as const };
}

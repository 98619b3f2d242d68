import { configTemplate } from './config.ts';
import { minimalTemplate } from './minimal.ts';
import { tddTemplate } from './tdd.ts';
import type { Template } from './template.ts';

export type { Template };

/** Every template, the default first. */
export const TEMPLATES: readonly Template[] = [tddTemplate, minimalTemplate];

/** Where `init` writes the config. */
export const CONFIG = 'phasegate.config.yaml';

/** The template `init` takes when none is named. */
export const DEFAULT_TEMPLATE = tddTemplate.name;

/** The files of a fresh project: its config, with a port where one was asked for, and the example. */
export function filesOf(
  template: Template,
  port?: number,
): readonly {
  readonly path: string;
  readonly text: string;
  readonly instead?: readonly string[];
}[] {
  return [
    { path: CONFIG, text: configWith(port), instead: ['phasegate.config.json'] },
    { path: template.path, text: template.text },
  ];
}

function configWith(port: number | undefined): string {
  return port === undefined ? configTemplate : configTemplate.replace(/^# port: \d+$/m, `port: ${port}`);
}

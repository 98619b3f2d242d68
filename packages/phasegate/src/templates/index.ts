import { configTemplate } from './config.ts';
import { minimalTemplate } from './minimal.ts';
import { tddTemplate } from './tdd.ts';
import type { Template } from './template.ts';

export type { Template };

/** Every template, the default first. */
export const TEMPLATES: readonly Template[] = [tddTemplate, minimalTemplate];

/** The template `init` takes when none is named. */
export const DEFAULT_TEMPLATE = tddTemplate.name;

/** The files of a fresh project: its config and the example. */
export function filesOf(template: Template): readonly {
  readonly path: string;
  readonly text: string;
  readonly instead?: readonly string[];
}[] {
  return [
    { path: 'phasegate.config.yaml', text: configTemplate, instead: ['phasegate.config.json'] },
    { path: template.path, text: template.text },
  ];
}

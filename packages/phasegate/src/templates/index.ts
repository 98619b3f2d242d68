import { bugfixTemplate } from './bugfix.ts';
import { configTemplate } from './config.ts';
import { minimalTemplate } from './minimal.ts';
import { refactorTemplate } from './refactor.ts';
import { releaseTemplate } from './release.ts';
import { reviewTemplate } from './review.ts';
import { specTemplate } from './spec.ts';
import { tddTemplate } from './tdd.ts';
import type { Template, TemplateFile } from './template.ts';

export { besideOthers } from './besideOthers.ts';
export { LAYOUTS, type LayoutName, redCodesOf } from './layouts.ts';
export { plainWords } from './pieces.ts';
export type { Layout, ProjectTests, Template, TemplateFile } from './template.ts';

/** Every template, the default first. */
export const TEMPLATES: readonly Template[] = [
  tddTemplate,
  bugfixTemplate,
  refactorTemplate,
  specTemplate,
  reviewTemplate,
  releaseTemplate,
  minimalTemplate,
];

/** Where `init` writes the config. */
export const CONFIG = 'phasegate.config.yaml';

/** The template `init` takes when none is named. */
export const DEFAULT_TEMPLATE = tddTemplate.name;

/** The config of a fresh project, with a port where one was asked for. */
export function configFile(port?: number): TemplateFile & { readonly instead: readonly string[] } {
  return { path: CONFIG, text: configWith(port), instead: ['phasegate.config.json'] };
}

function configWith(port: number | undefined): string {
  return port === undefined ? configTemplate : configTemplate.replace(/^# port: \d+$/m, `port: ${port}`);
}

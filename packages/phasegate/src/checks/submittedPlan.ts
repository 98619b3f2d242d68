import { type Json, own } from '@phasegate/core';
import { compileGlob, globProblem } from '@phasegate/core/model';
import { display } from './scopePath.ts';
import { listIn, pass, refuse, type SubmittedRule } from './submitted.ts';

const SCOPE_KEYS = ['scope', 'paths', 'files'] as const;

const boundedScope = {
  summary: 'the submitted plan lists the paths it is about, and none of them is everything',
  artifact: 'plan',
  judge({ name, value }) {
    const scope = scopeOf(name, value);
    return typeof scope === 'string' ? refuse(scope) : pass(`\`${name}\` is about ${scope.length} paths`);
  },
} satisfies Omit<SubmittedRule, 'name'>;

/** Checks on the plan an agent submitted, and on what it says it changed. */
export const SUBMITTED_PLAN: readonly SubmittedRule[] = [
  { ...boundedScope, name: 'plan_has_scope' },
  { ...boundedScope, name: 'scope_is_bounded' },
  {
    name: 'changes_within_scope',
    summary: 'every submitted change lies within the scope of the submitted plan',
    artifact: 'changes',
    properties: {
      scope: {
        type: 'string',
        minLength: 1,
        description: 'Artifact that holds the scope; `plan` by default',
      },
    },
    judge({ name, value, with: { scope: holder = 'plan' }, measure }) {
      if (typeof holder !== 'string') throw new TypeError('`scope` must be a name');
      const scope = scopeOf(holder, measure(holder) ?? null);
      if (typeof scope === 'string') return refuse(scope);
      const changed = listIn(value, ['changes', 'paths', 'files'])?.map(pathOf);
      if (changed === undefined || changed.length === 0 || changed.includes(null)) {
        return refuse(`\`${name}\` is ${display(value)}, expected a list of changed paths`);
      }
      const within = scope.map((glob) => compileGlob(glob));
      const outside = changed.filter((path) => !within.some((matches) => matches(path ?? '')));
      if (outside.length > 0) {
        return refuse(
          `${outside.map((path) => `\`${path}\``).join(', ')} lies outside the scope of \`${holder}\``,
        );
      }
      return pass(`${changed.length} changes lie within the scope of \`${holder}\``);
    },
  },
];

/** The globs of a scope, or what is wrong with it. */
function scopeOf(name: string, value: Json): readonly string[] | string {
  const inner = own(value, 'scope');
  const list = listIn(value, SCOPE_KEYS) ?? (inner === undefined ? null : listIn(inner, SCOPE_KEYS));
  if (list === null || list.length === 0) {
    return `\`${name}\` is ${display(value ?? undefined)}, expected a list of paths as \`scope\`, \`paths\` or \`files\``;
  }
  const paths: string[] = [];
  for (const item of list) {
    if (typeof item !== 'string' || item.trim() === '')
      return `\`${name}\` lists ${display(item)}, expected a path`;
    const problem = globProblem(item);
    if (problem !== null) return `\`${item}\` in \`${name}\` ${problem}`;
    if (isEverything(item))
      return `\`${item}\` in \`${name}\` is everything; name the paths the work is about`;
    paths.push(item);
  }
  return paths;
}

// True for globs of stars alone, whose every part stands for anything.
function isEverything(glob: string): boolean {
  const parts = glob.split('/').filter((part) => part !== '.');
  return parts.every((part) => /^[*?]+$/u.test(part));
}

function pathOf(item: Json): string | null {
  const path = typeof item === 'string' ? item : own(item, 'path');
  return typeof path === 'string' && path !== '' ? path : null;
}

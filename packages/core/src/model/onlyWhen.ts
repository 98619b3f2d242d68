import { canonicalJson, type Json } from '../json.ts';
import type { PhasePlace } from './compile/compileContext.ts';
import type { Check } from './workflow.ts';

/**
 * What a phase's `onlyWhen` asks before it is entered: one `expression` for each param. What is declared is held to,
 * so that a way into a phase that the params gate out is refused instead of taken.
 */
export function onlyWhenChecks({ context, phase, path }: PhasePlace): readonly Check[] {
  const params = context.draft.params ?? {};
  return Object.entries(phase.onlyWhen ?? {}).map(([name, values]): Check => {
    const at = [...path, 'onlyWhen', name];
    if (!Object.hasOwn(params, name)) {
      const hint = context.problems.hint(name, () => Object.keys(params));
      context.problems.error(at, 'unknown_param', `there is no param \`${name}\`${hint}`);
    } else if (!/^[A-Za-z_]\w*$/.test(name)) {
      context.problems.error(at, 'bad_value', `\`${name}\` cannot stand in a condition`);
    }
    if (values.length === 0) {
      context.problems.error(at, 'bad_value', `\`onlyWhen\` names no value of \`${name}\``);
    }
    const given = Object.hasOwn(params, name) ? params[name]?.choices : undefined;
    const choices = given && new Set(given.map(canonicalJson));
    values.forEach((value, index) => {
      if (!isScalar(value)) {
        context.problems.error([...at, index], 'bad_value', 'a value is text, a number or true or false');
      } else if (choices && !choices.has(canonicalJson(value))) {
        const message = `\`${String(value)}\` is not a value of param \`${name}\``;
        context.problems.error([...at, index], 'bad_value', message);
      }
    });
    const words = values.map((value) => `\`${String(value)}\``).join(' or ');
    return {
      id: `${phase.id}/only_when/${name}`,
      use: 'expression',
      label: `only_when ${name}`,
      with: { condition: values.map((value) => `params.${name} === ${literal(value)}`).join(' || ') },
      message: `phase \`${phase.id}\` is only for a \`${name}\` of ${words}`,
      needs: 'claimed',
    };
  });
}

function isScalar(value: Json): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function literal(value: Json): string {
  return JSON.stringify(value);
}

import type { Json, JsonObject } from '@phasegate/core';
import { compileSchema } from '@phasegate/core/model';
import type { ToolImplementation } from './ports.ts';

/** Whether inputs fit the tools they are for. */
export interface InputRules {
  /**
   * What is wrong with an input, or null. Where not the `whole` input was given, as when somebody only asks whether
   * a path may be written, nothing need be there; what is there must be known.
   */
  problemOf(tool: Pick<ToolImplementation, 'input'>, input: JsonObject, whole: boolean): string | null;
}

/** Compiles schemas once for each tool. */
export function createInputRules(): InputRules {
  const compiled = new WeakMap<JsonObject, { readonly whole: Rule; readonly part: Rule }>();
  return {
    problemOf({ input: schema }, input, whole) {
      let rules = compiled.get(schema);
      if (rules === undefined) {
        const { required: _required, oneOf: _oneOf, anyOf: _anyOf, ...part } = schema;
        rules = { whole: ruleOf(schema), part: ruleOf(part) };
        compiled.set(schema, rules);
      }
      return (whole ? rules.whole : rules.part)(input);
    },
  };
}

type Rule = (input: Json) => string | null;

/** A schema of someone else's that we cannot read is left to them: their server checks its own inputs. */
function ruleOf(schema: JsonObject): Rule {
  const made = compileSchema(schema);
  if (!made.ok) return () => null;
  return (input) => {
    const [first] = made.validate(input);
    if (first === undefined) return null;
    return first.path === '' ? first.message : `\`${first.path}\` ${first.message}`;
  };
}

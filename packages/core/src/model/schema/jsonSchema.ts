import type { Json, JsonObject } from '../../json.ts';
import { buildChecks } from '../compile/buildChecks.ts';
import { beginPass, type Check, type SchemaProblem } from './schemaPass.ts';
import { sizeProblem } from './schemaSize.ts';
import { type SchemaDefect, surveySchema } from './surveySchema.ts';

export type { SchemaProblem } from './schemaPass.ts';
export type { SchemaDefect } from './surveySchema.ts';

/** A schema ready for use, or all that is wrong with it. */
export type CompiledSchema =
  | {
      readonly ok: true;
      /** All problems of a value, at most 50; none means that it is valid. */
      readonly validate: (value: Json) => readonly SchemaProblem[];
    }
  | { readonly ok: false; readonly problems: readonly SchemaDefect[] };

/**
 * Compiles a JSON Schema (2020-12) to plain functions: no code is generated and nothing is fetched. What is not
 * understood is a defect and never passed over, since a rule that is ignored lets everything through.
 */
export function compileSchema(schema: JsonObject | boolean): CompiledSchema {
  const size = sizeProblem(schema);
  if (size !== null) return { ok: false, problems: [size] };
  const survey = surveySchema(schema);
  if (survey.defects.length > 0) return { ok: false, problems: survey.defects };
  const check = buildChecks(survey);
  return { ok: true, validate: (value) => validate(check, value) };
}

const NOTHING: readonly SchemaProblem[] = [];

function validate(check: Check, value: Json): readonly SchemaProblem[] {
  try {
    const quick = beginPass(null);
    if (check(value, quick, null) && quick.overrun === null) return NOTHING;
    // It would only take as long again.
    if (quick.overrun !== null) return [{ path: '', message: quick.overrun }];
    const problems: SchemaProblem[] = [];
    const thorough = beginPass(problems);
    check(value, thorough, null);
    return thorough.overrun === null ? problems : [{ path: '', message: thorough.overrun }];
  } catch (error) {
    // A regular expression or a value that overflows the stack has not been checked, so it has not passed.
    return [
      {
        path: '',
        message: `could not be checked: ${error instanceof Error ? error.message : String(error)}`,
      },
    ];
  }
}

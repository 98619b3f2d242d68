import type { ParamDraft } from '@phasegate/core/model';
import { type Compilation, defined, type Path } from './compilation.ts';

const KEYS = ['type', 'description', 'choices', 'min', 'max', 'constant', 'default', 'required', 'setBy'];

/** Compiles one param: plain data, an `Arg`, or a domain. */
export function compileParam(compilation: Compilation, value: unknown, path: Path): ParamDraft | undefined {
  const fields = compilation.fields(value, path, null);
  if (fields === undefined) return undefined;
  // Domains are iterables made by `BoundedInt`, `ChoiceSet` and `Constant`; what they hold says which they are.
  if ('lo' in fields && 'hi' in fields) {
    return {
      type: 'integer',
      ...defined({
        min: compilation.number(fields.lo, [...path, 'min']),
        max: compilation.number(fields.hi, [...path, 'max']),
      }),
    };
  }
  if (Symbol.iterator in fields && 'choices' in fields) {
    return defined({
      choices: compilation.list(fields.choices, [...path, 'choices'], (item, at) =>
        compilation.json(item, at),
      ),
    });
  }
  if ('value' in fields) return defined({ constant: compilation.json(fields.value, [...path, 'constant']) });
  compilation.fields(value, path, KEYS);
  // An `Arg` says null where it says nothing.
  const given = (key: string) =>
    fields[key] === null && key !== 'default' && key !== 'constant' ? undefined : fields[key];
  return defined({
    type: compilation.text(given('type'), [...path, 'type']),
    description: compilation.text(given('description'), [...path, 'description']),
    choices: compilation.list(given('choices'), [...path, 'choices'], (item, at) =>
      compilation.json(item, at),
    ),
    min: compilation.number(given('min'), [...path, 'min']),
    max: compilation.number(given('max'), [...path, 'max']),
    constant: compilation.json(given('constant'), [...path, 'constant']),
    default: compilation.json(given('default'), [...path, 'default']),
    required: compilation.flag(given('required'), [...path, 'required']),
    setBy: compilation.text(given('setBy'), [...path, 'setBy']),
  });
}

import type { CompileContext } from './compile/compileContext.ts';
import { SCOPE_ROOTS } from './expression/expression.ts';
import { ENGINE_FIELDS, nameIn } from './names.ts';

/** Why a path of a gate's `context` or a list of items leads nowhere in the checkpoint, as far as that can be seen. */
export function checkpointPathProblem(context: CompileContext, path: string): string | null {
  if (!/^[A-Za-z_][\w-]*(?:\.[\w-]+)*$/.test(path)) {
    return `\`${path}\` is not a path into the checkpoint: write names with dots between them, such as \`plan.scope\` or \`results.STEP.name\``;
  }
  const name = nameIn(path);
  const rest = path.slice(name.length + 1);
  if (SCOPE_ROOTS.includes(name) && !context.evidenceNames.has(name) && rest !== '') {
    return `\`${path}\` begins with \`${name}\`, but this is a path into the checkpoint: write \`${rest}\``;
  }
  return checkpointNameProblem(context, name);
}

/**
 * Why nobody can ever own a bare name of the checkpoint, or null. Handlers and phases that declare nothing may give any
 * name a value; where there is neither, only the engine, params and declared evidence can.
 */
export function checkpointNameProblem(context: CompileContext, name: string): string | null {
  const { draft, params, evidenceNames } = context;
  if (ENGINE_FIELDS.includes(name) || Object.hasOwn(params, name) || evidenceNames.has(name)) return null;
  const open = draft.phases.some(
    ({ work, fields = [], artifacts = [] }) =>
      work?.kind === 'handler' || fields.length + artifacts.length === 0,
  );
  if (open) return null;
  return `nothing in this workflow gives \`${name}\` a value${context.problems.hint(name, () => [...ENGINE_FIELDS, ...Object.keys(params), ...evidenceNames])}`;
}

import type { GateDraft } from '@phasegate/core/model';
import { type Compilation, defined, type Path } from './compilation.ts';
import { compileConditions } from './compileCondition.ts';

const HUMAN_KEYS = ['prompt', 'context', 'options', 'approvers', 'quorum', 'required', 'separate', 'timeout'];

/** Compiles a gate with blockers, a human's decision, or both. */
export function compileGate(
  compilation: Compilation,
  value: unknown,
  { path, owner }: { readonly path: Path; readonly owner: string },
): GateDraft | undefined {
  const fields = compilation.fields(value, path, ['blockers', 'human']);
  if (fields === undefined) return undefined;
  if (fields.blockers === undefined && fields.human === undefined) {
    compilation.problem(path, 'missing_key', 'a gate needs `blockers` or `human`');
  }
  return defined({
    blockers: compileConditions(compilation, fields.blockers, {
      path: [...path, 'blockers'],
      owner: `${owner}/blockers`,
    }),
    human: compileHuman(compilation, fields.human, [...path, 'human']),
  });
}

/** Compiles a human's decision. */
export function compileHuman(
  compilation: Compilation,
  value: unknown,
  path: Path,
): GateDraft['human'] | undefined {
  const fields = compilation.fields(value, path, HUMAN_KEYS);
  if (fields === undefined) return undefined;
  for (const key of ['prompt', 'options']) {
    if (fields[key] === undefined) compilation.problem(path, 'missing_key', `a human gate needs \`${key}\``);
  }
  const options = compilation.list(fields.options, [...path, 'options'], (item, at) =>
    compileOption(compilation, item, at),
  );
  const timeout = compilation.fields(fields.timeout, [...path, 'timeout'], ['after', 'then', 'to']);
  const { to: target, ...words } = timeout ?? {};
  const to = compilation.target(target, [...path, 'timeout', 'to']);
  const times =
    timeout && compilation.map(words, [...path, 'timeout'], (item, at) => compilation.text(item, at));
  if (timeout !== undefined && timeout.after === undefined) {
    compilation.problem([...path, 'timeout'], 'missing_key', 'a timeout needs `after`');
  }
  return {
    prompt: compilation.text(fields.prompt, [...path, 'prompt']) ?? '',
    options: options ?? [],
    ...defined({
      context: compilation.texts(fields.context, [...path, 'context']),
      approvers: compilation.texts(fields.approvers, [...path, 'approvers']),
      quorum: compilation.number(fields.quorum, [...path, 'quorum']),
      required: compilation.flag(fields.required, [...path, 'required']),
      separate: compilation.flag(fields.separate, [...path, 'separate']),
      timeout:
        times?.after === undefined
          ? undefined
          : { after: times.after, ...times, ...(to === undefined || to === null ? {} : { to }) },
    }),
  };
}

function compileOption(compilation: Compilation, value: unknown, path: Path) {
  const fields = compilation.fields(value, path, ['label', 'nextStep', 'requiresInput', 'approves']);
  if (fields === undefined) return undefined;
  const label = compilation.text(fields.label, [...path, 'label']);
  if (fields.label === undefined) compilation.problem(path, 'missing_key', 'an option needs a `label`');
  if (label === undefined) return undefined;
  return {
    label,
    ...defined({
      next: compilation.target(fields.nextStep, [...path, 'next']),
      requiresInput: compilation.flag(fields.requiresInput, [...path, 'requiresInput']),
      approves: compilation.flag(fields.approves, [...path, 'approves']),
    }),
  };
}

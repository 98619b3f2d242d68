import { CHECK_SEVERITIES, type CheckDraft, EVIDENCE_CLASSES, type FunctionRef } from '@phasegate/core/model';
import { type Compilation, defined, type Path, type WorkflowFunction } from './compilation.ts';

const KEYS = ['name', 'check', 'error', 'message', 'with', 'needs', 'verify', 'recheck', 'severity'];
const SINGLE_WORD = /^[A-Za-z_]\w*$/;

/** Compiles a list of conditions; `owner` names their functions, e.g. `steps/writer/postconditions`. */
export function compileConditions(
  compilation: Compilation,
  value: unknown,
  { path, owner }: { readonly path: Path; readonly owner: string },
): readonly CheckDraft[] | undefined {
  return compilation.list(value, path, (item, at) =>
    compileCondition(compilation, item, { path: at, owner }),
  );
}

function compileCondition(
  compilation: Compilation,
  value: unknown,
  { path, owner }: { readonly path: Path; readonly owner: string },
): CheckDraft | undefined {
  const fields = compilation.fields(value, path, KEYS);
  if (fields === undefined) return undefined;
  const label = compilation.text(fields.name, [...path, 'name']);
  const error = compilation.text(fields.error, [...path, 'error']);
  const message = compilation.text(fields.message, [...path, 'message']);
  const common = {
    label,
    message: error ?? message,
    needs: compilation.choice(fields.needs, [...path, 'needs'], EVIDENCE_CLASSES),
    verify: compilation.flag(fields.verify, [...path, 'verify']),
    recheck: compilation.flag(fields.recheck, [...path, 'recheck']),
    severity: compilation.choice(fields.severity, [...path, 'severity'], CHECK_SEVERITIES),
  };
  const parameters = compilation.json(compilation.fields(fields.with, [...path, 'with'], null), [
    ...path,
    'with',
  ]);
  const { check } = fields;
  if (typeof check === 'function') {
    if (parameters !== undefined) {
      compilation.problem(
        [...path, 'with'],
        'unknown_key',
        '`with` is for checks on the shelf; a function takes none',
      );
    }
    const name = label ?? (check.name === 'check' || check.name === '' ? String(path.at(-1)) : check.name);
    return defined({
      ref: compilation.keep(`${owner}/${name}`, 'check', check as WorkflowFunction),
      ...common,
    });
  }
  if (typeof check !== 'string') {
    const wrong = '`check` must be a function, an expression or the name of a check';
    compilation.problem([...path, 'check'], check === undefined ? 'missing_key' : 'wrong_type', wrong);
    return undefined;
  }
  if (SINGLE_WORD.test(check)) return defined({ check, with: parameters as CheckDraft['with'], ...common });
  // A single word can never be a condition on its own, so anything longer is an expression.
  return defined({ check: 'expression', with: { condition: check }, ...common });
}

/** The condition of a `next`: text, or a function kept under a name. */
export function compileNextCondition(
  compilation: Compilation,
  value: unknown,
  { path, owner }: { readonly path: Path; readonly owner: string },
): string | { readonly ref: FunctionRef; readonly source: string } | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'function') {
    const ref = compilation.keep(`${owner}/condition`, 'condition', value as WorkflowFunction);
    return { ref, source: sourceOf(value as WorkflowFunction) };
  }
  const message = '`condition` must be an expression or a function';
  compilation.problem(path, value === undefined ? 'missing_key' : 'wrong_type', message);
  return undefined;
}

/** What a drawing shows of a function: its name, or the beginning of its text. */
function sourceOf(run: WorkflowFunction): string {
  if (run.name !== '' && run.name !== 'condition') return run.name;
  const text = run.toString().replace(/\s+/g, ' ');
  return text.length > 120 ? `${text.slice(0, 119)}…` : text;
}

import type { WorkflowDraft } from '@phasegate/core';
import { type Compilation, defined, type WorkflowFunction } from './compilation.ts';

/** What the database itself is called for; a helper of that name would hide it. */
const OWN_NAMES = [
  'all',
  'backup',
  'close',
  'constructor',
  'delete',
  'deleteDatabase',
  'dropTable',
  'exec',
  'get',
  'getDeleteConfirmation',
  'hasOwnProperty',
  'migrate',
  'prepare',
  'run',
  'then',
  'toJSON',
  'toString',
  'transaction',
  'truncateTable',
  'valueOf',
];

/** Compiles the database of a workflow; its helpers are kept as functions under `database/NAME`. */
export function compileDatabase(compilation: Compilation, value: unknown): WorkflowDraft['database'] {
  const path = ['database'];
  const fields = compilation.fields(value, path, ['file', 'migrations', 'keep', 'helpers']);
  if (fields === undefined) return undefined;
  if (fields.file === undefined) compilation.problem(path, 'missing_key', 'a database needs a `file`');
  compilation.map(fields.helpers, [...path, 'helpers'], (helper, at, name) => {
    if (typeof helper !== 'function') {
      compilation.problem(at, 'wrong_type', `helper \`${name}\` must be a function`);
    } else if (!/^[A-Za-z_]\w*$/.test(name) || name.startsWith('__') || OWN_NAMES.includes(name)) {
      compilation.problem(at, 'bad_value', `\`${name}\` cannot be the name of a helper`);
    } else {
      compilation.keep(`database/${name}`, 'helper', helper as WorkflowFunction);
    }
    return undefined;
  });
  const file = compilation.text(fields.file, [...path, 'file']);
  if (file === undefined) return undefined;
  return {
    file,
    ...defined({
      migrations: compilation.text(fields.migrations, [...path, 'migrations']),
      keep: compilation.number(fields.keep, [...path, 'keep']),
    }),
  };
}

import { oneLine, shellWord, type Unaccepted } from '@phasegate/core/model';
import type { Paint } from '../paint.ts';
import { table } from './table.ts';

/** A workflow in code that nobody accepted: what could be read of it, and the way on. */
export function unacceptedText(unaccepted: Unaccepted, paint: Paint): string {
  const { path, workflow } = unaccepted;
  return [
    `${paint.yellow('not accepted:')} no human has accepted \`${oneLine(path)}\` as it is now, so none of it was run ${paint.dim('[untrusted_workflow]')}`,
    closureText(unaccepted),
    `${paint.cyan('hint:')} phasegate trust ${shellWord(workflow)}, or \`--as NAME\` to let this one command run it`,
  ].join('\n');
}

/** The files of a workflow with their hashes. */
export function closureText({ closure, files }: Pick<Unaccepted, 'closure' | 'files'>): string {
  const rows = Object.entries(files).map(([path, sha256]) => [`  ${sha256}`, oneLine(path)]);
  return `closure ${closure}\n${table(rows)}`;
}

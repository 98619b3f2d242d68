import { oneLine, shellWord, type Unaccepted } from '@phasegate/core/model';
import type { Paint } from '../paint.ts';
import { table } from './table.ts';

/** A workflow in code that nobody accepted: what could be read of it, and the way on. */
export function unacceptedText(unaccepted: Unaccepted, paint: Paint): string {
  const { path, workflow } = unaccepted;
  return [
    `${paint.yellow('not accepted:')} no human has accepted \`${oneLine(path)}\` as it is now, so none of it was run ${paint.dim('[untrusted_workflow]')}`,
    `${paint.cyan('hint:')} phasegate trust ${shellWord(workflow)}, or \`--as NAME\` to let this one command run it`,
    closureText(unaccepted),
  ].join('\n');
}

/** The files of a workflow with the beginnings of their hashes; `--json` has the whole ones. */
export function closureText({ closure, files }: Pick<Unaccepted, 'closure' | 'files'>): string {
  const rows = Object.entries(files).map(([path, sha256]) => [`  ${short(sha256)}`, oneLine(path)]);
  return `closure ${short(closure)}: the hash of these files together, which a human accepts\n${table(rows)}`;
}

function short(hash: string): string {
  return hash.slice(0, 12);
}

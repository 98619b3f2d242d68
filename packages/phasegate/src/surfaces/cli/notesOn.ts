import { type JsonObject, own } from '@phasegate/core';
import { oneLine } from '@phasegate/core/model';
import type { Invocation } from './command.ts';

/**
 * What bears on a decision and is true only now, so it is not part of the signed card: files of the workflow that are
 * not as a human accepted them. A server does not tell.
 */
export async function notesOn({ server, open }: Invocation, card: JsonObject): Promise<readonly string[]> {
  if (server !== null) return [];
  const differs = await (await open()).trust.workflows.differing(String(own(card, 'workflow')));
  return (differs ?? []).map(({ path, change, reason }) =>
    reason !== undefined
      ? `\`${oneLine(path)}\` cannot be compared with what was accepted: ${oneLine(reason)}`
      : `\`${oneLine(path)}\` differs from what was accepted (${change}); this run keeps what it was started with`,
  );
}

import type { Run } from '@phasegate/core';
import { shellWord } from '@phasegate/core/model';

/** How a run goes on whose workflow's code is not what it was started with or migrated to: the same words everywhere. */
export function sameCodeAgain({ id, workflow }: Pick<Run, 'id' | 'workflow'>): string {
  const file = workflow.module ?? workflow.id;
  return `bring \`${file}\` back as it was, or accept it with \`phasegate trust ${shellWord(workflow.id)}\` and move the run with \`phasegate migrate ${shellWord(id)}\``;
}

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import { shellWord } from '@phasegate/core/model';
import { isOutside } from './isOutside.ts';
import { requireOwnState } from './requireOwnState.ts';

/**
 * Where measures of the workspace are kept: in the state directory, or in a folder that nodes of one workspace share, so
 * that a phase which was entered at one of them can be completed at another. Nobody else may write there.
 */
export function measuresFolder(place: {
  readonly root: string;
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}): string {
  const named = place.env.PHASEGATE_MEASURES ?? '';
  if (named === '') return join(place.stateDir, 'fence');
  if (!isOutside(place.root, named))
    throw new PhasegateError(
      'usage',
      'PHASEGATE_MEASURES must name a folder outside of the project, from `/` on',
      {
        hint: 'name one that only the user of the nodes can write, or leave it out',
      },
    );
  // INVARIANT: made by an operator. A name that is misspelt, or a share that is not mounted, is not a folder of one's own.
  if (!existsSync(named))
    throw new PhasegateError('usage', `PHASEGATE_MEASURES names ${named}, which is not there`, {
      hint: `mount what the nodes share, or make it there once: \`mkdir -m 700 ${shellWord(named)}\``,
    });
  requireOwnState(named);
  return named;
}

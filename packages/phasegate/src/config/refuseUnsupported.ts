import { PhasegateError } from '@phasegate/core';
import type { Config } from '../config.ts';

/** A setting that would be ignored is worse than one that is refused. */
export function refuseUnsupported(config: Config): void {
  if (config.database !== null) {
    const message = `\`${config.file}\` sets \`database\`, which a file that agents may write cannot say`;
    const hint = 'name it once with `phasegate serve --database URL`, or with PHASEGATE_DATABASE';
    throw new PhasegateError('config_invalid', message, { hint });
  }
  const unsupported = [
    Object.keys(config.tools).length === 0 ? '' : 'tools',
    Object.keys(config.checks).length === 0 ? '' : 'checks',
  ].filter((key) => key !== '');
  if (unsupported.length === 0) return;
  const keys = unsupported.map((key) => `\`${key}\``).join(', ');
  throw new PhasegateError(
    'config_invalid',
    `\`${config.file}\` sets ${keys}, which this release cannot do yet`,
    {
      hint: 'remove it; groups of tools can stand in a workflow',
    },
  );
}

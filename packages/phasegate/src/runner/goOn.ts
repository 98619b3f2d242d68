import { shellWord } from '@phasegate/core/model';
import type { DriveRequest } from '../runtime/ports.ts';

/** What of a call must be given again. */
export type Onward = Pick<DriveRequest, 'agentLine' | 'sandbox'> & Partial<Pick<DriveRequest, 'adapter'>>;

/** The command that goes on with a run as it was driven: with the same agent, held in the same way. */
export function goOn({ agentLine, sandbox, adapter }: Onward, run: string): string {
  const agent = agentLine === undefined ? '' : ` --agent ${shellWord(agentLine)}`;
  const by = adapter === 'tmux' ? ' --adapter tmux' : '';
  return `phasegate run ${shellWord(run)}${agent}${by}${sandbox === true ? ' --sandbox' : ''}`;
}

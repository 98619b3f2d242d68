import type { PhaseId } from '@phasegate/core';
import { oneLine, shellWord } from '@phasegate/core/model';
import type { Dialect, NextCall } from '@phasegate/wire';

/** The next legal act in the words of a shell: the exact command where there is one. */
function spell({ action, run: runId }: NextCall): string {
  const run = shellWord(runId);
  switch (action.act) {
    case 'complete_phase':
      return `phasegate done ${run}${phaseOption(action.phase)}${itemOption(action.item)} --evidence -`;
    case 'get_task':
      return action.phase === undefined
        ? `phasegate next ${run}`
        : `phasegate task ${run} ${shellWord(String(action.phase))} ${action.task ?? 1}`;
    case 'wait_for_human':
      return `${oneLine(action.text)}; look again with \`phasegate status ${run}\``;
    case 'claim':
      return action.text === 'claim the run'
        ? `${action.text}: \`phasegate run ${run} --agent NAME\`, or \`phasegate claim ${run}\` to do it yourself`
        : oneLine(action.text);
    case 'use_allowed_tool':
    case 'start':
    case 'none':
      return oneLine(action.text);
  }
}

function itemOption(item: string | undefined): string {
  return item === undefined ? '' : ` --item ${shellWord(item)}`;
}

function phaseOption(phase: PhaseId | undefined): string {
  if (phase === undefined) return '';
  const word = shellWord(String(phase));
  return word.startsWith('-') ? ` --phase=${word}` : ` --phase ${word}`;
}

/** The same to a human whose own command was refused: they are not to wait, and work that goes on is their agent's. */
function spellToHuman(call: NextCall): string {
  const { act, text } = call.action;
  if (act === 'wait_for_human') return oneLine(text);
  const agents = act === 'complete_phase' || act === 'get_task' || act === 'use_allowed_tool';
  return agents ? `see where the run is with \`phasegate status ${shellWord(call.run)}\`` : spell(call);
}

/** The words of a shell, for the human whose command was refused. */
export const SHELL_OF_HUMAN: Dialect = { spell: spellToHuman, reader: 'human', steps: false };

/** The words of a shell. */
export const SHELL: Dialect = {
  spell,
  reader: 'human',
  steps: false,
  ask: (run) => `phasegate blocked ${shellWord(run)} --reason TEXT`,
};

import { PhasegateError } from '@phasegate/core';
import { agentWords } from '../launch/agentWords.ts';
import { presetNamed } from '../launch/presets.ts';
import { agentEnvironment } from './childEnvironment.ts';
import type { Driving, StepAtWork } from './parts.ts';
import { writeStateFile } from './stateFiles.ts';
import type { StepFolder } from './stepFolder.ts';

/** An agent program, ready to be started. */
export interface AgentLaunch {
  readonly argv: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string>>;
  /** Whether the prompt is to be on its standard input. */
  readonly onInput: boolean;
}

/** Whether there is a program for agents; else a prompt is shown, and somebody else does the work. */
export function startsAgents({ agentCommand, agentPreset }: Driving['request']): boolean {
  return agentCommand !== null || agentPreset !== undefined;
}

/** Makes what an agent program is started with. */
export async function agentLaunch(
  driving: Driving,
  step: StepAtWork,
  folder: StepFolder,
): Promise<AgentLaunch> {
  const { agentCommand, agentPreset, project } = driving.request;
  const environment = agentEnvironment(driving, step, { prompt: folder.promptFile, state: folder.state });
  if (agentCommand !== null) return { ...agentWords(agentCommand, folder.promptFile), environment };
  const preset = presetNamed(agentPreset ?? '');
  if (preset === undefined) throw new PhasegateError('usage', `there is no agent \`${agentPreset}\``);
  const [program, ...words] = driving.parts.launcher;
  const launch = preset.launch({
    mcp: {
      command: [program, ...words, 'mcp', '--project', project.root, '--run', step.run.id],
      variables: PASSED_ON.filter((name) => environment[name] !== undefined),
    },
    files: folder.state,
  });
  for (const { path, text } of launch.files) await writeStateFile(project.stateDir, path, text);
  return { argv: launch.argv, environment: { ...environment, ...launch.environment }, onInput: true };
}

/** What `phasegate mcp` reads to find the state, and to know for whom and for which visit the agent works. */
const PASSED_ON = [
  'HOME',
  'PATH',
  'XDG_STATE_HOME',
  'PHASEGATE_RUN',
  'PHASEGATE_EPOCH',
  'PHASEGATE_AGENT',
  'PHASEGATE_KEY',
];

import { dirname } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import { agentWords } from '../launch/agentWords.ts';
import { presetNamed } from '../launch/presets.ts';
import { agentEnvironment } from './childEnvironment.ts';
import type { Driving, HeldInTerminal, StepAtWork } from './parts.ts';
import { encloseFor } from './runStepProgram.ts';
import { writeStateFile } from './stateFiles.ts';
import type { StepFolder } from './stepFolder.ts';

/** An agent program, ready to be started. */
export interface AgentLaunch {
  readonly argv: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string>>;
  /** Whether the prompt is to be on its standard input. */
  readonly onInput: boolean;
  /** What it has in a sandbox beside the scope of its phase. */
  readonly held: Omit<HeldInTerminal, 'run'>;
  /** Whether it is in a sandbox. */
  readonly isHeld: boolean;
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
  const [program, ...words] = driving.parts.launcher;
  const engine = [program, ...words, 'mcp', '--project', project.root, '--run', step.run.id] as const;
  const isHeld = (await encloseFor(driving, step)) !== null;
  const mcp = isHeld ? await driving.request.open.sandboxes.mcp() : engine;
  const held = {
    read: [folder.promptFile],
    write: [folder.state, ...databaseOf(step)],
    // Outside the sandbox, where the state is: the client reaches it by a pipe.
    engine: {
      argv: [...engine, '--one-visit'] as const,
      cwd: project.root,
      environment: passedOn(environment),
    },
  };
  // For a command that brings its own client.
  const told = isHeld ? { PHASEGATE_MCP: mcp.join(' ') } : {};
  if (agentCommand !== null) {
    const launch = agentWords(agentCommand, folder.promptFile);
    return { ...launch, environment: { ...environment, ...told }, held, isHeld };
  }
  const preset = presetNamed(agentPreset ?? '');
  if (preset === undefined) throw new PhasegateError('usage', `there is no agent \`${agentPreset}\``);
  const launch = preset.launch({
    mcp: {
      command: mcp,
      variables: PASSED_ON.filter((name) => environment[name] !== undefined),
    },
    files: folder.state,
  });
  for (const { path, text } of launch.files) await writeStateFile(project.stateDir, path, text);
  return {
    argv: launch.argv,
    environment: { ...environment, ...told, ...launch.environment },
    onInput: true,
    isHeld,
    held: { ...held, read: [...held.read, ...launch.files.map(({ path }) => path)] },
  };
}

/** The folder of the copy that the step works on, where it has one. */
function databaseOf({ attempt }: StepAtWork): readonly string[] {
  return attempt === null ? [] : [dirname(attempt.file)];
}

function passedOn(environment: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    PASSED_ON.flatMap((name) => {
      const value = environment[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
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

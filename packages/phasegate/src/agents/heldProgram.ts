import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentWords } from '../launch/agentWords.ts';
import { presetNamed } from '../launch/presets.ts';
import { withoutSecrets } from '../launch/withoutSecrets.ts';
import type { Claimed, McpCommand } from '../runtime/ports.ts';
import type { Launch } from './adapter.ts';

/** What a held agent is started with. */
export interface HeldParts {
  readonly argv: readonly [string, ...string[]];
  readonly preset: string | undefined;
  readonly project: string;
  readonly folder: string;
  readonly agent: string;
  readonly key: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The words that start this program itself. */
  readonly launcher: readonly [string, ...string[]];
  /** What the client starts in its sandbox to speak MCP. */
  readonly mcp: McpCommand;
}

/**
 * An agent in the sandbox of one visit of a phase. It has no key, no token and no address of a server: it reaches the
 * engine by MCP over the pipe of its sandbox, and what it hands in is for that visit.
 */
export function heldProgram(
  claimed: Claimed,
  parts: HeldParts,
  { promptFile, mcpFile }: { readonly promptFile: string; readonly mcpFile: string },
): Pick<Launch, 'argv' | 'environment' | 'inputFile' | 'held'> {
  const { run, epoch } = claimed.view;
  const { folder, mcp, project } = parts;
  const told = {
    PHASEGATE_RUN: run,
    PHASEGATE_AGENT: parts.agent,
    PHASEGATE_PROMPT: promptFile,
    PHASEGATE_MCP: mcp.join(' '),
    PHASEGATE_MCP_CONFIG: mcpFile,
    ...(claimed.item === null ? {} : { PHASEGATE_ITEM_KEY: claimed.item.key }),
  };
  const environment = { ...withoutSecrets(parts.environment), ...told };
  const engine = {
    argv: [...parts.launcher, 'mcp', '--project', project, '--run', run, '--one-visit'] as const,
    cwd: project,
    environment: {
      ...namedIn(parts.environment),
      PHASEGATE_RUN: run,
      PHASEGATE_EPOCH: String(epoch),
      PHASEGATE_AGENT: parts.agent,
      PHASEGATE_KEY: parts.key,
    },
  };
  const held = { run, read: [promptFile, mcpFile], write: [], engine };
  const preset = parts.preset === undefined ? undefined : presetNamed(parts.preset);
  if (preset === undefined) return { argv: agentWords(parts.argv, promptFile).argv, environment, held };
  const launch = preset.launch({ mcp: { command: mcp, variables: [] }, files: join(folder, preset.name) });
  for (const { path, text } of launch.files) writeFileSync(path, text, { mode: 0o600 });
  return {
    argv: launch.argv,
    environment: { ...environment, ...launch.environment },
    inputFile: promptFile,
    held: { ...held, read: [...held.read, ...launch.files.map(({ path }) => path)] },
  };
}

/** What the engine outside finds the state by. */
function namedIn(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    ['HOME', 'PATH', 'XDG_STATE_HOME'].flatMap((name) => {
      const value = environment[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

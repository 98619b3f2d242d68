import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentWords } from '../launch/agentWords.ts';
import { presetNamed } from '../launch/presets.ts';
import type { Launch } from './adapter.ts';
import { agentEnvironment } from './agentEnvironment.ts';
import { serverEntry, writeBriefing } from './briefing.ts';

/** What an agent that is not held in a sandbox is started with. */
export interface FreeParts {
  readonly argv: readonly [string, ...string[]];
  /** A client that is known, in place of those words. */
  readonly preset: string | undefined;
  readonly url: string;
  readonly agent: string;
  readonly key: string;
  readonly run: string;
  readonly prompt: string;
  /** A folder only this user may enter. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * The words that were given, or those of a client we know, with its own settings and the prompt as its input; its
 * files are written.
 */
export function freeProgram(parts: FreeParts): Pick<Launch, 'argv' | 'environment' | 'inputFile'> {
  const { argv, url, agent, key, run, folder } = parts;
  const briefing = writeBriefing(folder, parts.prompt, serverEntry(url));
  const environment = agentEnvironment(parts.environment, { url, agent, key, run, ...briefing });
  const { promptFile } = briefing;
  const preset = parts.preset === undefined ? undefined : presetNamed(parts.preset);
  if (preset === undefined) return { argv: agentWords(argv, promptFile).argv, environment };
  const mcp = { url: `${url}/mcp`, keyVariable: 'PHASEGATE_KEY' };
  const launch = preset.launch({ mcp, files: join(folder, preset.name) });
  for (const { path, text } of launch.files) writeFileSync(path, text, { mode: 0o600 });
  return {
    argv: launch.argv,
    environment: { ...environment, ...launch.environment },
    inputFile: promptFile,
  };
}

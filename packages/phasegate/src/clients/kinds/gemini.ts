import { join } from 'node:path';
import type { JsonObject } from '@phasegate/core';
import type { AttachedServer, ClientKind } from '../clientKind.ts';
import { geminiContents } from '../protocols/geminiContents.ts';

/** Gemini CLI. */
export const gemini: ClientKind = {
  name: 'gemini',
  title: 'Gemini CLI',
  package: '@google/gemini-cli',
  protocol: geminiContents,
  arrange: ({ program, home, model, prompt, server, untrusted = false }) => ({
    argv: [program, '-m', 'gemini-2.5-pro', '--approval-mode', 'yolo', '-o', 'stream-json', '-p', prompt],
    environment: {
      HOME: home,
      GEMINI_API_KEY: 'of-nobody',
      GOOGLE_GEMINI_BASE_URL: model,
      // With `--skip-trust` instead it works, and loads no hook of the project.
      ...(untrusted ? {} : { GEMINI_CLI_TRUST_WORKSPACE: 'true' }),
    },
    folders: [],
    // Where a server is named, it takes the key for another server's unless its settings say whose it is.
    settings: [{ path: join(home, '.gemini/settings.json'), values: settingsWith(server) }],
  }),
  words: {
    write: (file_path, content) => ({ tool: 'write_file', input: { file_path, content } }),
    edit: (file_path, old_string, new_string) => ({
      tool: 'replace',
      input: { file_path, old_string, new_string, instruction: 'as the script says' },
    }),
    read: (file_path) => ({ tool: 'read_file', input: { file_path } }),
    shell: (command) => ({
      tool: 'run_shell_command',
      input: { command, description: 'as the script says' },
    }),
    background: (command) => ({
      tool: 'run_shell_command',
      input: { command, description: 'as the script says', is_background: true },
    }),
    subagent: (prompt) => ({ tool: 'invoke_agent', input: { agent_name: 'generalist', prompt } }),
    mcp: (server, tool, input) => ({ tool: `mcp_${server}_${tool}`, input }),
  },
};

function settingsWith(server: AttachedServer | undefined): JsonObject {
  if (server === undefined) return SETTINGS;
  const [command, ...args] = server.argv;
  return { ...SETTINGS, mcpServers: { [server.name]: { command, args, trust: true } } };
}

const SETTINGS = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
};

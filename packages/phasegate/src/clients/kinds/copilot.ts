import type { AttachedServer, ClientKind } from '../clientKind.ts';
import { anthropicMessages } from '../protocols/anthropicMessages.ts';

/** GitHub Copilot CLI. */
export const copilot: ClientKind = {
  name: 'copilot',
  title: 'GitHub Copilot CLI',
  package: '@github/copilot',
  protocol: anthropicMessages,
  arrange: ({ program, home, model, prompt, server, untrusted = false }) => ({
    argv: [
      program,
      '-p',
      prompt,
      '--allow-all-tools',
      '--allow-all-paths',
      ...(untrusted ? [] : ['--trust-folder']),
      ...(server === undefined ? [] : ['--additional-mcp-config', JSON.stringify(serversOf(server))]),
    ],
    environment: {
      HOME: home,
      COPILOT_OFFLINE: 'true',
      COPILOT_PROVIDER_TYPE: 'anthropic',
      COPILOT_PROVIDER_BASE_URL: model,
      COPILOT_PROVIDER_API_KEY: 'of-nobody',
      COPILOT_MODEL: 'claude-sonnet-4',
      COPILOT_AUTO_UPDATE: 'false',
    },
    folders: [],
    settings: [],
  }),
  words: {
    write: (path, file_text) => ({ tool: 'create', input: { path, file_text } }),
    edit: (path, old_str, new_str) => ({ tool: 'edit', input: { path, old_str, new_str } }),
    read: (path) => ({ tool: 'view', input: { path } }),
    shell: (command) => ({
      tool: 'bash',
      input: { command, description: 'as the script says', mode: 'sync', initial_wait: 30 },
    }),
    background: (command) => ({
      tool: 'bash',
      input: { command, description: 'as the script says', mode: 'async', detach: true },
    }),
    subagent: (prompt) => ({
      tool: 'task',
      input: {
        name: 'part',
        description: 'a part of it',
        prompt,
        agent_type: 'general-purpose',
        mode: 'sync',
      },
    }),
    mcp: (server, tool, input) => ({ tool: `${server}-${tool}`, input }),
  },
};

function serversOf({ name, argv: [command, ...args] }: AttachedServer) {
  return { mcpServers: { [name]: { type: 'local', command, args, tools: ['*'] } } };
}

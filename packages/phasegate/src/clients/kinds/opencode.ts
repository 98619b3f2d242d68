import { join } from 'node:path';
import { MCP_SECONDS } from '@phasegate/core/contract';
import type { AttachedServer, ClientKind } from '../clientKind.ts';
import { anthropicMessages } from '../protocols/anthropicMessages.ts';

/** opencode. */
export const opencode: ClientKind = {
  name: 'opencode',
  title: 'opencode',
  package: 'opencode-ai',
  protocol: anthropicMessages,
  arrange: ({ program, home, model, prompt, server }) => ({
    argv: [program, 'run', '--format', 'json', '--model', 'scripted/model', prompt],
    environment: {
      HOME: home,
      XDG_CONFIG_HOME: join(home, '.config'),
      XDG_DATA_HOME: join(home, '.local/share'),
      XDG_CACHE_HOME: join(home, '.cache'),
      XDG_STATE_HOME: join(home, '.local/state'),
      OPENCODE_CONFIG_CONTENT: JSON.stringify(settingsFor(model, server)),
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
      OPENCODE_DISABLE_SHARE: '1',
      // A project with plugins is first given packages by npm, which would wait long for a registry.
      npm_config_registry: 'http://127.0.0.1:9',
      npm_config_fetch_retries: '0',
    },
    folders: [],
    settings: [],
  }),
  words: {
    write: (filePath, content) => ({ tool: 'write', input: { filePath, content } }),
    edit: (filePath, oldString, newString) => ({ tool: 'edit', input: { filePath, oldString, newString } }),
    read: (filePath) => ({ tool: 'read', input: { filePath } }),
    shell: (command) => ({ tool: 'bash', input: { command, description: 'as the script says' } }),
    background: (command) => ({
      tool: 'bash',
      input: { command: `(${command}) >/dev/null 2>&1 &`, description: 'as the script says' },
    }),
    subagent: (prompt) => ({
      tool: 'task',
      input: { description: 'a part of it', prompt, subagent_type: 'general' },
    }),
    mcp: (server, tool, input) => ({ tool: `${server}_${tool}`, input }),
  },
};

function settingsFor(model: string, server: AttachedServer | undefined) {
  const limit = { context: 200_000, output: 8000 };
  const local = { type: 'local', command: server?.argv, enabled: true, timeout: MCP_SECONDS.answer * 1000 };
  const mcp = server === undefined ? {} : { [server.name]: local };
  return {
    mcp,
    autoupdate: false,
    share: 'disabled',
    permission: 'allow',
    model: 'scripted/model',
    small_model: 'scripted/model',
    provider: {
      scripted: {
        npm: '@ai-sdk/anthropic',
        name: 'scripted',
        options: { baseURL: `${model}/v1`, apiKey: 'of-nobody' },
        models: { model: { name: 'model', tool_call: true, limit } },
      },
    },
  };
}

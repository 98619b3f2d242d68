import type { JsonObject } from '@phasegate/core';
import type { ClientAdapter } from './adapter.ts';
import { answerClaude, CLAUDE_TOOLS, readClaude } from './claude.ts';
import { patch } from './patch.ts';
import { byName, onPath, shell, type ToolMeanings, talks } from './tools.ts';

/** Codex: Claude Code's shape with tools of its own. Its answers are closed: one key too many, and the tool runs. */
export const codex: ClientAdapter = {
  client: 'codex',
  read: (payload) => readClaude(payload, { client: 'codex', tools: CODEX_TOOLS }),
  answer: (answer, event): JsonObject => (answer.kind === 'block' ? {} : answerClaude(answer, event)),
  deny: (reason) => ({ decision: 'block', reason }),
};

/** The tools of Codex by name; its shell is told to hooks as `Bash`. */
export const CODEX_TOOLS: ToolMeanings = {
  ...CLAUDE_TOOLS,
  shell: shell('command'),
  local_shell: shell('command'),
  exec_command: shell('cmd', 'command'),
  unified_exec: shell('cmd', 'command', 'input'),
  // What is typed into a running shell is a line of it.
  write_stdin: shell('chars', 'input'),
  apply_patch: patch('command', 'input', 'patch'),
  view_image: onPath('read_files', ['path']),
  read_file: onPath('read_files', ['file_path', 'path']),
  list_dir: onPath('list_files', ['dir_path', 'path'], '.'),
  grep_files: onPath('grep', ['path'], '.'),
  web_search: byName('fetch'),
  spawn_agent: byName('spawn_agent'),
  send_input: byName('spawn_agent'),
  resume_agent: byName('spawn_agent'),
  wait: talks,
  wait_agent: talks,
  close_agent: talks,
  update_plan: talks,
  request_user_input: talks,
  tool_search: talks,
};

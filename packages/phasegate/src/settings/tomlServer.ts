import { PhasegateError } from '@phasegate/core';
import { MCP_SECONDS } from '@phasegate/core/contract';
import type { SettingsFile } from './settingsFile.ts';

const BEGIN = '# Added by `phasegate init`, removed by `phasegate uninit`.';

/** Our MCP server in a file in TOML: a table at its end, as nothing that stands before one can change what it says. */
export function tomlServer(path: string): SettingsFile {
  return {
    path,
    add(text, { mcp }) {
      const left = text === null ? '' : without(text);
      if (/^\s*mcp_servers\s*=/m.test(left)) {
        throw new PhasegateError('config_invalid', `\`${path}\`: \`mcp_servers\` is not written as tables`, {
          hint: 'write it as `[mcp_servers.NAME]`, then run `phasegate init` again; nothing was written',
        });
      }
      // An entry of our name that is not ours is the user's own.
      if (/^\s*\[\s*mcp_servers\s*\.\s*["']?phasegate["']?\s*[.\]]/m.test(left)) return text ?? '';
      const gap = left === '' || left.endsWith('\n\n') ? '' : left.endsWith('\n') ? '\n' : '\n\n';
      return `${left}${gap}${tableOf(mcp)}`;
    },
    remove(text) {
      const left = without(text);
      return left.trim() === '' ? null : left;
    },
  };
}

function tableOf({ command, args }: { readonly command: string; readonly args: readonly string[] }): string {
  const words = args.map((word) => JSON.stringify(word)).join(', ');
  return [
    BEGIN,
    '[mcp_servers.phasegate]',
    `command = ${JSON.stringify(command)}`,
    `args = [${words}]`,
    `startup_timeout_sec = ${MCP_SECONDS.start}`,
    `tool_timeout_sec = ${MCP_SECONDS.answer}`,
    '',
  ].join('\n');
}

/** Without times, as it was written before they counted. */
const TABLE =
  /^[^\n]*\n\[mcp_servers\.phasegate\]\ncommand = [^\n]*\nargs = [^\n]*\n?(?:startup_timeout_sec = \d+\n)?(?:tool_timeout_sec = \d+\n?)?/;

function without(text: string): string {
  const start = text.indexOf(BEGIN);
  if (start < 0) return text;
  const table = TABLE.exec(text.slice(start));
  if (table === null) return text;
  const before = text.slice(0, start);
  return `${before.endsWith('\n\n') ? before.slice(0, -1) : before}${text.slice(start + table[0].length)}`;
}

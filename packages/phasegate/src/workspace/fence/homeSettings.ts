import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { canonicalJson, isJsonObject, type Json, type JsonObject, own } from '@phasegate/core';
import { weightySettings } from './gitConfig.ts';
import { weightySettingsOf } from './harmlessSettings.ts';

/** How a file of the home folder is compared: by all its bytes, or by what of it starts programs or lets them. */
export type HomeKind = 'bytes' | 'settings' | 'client_state' | 'toml' | 'git';

/** Files of the home folder by which agents' clients and git are told what to run. */
export const HOME_FILES: readonly (readonly [path: string, kind: HomeKind])[] = [
  ['.claude/settings.json', 'settings'],
  ['.claude/settings.local.json', 'settings'],
  ['.claude.json', 'client_state'],
  ['.codex/config.toml', 'toml'],
  ['.codex/hooks.json', 'bytes'],
  ['.gemini/settings.json', 'settings'],
  ['.cursor/hooks.json', 'bytes'],
  ['.cursor/mcp.json', 'settings'],
  ['.config/opencode/opencode.json', 'settings'],
  ['.config/opencode/opencode.jsonc', 'settings'],
  ['.gitconfig', 'git'],
  ['.config/git/config', 'git'],
];

/** Folders of the home folder whose files are run, or say what is. */
export const HOME_FOLDERS: readonly string[] = [
  '.claude/hooks',
  '.codex/hooks',
  '.gemini/hooks',
  '.cursor/hooks',
  '.copilot/hooks',
  '.config/opencode/plugin',
  '.config/opencode/plugins',
];

/** SHA-256 of what counts in a file. What cannot be read as what it should be counts as a whole. */
export function weightOf(bytes: Buffer, kind: HomeKind): string {
  return hash('sha256', textOf(bytes, kind) ?? bytes, 'hex');
}

/** Whether nothing counts in a file of the home folder that has this weight: it may come and go. */
export function isWeightless(path: string, weight: string): boolean {
  const [, kind = 'bytes'] = HOME_FILES.find(([name]) => `~/${name}` === path) ?? [];
  return kind !== 'bytes' && weight === weightOf(Buffer.from(EMPTY[kind]), kind);
}

const EMPTY = { settings: '{}', client_state: '{}', toml: '', git: '' } as const;

function textOf(bytes: Buffer, kind: HomeKind): string | null {
  if (kind === 'bytes') return null;
  if (kind === 'git') return weightySettings(bytes);
  const text = bytes.toString('utf8');
  if (kind === 'toml') return isUtf8(bytes) ? weightyLines(text) : null;
  try {
    const value = JSON.parse(text) as Json;
    if (!isJsonObject(value)) return null;
    return canonicalJson(kind === 'settings' ? weightySettingsOf(value) : stateThatCounts(value));
  } catch {
    return null;
  }
}

/** Of a file in which a client keeps its history and its counts, too: only what it runs and what it lets through. */
function stateThatCounts(value: JsonObject): JsonObject {
  const projects = own(value, 'projects');
  const each = isJsonObject(projects) ? Object.entries(projects) : [];
  return {
    ...only(value),
    projects: Object.fromEntries(
      each.flatMap(([path, project]) => {
        const counts = isJsonObject(project) ? only(project) : {};
        return Object.keys(counts).length === 0 ? [] : [[path, counts]];
      }),
    ),
  };
}

const COUNTS = [
  'hooks',
  'disableAllHooks',
  'mcpServers',
  'permissions',
  'env',
  'allowedTools',
  'apiKeyHelper',
];

/** What is empty is as if it were not there: clients write empty lists by themselves. */
function only(value: JsonObject): JsonObject {
  const found = COUNTS.flatMap((name) => {
    const part = own(value, name);
    return part === undefined || isEmpty(part) ? [] : [[name, part] as const];
  });
  return Object.fromEntries(found);
}

function isEmpty(value: Json): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/**
 * Lines of a TOML file but for those that are known to start nothing, by their section and key. It is not parsed: every
 * line that begins with a bracket may begin a section, and where there are strings of several lines, in which anything
 * may look like one, all of it counts.
 */
function weightyLines(text: string): string | null {
  if (/"""|'''/.test(text)) return null;
  let isKept = true;
  let isTop = true;
  const kept: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    const bare = line.trim();
    if (bare === '' || bare.startsWith('#')) continue;
    if (bare.startsWith('[')) {
      isTop = false;
      isKept = !HARMLESS_SECTION.test(bare);
    }
    if (!isKept || (isTop && HARMLESS_LINE.test(bare))) continue;
    kept.push(bare);
  }
  return kept.join('\n');
}

/** What a client writes there when a person answers its questions, and how it looks. */
const HARMLESS_SECTION = /^\[\s*(?:projects|tui|notice|history)\s*[.\]]/;
const HARMLESS_LINE =
  /^(?:model|model_reasoning_effort|model_reasoning_summary|personality)\s*=\s*"[^"\\]*"$/;

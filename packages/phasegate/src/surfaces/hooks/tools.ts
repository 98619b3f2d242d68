import { type Json, type JsonObject, own, type ToolUse } from '@phasegate/core';
import { shellWord } from '@phasegate/core/model';
import type { HookTool } from '../../runtime/ports.ts';

/** What a client's tool comes to: contract uses; `talks` changes nothing; null where the input does not say. */
export type ToolMeaning = (input: JsonObject) => readonly ToolUse[] | 'talks' | Unreadable | null;

/** An input of which nobody can be sure what it does, and why. */
export interface Unreadable {
  readonly unreadable: string;
}

/** Whether that is so. */
export function isUnreadable(meant: ReturnType<ToolMeaning>): meant is Unreadable {
  return typeof meant === 'object' && meant !== null && 'unreadable' in meant;
}

/** A client's tools by name. */
export type ToolMeanings = Readonly<Record<string, ToolMeaning>>;

/** What a client's tool comes to; undefined for one that is not known. */
export function meaningIn(tools: ToolMeanings, name: string): ToolMeaning | undefined {
  return Object.hasOwn(tools, name) ? tools[name] : undefined;
}

/** What only talks: to the user, to itself, or about what there is. */
export const talks: ToolMeaning = () => 'talks';

/** What an input says under any of these names. Which of them a client goes by is its own affair: all are judged. */
function saidIn(input: JsonObject, names: readonly string[]): readonly Json[] {
  return names.map((name) => own(input, name)).filter((value): value is Json => value !== undefined);
}

/** A tool on one path, under any of these names; with a default where it may be left out. */
export function onPath(tool: string, names: readonly string[], otherwise?: string): ToolMeaning {
  return (input) => {
    const said = saidIn(input, names);
    const paths = said.length === 0 && otherwise !== undefined ? [otherwise] : [...new Set(said)];
    return paths.length > 0 && paths.every((path) => typeof path === 'string' && path !== '')
      ? paths.map((path) => ({ tool, input: { path } }))
      : null;
  };
}

/**
 * A tool that lists what a pattern names below a path. To clients a pattern can lead out of that folder by itself (`/etc/*`,
 * `../*`): then where it leads is judged as well.
 */
export function listing(names: readonly string[]): ToolMeaning {
  const below = onPath('list_files', names, '.');
  return (input) => {
    const uses = below(input);
    const patterns = saidIn(input, ['pattern']);
    if (uses === null || uses === 'talks' || isUnreadable(uses)) return uses;
    if (!patterns.every((one) => typeof one === 'string')) return null;
    const leading = patterns.filter((one) => ELSEWHERE.test(one));
    const places = leading.map((one) => (/^[^*?[\]{}()!|,\\]*(?=\/|$)/.exec(one)?.[0] || '/') as string);
    if (leading.some((one, at) => ELSEWHERE.test(one.slice(places[at]?.length).replace(/^\/+/, ''))))
      return { unreadable: 'its pattern leads out of its folder in a way nobody can be sure of' };
    const from = (place: string) =>
      /^[~/]/.test(place) ? [place] : uses.map((use) => `${use.input.path}/${place}`);
    return [...uses, ...places.flatMap(from).map((path) => ({ tool: 'list_files', input: { path } }))];
  };
}

/** A part of a pattern that is not a name below: a root, the home, or the folder above. */
const ELSEWHERE = /(?:^|[{,(|])(?:[~/\\]|[A-Za-z]:)|(?:^|[/\\{,(|])\.\.(?:$|[/\\},)|])/;

/** A tool on several paths. */
export function onPaths(tool: string, names: readonly string[]): ToolMeaning {
  return (input) => {
    const paths = saidIn(input, names).flat();
    return paths.length > 0 && paths.every((path) => typeof path === 'string')
      ? [{ tool, input: { paths } }]
      : null;
  };
}

/** A line for the shell; some clients give it as words. */
export function shell(...names: readonly string[]): ToolMeaning {
  return (input) => {
    // Which of them a client runs a line in is its own affair, too; here the answer must be one.
    const folders = new Set(saidIn(input, FOLDERS).filter((folder) => folder !== null));
    if (folders.size > 1 || [...folders].some((folder) => typeof folder !== 'string')) return null;
    const lines = saidIn(input, names).map((found) => (Array.isArray(found) ? lineOf(found) : found));
    return lines.length > 0 && lines.every((line) => typeof line === 'string' && line !== '')
      ? [...new Set(lines)].map((command) => ({ tool: 'bash', input: { command } }))
      : null;
  };
}

const FOLDERS = ['dir_path', 'directory', 'workdir', 'cwd'];

/** A line for PowerShell: judged as the shell as a whole, for nobody here reads its words. */
export function powerShell(...names: readonly string[]): ToolMeaning {
  return (input) => {
    const uses = shell(...names)(input);
    if (uses === null || uses === 'talks' || isUnreadable(uses)) return uses;
    return uses.map((use) => ({ ...use, input: { ...use.input, language: 'powershell' } }));
  };
}

/**
 * What its client makes a prompt of, and runs commands in it on the way (`!` and a line, with the words of the call in it)
 * of which no hook is told: judged as the shell as a whole.
 */
export const skill: ToolMeaning = () => [{ tool: 'bash', input: { command: 'skill', language: 'skill' } }];

/** `bash -c LINE` is its line; other words are a line of themselves. */
function lineOf(words: readonly Json[]): string | null {
  if (!words.every((word): word is string => typeof word === 'string')) return null;
  const [program = '', option = '', line, ...rest] = words;
  const isLine = /^(?:.*\/)?(?:ba|z|da)?sh$/.test(program) && /^-l?c$/.test(option) && rest.length === 0;
  return isLine && line !== undefined ? line : words.map(shellWord).join(' ');
}

/** A tool that is judged by its name alone. */
export function byName(tool: string): ToolMeaning {
  return () => [{ tool, input: {} }];
}

/** A tool of an MCP server. */
export function ofServer(server: string, tool: string): ToolMeaning {
  return () => [{ tool: `mcp:${server}/${tool}`, input: {} }];
}

/** A client's call in the words of the contract. */
export function toolOf(
  call: Pick<HookTool, 'name' | 'callId' | 'rewrites'> & { readonly input: JsonObject },
  meaning: ToolMeaning | 'own' | undefined,
): HookTool {
  if (meaning === 'own') return { ...call, kind: 'own', uses: [] };
  if (meaning === undefined) return { ...call, kind: 'unknown', uses: [] };
  const uses = meaning(call.input);
  if (uses === 'talks') return { ...call, kind: 'talks', uses: [] };
  if (uses === null) return { ...call, kind: 'unknown', uses: [], unreadable: UNSAID };
  if (isUnreadable(uses)) return { ...call, kind: 'unknown', uses: [], ...uses };
  return {
    ...call,
    kind: 'judged',
    uses,
    rewrites: call.rewrites && meaning !== skill && uses[0]?.tool === 'bash',
  };
}

const UNSAID = 'its input does not say what it is about in a way that is known';

/** Phasegate's own tools over MCP. INVARIANT: none of them approves, answers, skips or forces. */
export const OWN_TOOLS: ReadonlySet<string> = new Set([
  'list_workflows',
  'start_workflow',
  'get_workflow_state',
  'get_current_phase',
  'get_phase',
  'get_task',
  'complete_phase',
  'ask_human',
  'report_blocked',
  'search_standards',
  'read_more',
]);

/** The names under which a client knows Phasegate's server. */
const OWN_SERVERS: ReadonlySet<string> = new Set(['phasegate', 'plugin_phasegate_phasegate']);

/** What a tool of an MCP server is: ours, or one that is judged. */
export function serverTool(server: string, tool: string): ToolMeaning | 'own' {
  if (!OWN_SERVERS.has(server)) return ofServer(server, tool);
  if (OWN_TOOLS.has(tool)) return 'own';
  // Of a server that is attached to ours: the contract names it by that server.
  const at = tool.indexOf('__');
  return at <= 0 ? ofServer(server, tool) : ofServer(tool.slice(0, at), tool.slice(at + 2));
}

/** Where a name is one of an MCP server's as `PREFIX__SERVER__TOOL`, what it is. */
export function mcpTool(name: string, prefix = 'mcp__'): ToolMeaning | 'own' | undefined {
  if (!name.startsWith(prefix)) return undefined;
  const rest = name.slice(prefix.length);
  const at = rest.indexOf('__');
  return at <= 0 ? undefined : serverTool(rest.slice(0, at), rest.slice(at + 2));
}

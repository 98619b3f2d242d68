import { type JsonObject, own } from '../json.ts';
import { readGitWords } from '../model/git/readGitCommand.ts';
import { parseCommandLine } from '../model/shell/shellWords.ts';
import { didYouMean } from '../model/suggest.ts';
import {
  CONTRACT_TOOLS,
  coversTool,
  isToolName,
  PATH_TOOLS,
  READING_TOOLS,
  WRITING_TOOLS,
} from '../model/tools.ts';
import { type Phase, phaseById } from '../model/workflow.ts';
import { ALLOWED, blocker, byRule, nextActionFor, refused } from './blockers.ts';
import type { Run } from './run.ts';
import { constraintOn, mayRun, mayTouch, mayWrite } from './toolPolicy.ts';
import type { BlockerCode, NextAction, Verdict } from './verdict.ts';

/** One tool call, in contract terms: clients' own names are translated before judging. */
export interface ToolUse {
  readonly tool: string;
  /** `path` or `paths` relative to the workspace for file tools, `command` for `bash` and `git`. */
  readonly input: JsonObject;
}

/** The verdict on one tool call. Forbidden before allowed, deny by default, no active phase means reading only. */
export function judgeTool(run: Run | null, use: ToolUse): Verdict {
  if (!isToolName(use.tool)) {
    const hint = didYouMean(use.tool, CONTRACT_TOOLS);
    return no('tool_unknown', `\`${use.tool}\` is not a tool Phasegate knows${hint}`, actionFor(run));
  }
  if (run === null || run.status !== 'active') return judgeIdle(run, use);
  const phase = phaseById(run.workflow, run.phase) as Phase;
  const commands = commandsOf(use);
  const policy = judgePolicy(run, phase, use, commands);
  if (!policy.allowed) return policy;
  if (PATH_TOOLS.includes(use.tool)) return judgePaths(run, phase, use);
  if (use.tool === 'bash' || use.tool === 'git') return judgeCommands(run, phase, use, commands);
  return ALLOWED;
}

function judgeIdle(run: Run | null, use: ToolUse): Verdict {
  if (READING_TOOLS.includes(use.tool)) return judgeReading(run, use);
  if (run === null)
    return no('no_run', `without a run only reading is allowed, not \`${use.tool}\``, actionFor(run));
  const codes: Partial<Record<Run['status'], BlockerCode>> = {
    waiting: 'run_waiting',
    escalated: 'run_escalated',
    queued: 'run_not_active',
  };
  const code = codes[run.status] ?? 'run_ended';
  return no(
    code,
    `the run is ${run.status}, so only reading is allowed, not \`${use.tool}\``,
    actionFor(run),
  );
}

/** Waiting widens nothing: what the phase does not allow while it is worked on, it does not allow while it waits. */
function judgeReading(run: Run | null, use: ToolUse): Verdict {
  const phase = run === null || run.phase === null ? undefined : phaseById(run.workflow, run.phase);
  if (run === null || phase === undefined) return ALLOWED;
  const policy = judgePolicy(run, phase, use, null);
  return policy.allowed ? judgePaths(run, phase, use) : policy;
}

/** A command line as it was read. */
export type Commands = ReturnType<typeof parseCommandLine>;

/** The commands of a use of the shell or of git; null for every other tool. */
export function commandsOf(use: ToolUse): Commands | null {
  if (use.tool !== 'bash' && use.tool !== 'git') return null;
  const line = own(use.input, 'command');
  if (typeof line !== 'string') return { ok: false, reason: 'there is no command' };
  // Its quotes are others: what is one word to bash may be a command there.
  const language = own(use.input, 'language');
  if (language === 'powershell') return { ok: false, reason: 'it is a line of PowerShell' };
  if (language === 'skill') return { ok: false, reason: 'which commands a skill runs is not known' };
  return parseCommandLine(line);
}

function judgePolicy(run: Run, phase: Phase, use: ToolUse, commands: Commands | null): Verdict {
  const { allowed, forbidden } = phase.tools;
  const names = (list: readonly string[], tool: string) => list.some((name) => coversTool(name, tool));
  // `write_files` includes `edit_file`, in allow and in forbid.
  const listed = (list: readonly string[]) =>
    names(list, use.tool) || (use.tool === 'edit_file' && names(list, 'write_files'));
  const git = usesGit(use, commands);
  const where = `in phase \`${phase.id}\``;
  if (listed(forbidden) || (git !== 'no' && (names(forbidden, 'git') || names(forbidden, 'bash')))) {
    const name = listed(forbidden) ? use.tool : 'git';
    return by(
      'forbidden_tools',
      phase,
      no('tool_forbidden', `\`${name}\` is forbidden ${where}`, actionFor(run)),
    );
  }
  if (
    listed(allowed) ||
    (use.tool === 'git' && names(allowed, 'bash')) ||
    (git === 'only' && names(allowed, 'git'))
  )
    return ALLOWED;
  const may = allowed.length === 0 ? 'nothing' : allowed.join(', ');
  const message = `\`${use.tool}\` is not allowed ${where}; allowed: ${may}`;
  return by('allowed_tools', phase, no('tool_not_allowed', message, actionFor(run)));
}

/** Whether a command line runs git: a line that cannot be read may, and is judged as if it did. */
export function usesGit(use: ToolUse, commands: Commands | null): 'no' | 'some' | 'only' {
  if (use.tool === 'git') return 'only';
  if (commands === null) return 'no';
  if (!commands.ok) return 'some';
  const programs = commands.commands.map(programOf);
  if (programs.length > 0 && programs.every((program) => program === 'git')) return 'only';
  return programs.includes('git') ? 'some' : 'no';
}

function programOf(words: readonly string[]): string | undefined {
  return (words[0] ?? '').split('/').at(-1);
}

function judgePaths(run: Run, phase: Phase, use: ToolUse): Verdict {
  const paths = pathsOf(use.input);
  if (paths === null)
    return no('tool_constraint', `\`${use.tool}\` was called without a path`, actionFor(run));
  const writing = WRITING_TOOLS.includes(use.tool);
  for (const given of paths) {
    const path = normalise(given);
    if (path === null) {
      return no(
        'outside_write_scope',
        `\`${shown(given)}\` is not a path inside the workspace`,
        actionFor(run),
      );
    }
    for (const tool of use.tool === 'edit_file' ? ['edit_file', 'write_files'] : [use.tool]) {
      if (!mayTouch(phase, tool, path)) {
        const message = `\`${use.tool}\` may not touch \`${shown(path)}\` in phase \`${phase.id}\``;
        return by(`tool_constraints.${tool}`, phase, no('tool_constraint', message, actionFor(run)));
      }
    }
    if (!writing || mayWrite(phase, path)) continue;
    const scope = phase.writes.length === 0 ? 'nothing' : phase.writes.join(', ');
    const message = `phase \`${phase.id}\` may not write \`${shown(path)}\`; it may write ${scope}`;
    return by('writes', phase, no('outside_write_scope', message, actionFor(run)));
  }
  return ALLOWED;
}

function judgeCommands(run: Run, phase: Phase, use: ToolUse, commands: Commands | null): Verdict {
  const isConstrained = (tool: string) => constraintOn(phase, tool) !== undefined;
  // What git may do it may do under whatever tool: `bash` is no way around a constraint on `git`.
  const git = usesGit(use, commands) !== 'no' && isConstrained('git');
  const restricted = isConstrained('bash') || git || !phase.tools.allowed.includes('bash');
  if (!restricted || commands === null) return ALLOWED;
  if (!commands.ok) {
    const rule = isConstrained('bash')
      ? 'tool_constraints.bash'
      : git
        ? 'tool_constraints.git'
        : 'allowed_tools';
    const message = `the command cannot be read with certainty: ${commands.reason}`;
    return by(rule, phase, no('command_unparseable', message, actionFor(run)));
  }
  for (const words of commands.commands) {
    if (use.tool === 'git' && words[0] !== 'git') {
      const message = `\`${shown(words[0] ?? '')}\` is not git`;
      return by('allowed_tools', phase, no('tool_not_allowed', message, actionFor(run)));
    }
    // Where there is no shell git must not become one: aliases, settings and many of its options start programs.
    const read = phase.tools.allowed.includes('bash') ? null : readGitWords(words);
    if (read !== null && !read.ok)
      return by('allowed_tools', phase, no('tool_not_allowed', read.reason, actionFor(run)));
    const applying = (programOf(words) === 'git' ? ['bash', 'git'] : ['bash']).filter(isConstrained);
    const against = applying.find((tool) => !mayRun(phase, tool, words));
    if (against === undefined) continue;
    const message = `\`${shown(words.join(' '))}\` is not among the commands of phase \`${phase.id}\``;
    return by(`tool_constraints.${against}`, phase, no('tool_constraint', message, actionFor(run)));
  }
  return ALLOWED;
}

/** The paths a tool is used on, or null where they cannot be told. */
export function pathsOf(input: JsonObject): readonly string[] | null {
  const path = own(input, 'path');
  const paths = own(input, 'paths');
  const all = [...(path === undefined ? [] : [path]), ...(Array.isArray(paths) ? paths : [])];
  if (all.length === 0 || !all.every((one): one is string => typeof one === 'string')) return null;
  return all;
}

/** A relative path without `.`; null for one that is absolute, leaves the workspace or cannot be a path. */
export function normalise(path: string): string | null {
  if (path.startsWith('/') || path.includes('\0') || path.includes('\\') || /^[A-Za-z]:/.test(path))
    return null;
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  return parts.includes('..') || parts.length === 0 ? null : parts.join('/');
}

function actionFor(run: Run | null): NextAction {
  if (run === null) return { act: 'start', text: 'start a run, or read only' };
  if (run.status !== 'active') return nextActionFor(run);
  const phase = phaseById(run.workflow, run.phase) as Phase;
  const tools = phase.tools.allowed.length === 0 ? 'no tools' : phase.tools.allowed.join(', ');
  return {
    act: 'use_allowed_tool',
    phase: phase.id,
    text: `use what phase \`${phase.id}\` allows: ${tools}; or complete it`,
  };
}

/** The caller's own words, as many as it takes to know them again: a denial has to stay readable. */
function shown(words: string): string {
  return words.length > MOST_SHOWN ? `${words.slice(0, MOST_SHOWN)}…` : words;
}

const MOST_SHOWN = 200;

function no(code: BlockerCode, message: string, nextAction: NextAction): Blocked {
  return refused([blocker(code, message, nextAction)]);
}

type Blocked = Verdict & { readonly allowed: false };

/** The refusal is that of a rule the author of the phase wrote, or left to its default. */
function by(name: string, phase: Phase, { blockers }: Blocked): Blocked {
  return refused(blockers.map((found) => byRule(found, phase, name)));
}

import type { Json } from '@phasegate/core';
import type { PhaseDraft } from '../draft.ts';
import { at, type KeyLedger, others, type Spot, textsOf } from '../keyLedger.ts';

const OURS: Readonly<Record<string, string>> = {
  read_files: 'read_files',
  search_codebase: 'grep',
  grep: 'grep',
  glob: 'list_files',
  list_files: 'list_files',
  write_files: 'write_files',
  edit_files: 'edit_file',
  edit_file: 'edit_file',
  bash: 'bash',
  git: 'git',
  git_commit: 'git',
  web_fetch: 'fetch',
};
const PATTERNS = {
  allowed: ['allowed_patterns', 'allowed_commands'],
  denied: ['forbidden_patterns', 'forbidden_commands'],
};

/** The tools of a phase. What has no name here is not allowed: tools are refused unless they are listed. */
export function importTools(phase: PhaseDraft, spot: Spot, ledger: KeyLedger): void {
  const forbidden = textsOf(at(spot, 'forbidden_tools')).map((name) => OURS[name] ?? name);
  const asked = textsOf(at(spot, 'allowed_tools'));
  const unknown = asked.filter((name) => OURS[name] === undefined);
  const allowed = new Set(
    asked.flatMap((name) => OURS[name] ?? []).filter((name) => !forbidden.includes(name)),
  );
  const notes = unknown.length === 0 ? '' : `; not offered here, so refused: ${unknown.join(', ')}`;
  ledger.mapped(at(spot, 'allowed_tools'), `allowed_tools${notes}`);
  ledger.mapped(at(spot, 'forbidden_tools'), 'left out of `allowed_tools`, which refuses them');
  const limits = constraintsOf(ledger.map(at(spot, 'tool_constraints')), { allowed, ledger });
  if (allowed.has('bash') && !allowed.has('git')) {
    const bash = limits.bash ?? {};
    // Where git is not offered as a tool, it is not offered through a shell either.
    limits.bash = { ...bash, denied: [...new Set([...(bash.denied ?? []), 'git **'])] };
  }
  const writers = ['write_files', 'edit_file'].filter((tool) => allowed.has(tool));
  const writes = new Set(
    writers.flatMap((tool) => limits[tool]?.allowed ?? limits.write_files?.allowed ?? ['**']),
  );
  phase.tools = {
    ...(allowed.size === 0 ? {} : { allowed_tools: [...allowed] }),
    ...(Object.keys(limits).length === 0 ? {} : { tool_constraints: limits as unknown as Json }),
    ...(writes.size === 0 ? {} : { writes: [...writes] }),
  };
}

const PART_OF_A_WORD = /[^\s*]\*|\*[^\s*]/;

interface Limits {
  readonly allowed?: readonly string[];
  readonly denied?: readonly string[];
}

function constraintsOf(
  spot: Spot,
  { allowed, ledger }: { readonly allowed: Set<string>; readonly ledger: KeyLedger },
): Record<string, Limits> {
  const found: Record<string, Limits> = {};
  for (const one of others(spot, [])) {
    const tool = OURS[String(one.path.at(-1))];
    const strange = others(one, [...PATTERNS.allowed, ...PATTERNS.denied]);
    if (tool === undefined || strange.length > 0) {
      // A limit that is not understood may be the one that matters.
      if (tool !== undefined) allowed.delete(tool);
      ledger.leftOut(one, 'a limit that is not understood here: the tool is not allowed at all');
      continue;
    }
    if (!allowed.has(tool)) {
      ledger.leftOut(one, 'the tool is not allowed in this phase');
      continue;
    }
    const words = tool === 'bash' || tool === 'git';
    const asked = PATTERNS.allowed.flatMap((key) => textsOf(at(one, key)));
    // `*` is a whole word here: a part of one would allow more than was allowed there.
    const allow = words ? asked.filter((text) => !PART_OF_A_WORD.test(text)) : asked;
    if (asked.length > 0 && allow.length === 0) {
      allowed.delete(tool);
      ledger.leftOut(one, 'a pattern inside a word: the tool is not allowed at all');
      continue;
    }
    const deny = PATTERNS.denied.flatMap((key) => textsOf(at(one, key)));
    const limits = {
      ...listed('allowed', words ? allow.map(commandPattern) : allow),
      ...listed('denied', words ? deny.map(commandPattern) : deny),
    };
    if (Object.keys(limits).length > 0) found[tool] = limits;
    const fewer = allow.length === asked.length ? '' : ', without patterns inside a word';
    ledger.mapped(one, `tool_constraints.${tool}${fewer}`);
  }
  const limits = found.write_files;
  // One scope: what may not be written may not be edited either.
  if (limits !== undefined && allowed.has('edit_file')) found.edit_file ??= limits;
  return found;
}

function listed(key: 'allowed' | 'denied', texts: readonly string[]): Limits {
  return texts.length === 0 ? {} : { [key]: texts };
}

/** The beginning of a command, as there, and whatever follows it. */
function commandPattern(text: string): string {
  const words = text.split(/\s+/).filter((word) => word !== '');
  return words.at(-1) === '**'
    ? words.join(' ')
    : `${words.map((word) => (word.includes('*') ? '*' : word)).join(' ')} **`;
}

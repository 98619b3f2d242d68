import { globProblem } from '../glob/glob.ts';
import { guardOf } from '../guardedPaths.ts';
import type { DraftPath } from '../problems.ts';
import { commandPatternProblem } from '../shell/shellWords.ts';
import { CONTRACT_TOOLS, isToolName, PATH_TOOLS, WRITING_TOOLS } from '../tools.ts';
import type { ToolConstraint, ToolPolicy } from '../workflow.ts';
import type { PhasePlace } from './compileContext.ts';
import { checkBesideDatabase } from './compileDatabase.ts';

/** The tools and the write scope of a phase, groups resolved. */
export function compileTools(place: PhasePlace): {
  readonly tools: ToolPolicy;
  readonly writes: readonly string[];
} {
  const { phase } = place;
  const allowed = resolve(place, phase.allowedTools ?? [], 'allowedTools');
  const forbidden = resolve(place, phase.forbiddenTools ?? [], 'forbiddenTools');
  const constraints = compileConstraints(place);
  const writes = phase.writes ?? constrainedWrites(constraints);
  phase.writes?.forEach((glob, index) => {
    checkGlob(place, glob, [...place.path, 'writes', index]);
  });
  const mayWrite = allowed.some((tool) => WRITING_TOOLS.includes(tool) && !forbidden.includes(tool));
  if (mayWrite && writes.length === 0) {
    const message = `phase \`${phase.id}\` has a writing tool and no \`writes\`, so nothing may be written`;
    place.context.problems.note([...place.path, 'allowedTools'], 'no_write_scope', message);
  }
  return { tools: { allowed, forbidden, constraints }, writes };
}

function resolve(
  place: PhasePlace,
  names: readonly string[],
  list: 'allowedTools' | 'forbiddenTools',
): readonly string[] {
  const { groups, problems } = place.context;
  const tools = new Set<string>();
  const seen = new Set<string>();
  names.forEach((name, index) => {
    if (Object.hasOwn(groups, name)) {
      if (seen.has(name)) return;
      seen.add(name);
      for (const member of groups[name] ?? []) tools.add(member);
    } else if (isToolName(name)) {
      tools.add(name);
    } else {
      const hint = problems.hint(name, () => [...CONTRACT_TOOLS, ...Object.keys(groups)]);
      problems.error(
        [...place.path, list, index],
        'unknown_tool',
        `there is no tool or group \`${name}\`${hint}`,
      );
    }
  });
  return [...tools];
}

function compileConstraints(place: PhasePlace): Readonly<Record<string, ToolConstraint>> {
  const constraints: Record<string, ToolConstraint> = {};
  for (const [tool, draft] of Object.entries(place.phase.toolConstraints ?? {})) {
    const at = [...place.path, 'toolConstraints', tool];
    if (!isToolName(tool)) {
      const hint = place.context.problems.hint(tool, () => CONTRACT_TOOLS);
      place.context.problems.error(at, 'unknown_tool', `there is no tool \`${tool}\`${hint}`);
    } else if (!PATH_TOOLS.includes(tool) && tool !== 'bash' && tool !== 'git') {
      place.context.problems.error(
        at,
        'not_enforceable',
        `\`${tool}\` has no path and no command to constrain`,
      );
    }
    constraints[tool] = { allowed: draft.allowed ?? [], denied: draft.denied ?? [] };
    if (!PATH_TOOLS.includes(tool)) {
      checkPatterns(place, draft, at);
      continue;
    }
    for (const list of ['allowed', 'denied'] as const) {
      draft[list]?.forEach((glob, index) => {
        if (list === 'allowed' && WRITING_TOOLS.includes(tool)) checkGlob(place, glob, [...at, list, index]);
        else checkGlobShape(place, glob, [...at, list, index]);
      });
    }
  }
  return constraints;
}

/** A pattern that can never match would ban or allow nothing, silently. */
function checkPatterns(
  place: PhasePlace,
  draft: { readonly allowed?: readonly string[]; readonly denied?: readonly string[] },
  at: DraftPath,
): void {
  for (const list of ['allowed', 'denied'] as const) {
    draft[list]?.forEach((pattern, index) => {
      const problem = commandPatternProblem(pattern);
      if (problem === null) return;
      place.context.problems.error([...at, list, index], 'bad_pattern', `\`${pattern}\` ${problem}`);
    });
  }
}

function constrainedWrites(constraints: Readonly<Record<string, ToolConstraint>>): readonly string[] {
  return [...new Set(WRITING_TOOLS.flatMap((tool) => constraints[tool]?.allowed ?? []))];
}

function checkGlobShape(place: PhasePlace, glob: string, at: DraftPath): boolean {
  const problem = globProblem(glob);
  if (problem !== null) place.context.problems.error(at, 'bad_glob', `\`${glob}\` ${problem}`);
  return problem === null;
}

/**
 * A glob that names the guard's own files is a mistake; one that is merely wide has them taken out. A file of such a
 * name further down is opened by its literal path and by nothing wider.
 */
function checkGlob(place: PhasePlace, glob: string, at: DraftPath): void {
  if (!checkGlobShape(place, glob, at)) return;
  checkBesideDatabase(place, glob, at);
  if (glob === '**' || glob.startsWith('**/')) return;
  const literal = glob.replace(/(^|\/)\*\*$/, '$1x').replace(/\*/g, 'x');
  const guard = guardOf(literal);
  if (guard === null || (guard === 'named' && !/[*?{[]/.test(glob))) return;
  const way = guard === 'own' ? '' : '; name each such file by its path to open it';
  const message = `\`${glob}\` would let phase \`${place.phase.id}\` write the contract or the guard's own files${way}`;
  place.context.problems.error(at, 'guarded_path', message);
}

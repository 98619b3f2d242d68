import type { WorkflowDraft } from '../draft.ts';
import { globsMeet, literalGlob } from '../glob/globsMeet.ts';
import { guardOf } from '../guardedPaths.ts';
import type { DraftPath, Problems } from '../problems.ts';
import type { Workflow } from '../workflow.ts';
import type { PhasePlace } from './compileContext.ts';

/** How many backups of a workflow's database are kept where it does not say. */
const BACKUPS_KEPT = 10;

/** The database of a workflow; nothing where it has none, so that a workflow from before keeps its hash. */
export function compileDatabase({ database }: WorkflowDraft, problems: Problems): Pick<Workflow, 'database'> {
  if (database === undefined) return {};
  const { keep = BACKUPS_KEPT } = database;
  const file = pathFrom(database.file);
  const migrations = database.migrations === undefined ? null : pathFrom(database.migrations);
  checkPath(problems, file, ['database', 'file']);
  if (guardOf(file) !== null) {
    const message = `\`${file}\` is among the guard's own files, so no step could work on it`;
    problems.error(['database', 'file'], 'guarded_path', message);
  }
  if (migrations !== null) checkPath(problems, migrations, ['database', 'migrations']);
  if (!Number.isInteger(keep) || keep < 1 || keep > 1000) {
    const message = 'a whole number of backups is kept, from 1 to 1000';
    problems.error(['database', 'keep'], 'bad_value', message);
  }
  return { database: { file, migrations, keep } };
}

/** Items are written one after another as each is completed, which a human's no could not take back. */
export function checkDatabaseGates(workflow: Workflow, problems: Problems): void {
  if (workflow.database === undefined) return;
  workflow.phases.forEach((phase, index) => {
    if (phase.parallel === null || phase.humanGate === null) return;
    const message = `the items of phase \`${phase.id}\` are written to the database before its human gate is decided; put the gate into a phase of its own`;
    problems.error(['phases', index, 'gates'], 'effect_before_gate', message);
  });
}

/**
 * A write scope may not reach the database, its backups or its migrations. Steps change it through the copy they are
 * given: anyone who may write the file itself has bypassed every check on it.
 */
export function checkBesideDatabase({ context, phase }: PhasePlace, glob: string, at: DraftPath): void {
  const { draft, problems, comparedGlobs } = context;
  const { database } = draft;
  if (database === undefined) return;
  let reaches = comparedGlobs.get(glob);
  if (reaches === undefined) {
    // To compare two globs takes long, and every phase may name many: a workflow with more than that is refused.
    if (comparedGlobs.size > MOST_GLOBS) return;
    reaches = comparedGlobs.size < MOST_GLOBS && reachesDatabase(database, glob);
    comparedGlobs.set(glob, reaches);
    if (comparedGlobs.size > MOST_GLOBS) {
      const message = `a workflow with a database has at most ${MOST_GLOBS} different write globs in all its phases; write fewer and wider ones`;
      problems.error(at, 'bad_value', message);
    }
  }
  if (!reaches) return;
  const message = `\`${glob}\` would let phase \`${phase.id}\` write the database past its protection, or what stands behind it`;
  problems.error(at, 'guarded_path', message);
}

function reachesDatabase(database: NonNullable<WorkflowDraft['database']>, glob: string): boolean {
  const file = pathFrom(database.file);
  const folder = file.slice(0, file.lastIndexOf('/') + 1);
  const guarded = [
    ...['', '-wal', '-shm', '-journal'].map((suffix) => literalGlob(`${file}${suffix}`)),
    `${literalGlob(folder)}backups/*.db`,
    ...(database.migrations === undefined ? [] : [`${literalGlob(pathFrom(database.migrations))}/*.sql`]),
  ];
  return guarded.some((path) => globsMeet(glob, path));
}

const MOST_GLOBS = 1000;

function pathFrom(path: string): string {
  return path.replace(/^(?:\.\/)+/, '').replace(/\/$/, '');
}

function checkPath(problems: Problems, path: string, at: DraftPath): void {
  const segments = path.split('/');
  const inside = segments.every((segment) => segment !== '' && segment !== '.' && segment !== '..');
  const plain = path.length <= 500 && !/[\\:*?"<>|\p{Cc}]/u.test(path);
  if (inside && plain) return;
  const shown = path === '' || path.length > 500 ? 'this' : `\`${path}\``;
  problems.error(at, 'bad_path', `${shown} is not a plain path inside the project, written with \`/\``);
}

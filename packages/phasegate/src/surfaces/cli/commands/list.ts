import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PhasegateError, type Problem } from '@phasegate/core';
import { oneLine, unloadable } from '@phasegate/core/model';
import type { Catalog, CatalogEntry, DifferingFile, Project } from '../../../runtime/ports.ts';
import type { CliCommand, Invocation } from '../command.ts';
import { problemLine } from '../failure.ts';
import { phaseIdOf } from '../phaseIdOf.ts';
import { table } from '../text/table.ts';

/** `phasegate list`: workflows found and what is wrong with them, without running any of their code. */
export const list: CliCommand = {
  usage: ['list'],
  details:
    'TypeScript workflows are read, not run: their phases are shown where they are literal in the source.',
  examples: ['phasegate list', 'phasegate list --json'],
  options: {},
  positionals: [],
  server: 'ignored',
  async run(invocation) {
    const { out } = invocation;
    const { root, catalog } = await invocation.project();
    const entries = await withProblems(catalog);
    const standing = await standingOf(invocation, entries);
    const workflows = entries.map(({ id, title, path, format, phases, problems }, place) => ({
      id,
      title,
      path,
      format,
      phases: phases?.map(phaseIdOf) ?? null,
      problems,
      // Only where there is something to say: what is as it was accepted needs no word.
      ...(standing[place] ?? {}),
    }));
    await out.result({ workflows }, () => {
      if (entries.length === 0) return `no workflow found in ${root}; make one with \`phasegate init\``;
      return table([
        ['workflow', 'format', 'phases', 'file', ''].map((title) => out.paint.dim(title)),
        ...entries.map(({ id, format, phases, path, problems }, place) => [
          id,
          format,
          phases === null ? '?' : phases.join(' '),
          path,
          problems.some(isError)
            ? out.paint.red('has problems')
            : out.paint.yellow(standingText(standing[place])),
        ]),
      ]);
    });
    for (const { problems } of entries) {
      for (const problem of problems) if (!out.json) await out.log(problemLine(problem));
    }
    return 0;
  },
};

/** The workflows with all that keeps them from being started. Of TypeScript only what its text shows: no code runs. */
async function withProblems(catalog: Catalog): Promise<readonly CatalogEntry[]> {
  const entries = await catalog.list();
  return Promise.all(
    entries.map(async (entry) => {
      if (entry.format === 'typescript' || entry.problems.some(isOwn)) return entry;
      return { ...entry, problems: [...entry.problems, ...(await problemsOf(entry.path, catalog))] };
    }),
  );
}

async function problemsOf(path: string, catalog: Catalog): Promise<readonly Problem[]> {
  try {
    await catalog.load(path);
    return [];
  } catch (error) {
    // Whatever a loader fails with, the other workflows are there all the same.
    if (!(error instanceof PhasegateError))
      return unloadable(path, 'the file cannot be loaded', error).problems;
    const { code, message, problems } = error;
    if (problems.length > 0) return problems;
    return [{ file: path, line: 1, column: 1, code, message, severity: 'error' }];
  }
}

/** What keeps a file from being loaded: that another has its id does not. */
function isOwn(problem: Problem): boolean {
  return isError(problem) && problem.code !== 'duplicate_workflow';
}

function isError({ severity }: Problem): boolean {
  return severity === 'error';
}

/** How a workflow stands to what humans accepted, where it is not the same. */
type Standing = { readonly accepted: false; readonly differs?: readonly DifferingFile[] };

/** By the files alone: nothing is run, and no state is made to look at it. Nothing before a human is set up. */
async function standingOf(
  invocation: Invocation,
  entries: readonly CatalogEntry[],
): Promise<readonly (Standing | null)[]> {
  try {
    if (!hasState(await invocation.project())) return [];
    const { humans, trust } = await invocation.open();
    if ((await humans.list()).length === 0) return [];
    return await Promise.all(
      entries.map(async ({ id }): Promise<Standing | null> => {
        const differs = await trust.workflows.differing(id);
        if (differs === null) return { accepted: false };
        return differs.length === 0 ? null : { accepted: false, differs };
      }),
    );
  } catch (error) {
    // The workflows are there all the same.
    if (!(error instanceof PhasegateError)) throw error;
    await invocation.out.log(`note: what was accepted is not looked at: ${error.message}`);
    return [];
  }
}

function standingText(standing: Standing | null | undefined): string {
  if (standing === null || standing === undefined) return '';
  if (standing.differs === undefined) return 'not accepted';
  const names = standing.differs.map(differenceText).join(', ');
  return `differs from what was accepted: ${names}`;
}

function differenceText({ path, change, reason }: DifferingFile): string {
  return reason === undefined ? `${oneLine(path)} ${change}` : `cannot be compared: ${oneLine(reason)}`;
}

function hasState(project: Project): boolean {
  return ['state.db', 'made'].some((name) => existsSync(join(project.stateDir, name)));
}

import type { CliCommand } from '../command.ts';
import { problemLine } from '../failure.ts';
import { phaseIdOf } from '../phaseIdOf.ts';
import { table } from '../text/table.ts';

/** `phasegate list`: workflows found, without running any of their code. */
export const list: CliCommand = {
  usage: ['list'],
  details:
    'TypeScript workflows are read, not run: their phases are shown where they are literal in the source.',
  examples: ['phasegate list', 'phasegate list --json'],
  options: {},
  positionals: [],
  server: 'ignored',
  async run({ out, project }) {
    const { root, catalog } = await project();
    const entries = await catalog.list();
    const workflows = entries.map(({ id, title, path, format, phases, problems }) => ({
      id,
      title,
      path,
      format,
      phases: phases?.map(phaseIdOf) ?? null,
      problems,
    }));
    await out.result({ workflows }, () => {
      if (entries.length === 0) return `no workflow found in ${root}; make one with \`phasegate init\``;
      return table([
        ['workflow', 'format', 'phases', 'file', ''].map((title) => out.paint.dim(title)),
        ...entries.map(({ id, format, phases, path, problems }) => [
          id,
          format,
          phases === null ? '?' : phases.join(' '),
          path,
          problems.some(({ severity }) => severity === 'error') ? out.paint.red('has problems') : '',
        ]),
      ]);
    });
    for (const { problems } of entries) {
      for (const problem of problems) if (!out.json) await out.log(problemLine(problem));
    }
    return 0;
  },
};

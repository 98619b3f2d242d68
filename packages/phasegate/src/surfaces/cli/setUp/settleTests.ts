import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import {
  LAYOUTS,
  type LayoutName,
  type ProjectTests,
  plainWords,
  redCodesOf,
  type Template,
} from '../../../templates/index.ts';
import type { Invocation } from '../command.ts';
import { asked, TRIES } from '../prompts.ts';
import { usageError } from '../usage.ts';
import { reportOf } from './findReport.ts';
import {
  brokenPackage,
  codeFolders,
  type FoundTests,
  findTests,
  layoutOf,
  missingScript,
} from './findTests.ts';

/** How the project is tested, who says so, and what is wrong with it. */
export interface SettledTests {
  readonly tests: ProjectTests;
  /** The command line, or null where the template runs none or keeps what is there. */
  readonly command: string | null;
  /** The file it was found in; null where somebody named it. */
  readonly from: string | null;
  readonly warning: string | null;
}

/** Which command runs the project's tests: as named, as found, or as somebody at the terminal says. */
export async function settleTests(
  invocation: Invocation,
  template: Template,
  root: string,
): Promise<SettledTests> {
  const named = invocation.args.text('test');
  if (named !== undefined && !template.runsTests) {
    throw usageError(`the template \`${template.name}\` runs no tests`, 'leave out `--test`');
  }
  if (named !== undefined) return withCommand(invocation, root, await askedFor(invocation, root, named));
  if (!template.runsTests || (await isThere(join(root, template.path)))) return kept(root);
  const found = await findTests(root);
  const chosen = await choose(invocation, { template, root, found });
  return withCommand(invocation, root, chosen);
}

type Chosen = Pick<FoundTests, 'command' | 'layout'> & { readonly from: string | null };

async function choose(
  invocation: Invocation,
  { template, root, found }: { template: Template; root: string; found: readonly FoundTests[] },
): Promise<Chosen> {
  const { prompts, args } = invocation;
  const [first, ...others] = found;
  const mayAsk = prompts !== null && !args.flag('yes');
  if (first === undefined) {
    const broken = await brokenPackage(root);
    const why = broken === null ? '' : `: ${broken}`;
    if (mayAsk) {
      await invocation.out.log(
        `no tests were found here${why}; a workflow without tests: \`phasegate init --template minimal\``,
      );
      return askUntilItStarts(invocation, root);
    }
    throw usageError(
      `no tests were found in \`${root}\`${why}${broken === null ? ', and' : ';'} the template \`${template.name}\` has the engine run them`,
      `${broken === null ? '' : 'correct that file, or '}name the command with \`--test "CMD"\`, or take a template without tests: \`--template minimal\``,
    );
  }
  if (!mayAsk) return first;
  if (others.length > 0) {
    const answer = await prompts.select(
      'Which command runs the tests?',
      found.map(({ command, from }) => `${command} (${from})`),
    );
    return found.find(({ command, from }) => answer === `${command} (${from})`) ?? first;
  }
  const problem = await whyNotStarted(invocation, root, first.command);
  if (problem === null) return first;
  await invocation.out.log(`${first.from} says \`${first.command}\`, and ${problem}`);
  return askUntilItStarts(invocation, root);
}

async function askUntilItStarts(invocation: Invocation, root: string): Promise<Chosen> {
  const { prompts, out } = invocation;
  for (let tries = 0; tries < TRIES && prompts !== null; tries += 1) {
    const answer = (await prompts.text(asked('Which command runs the tests of this project?', tries))) ?? '';
    const problem =
      answer.trim() === '' ? 'a command is needed' : await whyNotStarted(invocation, root, answer);
    if (problem === null) return { command: answer.trim(), layout: await layoutOf(root), from: null };
    await out.log(problem);
  }
  throw usageError(
    'no command that runs the tests was named: nothing was changed',
    'name it with `--test "CMD"`, or take a template without tests: `--template minimal`',
  );
}

async function askedFor(invocation: Invocation, root: string, named: string): Promise<Chosen> {
  const command = named.trim();
  if (command === '') throw usageError('`--test` needs a command line', 'for instance `--test "npm test"`');
  if (/[\n\r\0]/u.test(command)) throw usageError('`--test` needs one line');
  const problem = await whyNotStarted(invocation, root, command);
  if (problem !== null) {
    throw usageError(`\`--test\`: ${problem}`, 'add or install it, or name another command');
  }
  return { command, layout: await layoutOf(root), from: null };
}

async function withCommand(
  invocation: Invocation,
  root: string,
  { command, layout, from }: Chosen,
): Promise<SettledTests> {
  const problem = from === null ? null : await whyNotStarted(invocation, root, command);
  return {
    tests: await testsOf(root, command, layout),
    command,
    from,
    warning:
      problem === null
        ? null
        : `${from} says \`${command}\`, and ${problem}: install it, or begin again with \`--test "CMD"\``,
  };
}

async function kept(root: string): Promise<SettledTests> {
  const [first] = await findTests(root);
  const tests = await testsOf(root, first?.command ?? 'npm test', first?.layout ?? 'other');
  return { tests, command: null, from: null, warning: null };
}

async function testsOf(root: string, command: string, name: LayoutName): Promise<ProjectTests> {
  const layout = LAYOUTS[name];
  const folders = (await codeFolders(root, name)).map((folder) => `${folder}/**`);
  const report = reportOf(root, command);
  return {
    command,
    report,
    red: redCodesOf(command),
    layout: { ...layout, code: [...layout.code, ...folders] },
  };
}

/**
 * Why the engine could not start the command, or null where it could, or nobody knows before it is tried. As the check
 * does, a bare name is looked for on the path and never inside the project.
 */
async function whyNotStarted({ env }: Invocation, root: string, command: string): Promise<string | null> {
  const words = plainWords(command) ?? [];
  const [program] = words;
  if (program === undefined) return null;
  const script = await missingScript(root, words);
  if (script !== null) return (await brokenPackage(root)) ?? `\`package.json\` has no script \`${script}\``;
  if (await lacksMakefile(root, words)) return 'there is no `Makefile` here for `make` to read';
  if (env.PATH === undefined) return null;
  const places = program.includes('/')
    ? [resolve(root, program)]
    : env.PATH.split(delimiter)
        .filter((folder) => folder.startsWith('/') && !`${folder}/`.startsWith(`${root}/`))
        .map((folder) => join(folder, program));
  for (const place of places) if (await isProgram(place)) return null;
  return `there is no program \`${program}\` to start`;
}

/** Of `make` alone: others look in folders above, too. With an option it may be told where to look. */
async function lacksMakefile(root: string, [program = '', ...words]: readonly string[]): Promise<boolean> {
  if (!/^(?:.*\/)?g?make$/u.test(program) || words.some((word) => word.startsWith('-'))) return false;
  const found = await Promise.all(MAKEFILES.map((name) => isThere(join(root, name))));
  return !found.includes(true);
}

const MAKEFILES = ['GNUmakefile', 'makefile', 'Makefile'];

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

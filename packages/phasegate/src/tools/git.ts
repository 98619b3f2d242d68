import { realpath } from 'node:fs/promises';
import type { ToolContext, ToolImplementation } from '../runtime/ports.ts';
import { cleanEnvironment } from '../workspace/cleanEnvironment.ts';
import { GIT_SETTINGS, gitEnvironment, startsProgram } from '../workspace/gitSettings.ts';
import { findBeneath } from '../workspace/openBeneath.ts';
import { relativePath } from '../workspace/relativePath.ts';
import { defineTool, ToolFailure } from './defineTool.ts';
import { pathsIn, readGitCommand } from './gitCommand.ts';
import { folderInside, PROGRAM_INPUTS, runInWorkspace } from './runInWorkspace.ts';

/**
 * Runs one git command in the workspace, from its words and without a shell. Whatever a repository's own
 * configuration could have git start is switched off, or git is not run at all.
 */
export const git: ToolImplementation = defineTool({
  name: 'git',
  description:
    'Runs one git command in the workspace; no hooks, no pager, no editor, no programs of the repository',
  input: {
    type: 'object',
    additionalProperties: false,
    required: ['command'],
    properties: {
      command: {
        type: 'string',
        minLength: 1,
        maxLength: 10_000,
        description: 'A line such as `git status`',
      },
      ...PROGRAM_INPUTS,
    },
  },
  async run(input, context) {
    const words = readGitCommand(String(input.command));
    const environment = gitEnvironment(context.workspace);
    const cwd = await folderInside(context.workspace, input.cwd);
    await refuseLinks(context.workspace, cwd, words);
    const repository = await refusePrograms(context, cwd, environment);
    const settings = GIT_SETTINGS.flatMap((setting) => ['-c', setting]);
    const argv = ['git', '--no-pager', ...settings, ...words] as const;
    return runInWorkspace({ argv, input, environment: { ...environment, ...repository } }, context);
  },
});

/** Git does not look where a link leads unless it reads a file it was given; then it does not ask. */
async function refuseLinks(root: string, cwd: string, words: readonly [string, ...string[]]): Promise<void> {
  for (const path of words.slice(1).flatMap(pathsIn)) {
    const normal = relativePath(cwd === root ? path : `${cwd.slice(root.length + 1)}/${path}`);
    if (normal === null || normal === '') continue;
    const found = await findBeneath(root, normal);
    if (found.kind !== 'link' || (found.at === normal && words[0] !== 'apply')) continue;
    throw new ToolFailure('path_is_link', `\`${path}\` leads through the link \`${found.at}\``);
  }
}

type Environment = Readonly<Record<string, string>>;

/**
 * Looks at the repository, and gives what binds git to it. INVARIANT: what was looked at is what is used. Git would look
 * for a repository anew each time, and a folder can become one in between.
 */
async function refusePrograms(context: ToolContext, cwd: string, fixed: Environment): Promise<Environment> {
  const { runEnclosed } = await import('../workspace/runEnclosed.ts');
  const askAt = (folder: string, bound: Environment, ...argv: string[]) =>
    runEnclosed(
      {
        argv: ['git', ...argv],
        cwd: folder,
        environment: cleanEnvironment(process.env, context.workspace, { ...fixed, ...bound }),
        timeoutMs: 10_000,
        maxOutputBytes: 1024 * 1024,
        signal: context.signal,
      },
      context.enclose,
    );
  const top = await askAt(cwd, {}, 'rev-parse', '--show-toplevel');
  if (top.how.kind === 'not_started') {
    throw new ToolFailure(
      'not_started',
      'git is not installed here; a human installs it, or work without it',
    );
  }
  if (top.how.kind !== 'exited' || top.how.code !== 0) {
    throw new ToolFailure(
      'no_repository',
      'the workspace is not a git repository that git can use; a human makes it one with `git init`',
    );
  }
  const place = top.stdout.toString().trim();
  if ((await realpath(place).catch(() => '')) !== context.workspace) {
    throw new ToolFailure('git_refused', 'the repository says its files are elsewhere');
  }
  // The folder at the root comes before all that lies below it, whatever it looks like.
  const found = await askAt(context.workspace, {}, 'rev-parse', '--absolute-git-dir');
  if (found.how.kind !== 'exited' || found.how.code !== 0) {
    throw new ToolFailure('git_refused', 'the folder of the repository cannot be found');
  }
  const repository = {
    GIT_DIR: found.stdout.toString().replace(/\n$/, ''),
    GIT_WORK_TREE: context.workspace,
  };
  const listed = await askAt(cwd, repository, 'config', '--list', '--show-scope', '--name-only', '-z');
  if (listed.how.kind !== 'exited' || listed.how.code !== 0) {
    throw new ToolFailure('git_refused', 'the configuration of the repository cannot be read');
  }
  const fields = listed.stdout.toString().split('\0');
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [scope, key] = [fields[at], fields[at + 1] ?? ''];
    if ((scope === 'local' || scope === 'worktree') && startsProgram(key)) {
      const message = `the repository's own configuration sets \`${key}\`, which can start a program; a human must remove it`;
      throw new ToolFailure('git_refused', message);
    }
  }
  return repository;
}

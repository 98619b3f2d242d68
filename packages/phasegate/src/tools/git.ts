import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type GitWords, readGitCommand } from '@phasegate/core/model';
import type { ToolContext, ToolImplementation } from '../runtime/ports.ts';
import { cleanEnvironment } from '../workspace/cleanEnvironment.ts';
import { GIT_SETTINGS, gitEnvironment, startsProgram } from '../workspace/gitSettings.ts';
import { findBeneath } from '../workspace/openBeneath.ts';
import { relativePath } from '../workspace/relativePath.ts';
import type { Ended } from '../workspace/runProgram.ts';
import { defineTool, ToolFailure } from './defineTool.ts';
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
    const asked = readGitCommand(String(input.command));
    if (!asked.ok) throw new ToolFailure('git_refused', asked.reason);
    const environment = gitEnvironment(context.workspace);
    const cwd = await folderInside(context.workspace, input.cwd);
    await refusePlaces(context.workspace, cwd, asked.places);
    const ask = await asker(context);
    const repository = await refusePrograms(ask, { cwd, workspace: context.workspace, environment });
    const bound = { ...environment, ...repository };
    const [command, ...words] = asked.words;
    if (BY_INDEX.has(command)) await refuseHidden(ask, context.workspace, bound);
    const argv = ['git', '--no-pager', ...SETTINGS, command, ...fixedOf(command), ...words] as const;
    return runInWorkspace({ argv, input, environment: bound }, context);
  },
});

/** Where a commit has a link, a file with its target is written: no git command of an agent makes a way out. */
const NO_LINKS = 'core.symlinks=false';
const SETTINGS = [...GIT_SETTINGS, NO_LINKS].flatMap((setting) => ['-c', setting]);

/** These start a program that shows differences where the user has one. */
const DIFFS: ReadonlySet<string> = new Set(['diff', 'diff-files', 'diff-index', 'diff-tree']);

function fixedOf(command: string): readonly string[] {
  return DIFFS.has(command) ? ['--no-ext-diff'] : [];
}

/** Paths stay in the workspace and out of the repository's own folder, and lead through no link. */
async function refusePlaces(root: string, cwd: string, places: GitWords['places']): Promise<void> {
  for (const path of places) {
    if (leaves(path)) throw new ToolFailure('path_outside', `\`${path}\` is not a path inside the workspace`);
    if (path.split('/').some((name) => /^\.git$/i.test(name)))
      throw new ToolFailure('git_refused', `\`${path}\` is in the repository's own folder`);
    const normal = relativePath(cwd === root ? path : `${cwd.slice(root.length + 1)}/${path}`);
    if (normal === null || normal === '') continue;
    await refuseLink(root, { path, normal, isFolder: path.endsWith('/') });
  }
}

/** A range of revisions such as `main..topic` has no `..` between slashes. */
function leaves(path: string): boolean {
  if (path.startsWith('/') || path.startsWith('~') || path.includes('\\')) return true;
  return path.split('/').includes('..');
}

async function refuseLink(
  root: string,
  { path, normal, isFolder }: { readonly path: string; readonly normal: string; readonly isFolder: boolean },
): Promise<void> {
  const found = await findBeneath(root, normal);
  // A link itself is a file like any other to git; it does not ask where one on the way leads.
  if (found.kind !== 'link' || (found.at === normal && !isFolder)) return;
  throw new ToolFailure('path_is_link', `\`${path}\` leads through the link \`${found.at}\``);
}

/** These go over what the index names, and read or remove it without looking for links on the way. */
const BY_INDEX: ReadonlySet<string> = new Set(['add', 'commit', 'grep', 'rm', 'stash']);

/** What the index names and the workspace has no file for may be behind a link that took the place of a folder. */
async function refuseHidden(ask: Ask, workspace: string, environment: Environment): Promise<void> {
  const words = ['diff-files', '--name-only', '--diff-filter=D', '-z'];
  const { how, stdout } = await ask(workspace, environment, words);
  if (how.kind !== 'exited' || how.code !== 0)
    throw new ToolFailure('git_refused', 'what is missing in the workspace cannot be told');
  const folders = new Set(stdout.toString().split('\0').map(dirname));
  for (const folder of folders)
    if (folder !== '.') await refuseLink(workspace, { path: folder, normal: folder, isFolder: true });
}

type Environment = Readonly<Record<string, string>>;

type Ask = (folder: string, environment: Environment, words: readonly string[]) => Promise<Ended>;

/** Asks git something, with nothing of what was asked of the tool; a look starts no program either. */
async function asker(context: ToolContext): Promise<Ask> {
  const { runEnclosed } = await import('../workspace/runEnclosed.ts');
  return (folder, environment, words) =>
    runEnclosed(
      {
        argv: ['git', ...SETTINGS, ...words],
        cwd: folder,
        environment: cleanEnvironment(process.env, context.workspace, environment),
        timeoutMs: 10_000,
        maxOutputBytes: 1024 * 1024,
        signal: context.signal,
      },
      context.enclose,
    );
}

/**
 * Looks at the repository, and gives what binds git to it. INVARIANT: what was looked at is what is used. Git would look
 * for a repository anew each time, and a folder can become one in between.
 */
async function refusePrograms(
  ask: Ask,
  {
    cwd,
    workspace,
    environment,
  }: { readonly cwd: string; readonly workspace: string; readonly environment: Environment },
): Promise<Environment> {
  const top = await ask(cwd, environment, ['rev-parse', '--show-toplevel']);
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
  if ((await realpath(place).catch(() => '')) !== workspace) {
    throw new ToolFailure('git_refused', 'the repository says its files are elsewhere');
  }
  // The folder at the root comes before all that lies below it, whatever it looks like.
  const found = await ask(workspace, environment, ['rev-parse', '--absolute-git-dir']);
  if (found.how.kind !== 'exited' || found.how.code !== 0) {
    throw new ToolFailure('git_refused', 'the folder of the repository cannot be found');
  }
  const repository = {
    GIT_DIR: found.stdout.toString().replace(/\n$/, ''),
    GIT_WORK_TREE: workspace,
  };
  const bound = { ...environment, ...repository };
  const listed = await ask(cwd, bound, ['config', '--list', '--show-scope', '--name-only', '-z']);
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

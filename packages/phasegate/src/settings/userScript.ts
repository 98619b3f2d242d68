import { basename, dirname, join } from 'node:path';
import { word } from './hookScript.ts';

/** A project that is set up, and the hook program of one client in it. */
export interface HookedProject {
  /** A real path. */
  readonly root: string;
  readonly hook: string;
}

/** What the program in a user's own settings is made for. */
export interface UserProgram {
  readonly version: string;
  /** `cat`, by its absolute path. */
  readonly cat: string;
  readonly projects: readonly HookedProject[];
}

/**
 * The program that a client runs as its hook in every folder: within a project that is set up, or in the folder of
 * worktrees beside it, it becomes that project's own hook program; elsewhere it has no opinion. INVARIANT: where the
 * client was started counts as well as where it stands now, as an agent can change the latter.
 */
export function userScript({ version, cat, projects }: UserProgram): string {
  // The innermost first.
  const roots = projects.toSorted((one, other) => other.root.length - one.root.length);
  const cases = roots.map(
    ({ root, hook }) => `    ${word(`${root}/`)}* | ${word(`${worktreesOf(root)}/`)}*) ask ${word(hook)} ;;`,
  );
  return `#!/bin/sh
# Hands what a client is about to do in a project of Phasegate to that project's hook; elsewhere it says nothing.
# Written by \`phasegate init --user\` (${version}); \`phasegate uninit\` takes a project out of it, and it goes with the last one.

# A shell may have been given functions by these names, which would stand for the commands.
unset -f printf test cd pwd 2>/dev/null
CDPATH=

ask() {
  test -x "$1" && exec "$1" user
  printf '[phasegate] not allowed, because it could not be judged: %s is gone; tell the human to run \`phasegate init --user\`\\n' "$1" >&2
  exit 2
}

seek() {
  case $1/ in
${cases.join('\n')}
  esac
}

here=$(pwd -P)
seek "$here"
for start in "\${CLAUDE_PROJECT_DIR-}" "\${GEMINI_PROJECT_DIR-}" "\${COPILOT_PROJECT_DIR-}"; do
  case $start in
    "$here") ;;
    /*)
      seek "$(cd -P -- "$start" && pwd -P)"
      # Also where it is gone by now.
      seek "$start"
      ;;
  esac
done 2>/dev/null
# A client that cannot write its event takes that for a failure.
${word(cat)} >/dev/null
printf '{}\\n'
`;
}

/** Where the worktrees of a project's runs are. */
function worktreesOf(root: string): string {
  return join(dirname(root), `${basename(root)}.worktrees`);
}

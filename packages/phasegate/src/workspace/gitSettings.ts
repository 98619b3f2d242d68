import { dirname } from 'node:path';

/** Settings that win over any file. */
export const GIT_SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.pager=cat',
  'core.askPass=',
  'core.sshCommand=ssh',
  'core.alternateRefsCommand=',
  'core.attributesFile=/dev/null',
  'credential.helper=',
  'commit.gpgSign=false',
  'tag.gpgSign=false',
  // Where it is asked for by an option, nobody signs: the key would be a human's.
  'gpg.program=false',
  'gpg.openpgp.program=false',
  'gpg.x509.program=false',
  'gpg.ssh.program=false',
  'log.showSignature=false',
  'diff.ignoreSubmodules=all',
  'submodule.recurse=false',
  'fetch.recurseSubmodules=false',
  'push.recurseSubmodules=no',
  'gc.auto=0',
  'maintenance.auto=false',
  // A folder of the workspace that looks like a repository is not one.
  'safe.bareRepository=explicit',
  'protocol.ext.allow=never',
  'protocol.file.allow=never',
] as const;

/** The environment of a git that asks nobody and finds no repository above the workspace. */
export function gitEnvironment(workspace: string): Readonly<Record<string, string>> {
  return {
    // The workspace's own repository or none: never one that happens to lie above it.
    GIT_CEILING_DIRECTORIES: dirname(workspace),
    GIT_ALLOW_PROTOCOL: 'https:http:ssh:git',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '',
    SSH_ASKPASS: '',
    GIT_EDITOR: 'false',
    GIT_SEQUENCE_EDITOR: 'false',
    GIT_PAGER: 'cat',
    GIT_MERGE_AUTOEDIT: 'no',
    GIT_OPTIONAL_LOCKS: '0',
  };
}

/** Keys of a repository's own configuration that start a program, or lead elsewhere, and that no setting undoes. */
const PROGRAM_KEYS =
  /^(?:filter\..+\.(?:clean|smudge|process)|diff\.(?:external|.+\.(?:command|textconv))|merge\..+\.driver|gpg(?:\..+)?\.(?:program|defaultkeycommand)|hook\..+\.command|gc\.recentobjectshook|remote\..+\.(?:uploadpack|receivepack|vcs)|trailer\..+\.(?:command|cmd)|interactive\.difffilter|submodule\..+\.update|credential\..+\.helper|core\.(?:worktree|gitproxy|excludesfile)|rebase\.instructionformat|include(?:if\..+)?\.path)$/i;

/** Whether a key of a repository's own configuration can have git start a program that no setting undoes. */
export function startsProgram(key: string): boolean {
  return PROGRAM_KEYS.test(key);
}

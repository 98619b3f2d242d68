import type { SandboxScope } from '@phasegate/core/ports';
import { scopeRoots } from './scopeRoots.ts';

/** What a profile shows beside the scope. */
export interface SeatbeltSettings {
  /** Absolute paths that stay unreadable, whatever else is shown. */
  readonly hidden: readonly string[];
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** A folder of the program's own, for temporary files. */
  readonly scratch: string;
  /** The port of our proxy on this machine's loopback, for a phase that has hosts. */
  readonly proxyPort?: number;
}

/**
 * A profile for macOS's Seatbelt that holds a program as bubblewrap does on Linux: a list of what is there, and writing
 * only in the scope. Globs that are not folders become regular expressions, so there new names are held too.
 * NOT RUN: no test has ever started a program under it, and nothing uses it yet. Its text is compared with a recorded
 * one, so that anyone who tries it on a Mac knows what they try.
 */
export function seatbeltProfile(
  { workspace, writes, commits, hosts = [] }: Omit<SandboxScope, 'mayWrite'>,
  settings: SeatbeltSettings,
): string {
  const { whole, partly } = scopeRoots(writes);
  const inside = (path: string) => (path === '' ? workspace : `${workspace}/${path}`);
  const repository = `${workspace}/.git`;
  return [
    ';; Not run: generated, compared, and never tried on a Mac.',
    '(version 1)',
    '(deny default)',
    '(allow process-fork process-exec)',
    '(allow signal (target same-sandbox))',
    '(allow sysctl-read)',
    '(allow file-read-metadata)',
    '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))',
    rule('allow file-read*', SYSTEM.map(subpath)),
    rule('allow file-read*', [workspace, ...settings.read, ...settings.write, settings.scratch].map(subpath)),
    rule('allow file-write*', ['(literal "/dev/null")', '(literal "/dev/tty")', subpath(settings.scratch)]),
    rule('allow file-write*', settings.write.map(subpath)),
    rule('allow file-write*', whole.map(inside).map(subpath)),
    rule('allow file-write*', partly.length === 0 ? [] : partialRules(writes, workspace)),
    // Later rules win: what follows is refused whatever stands above.
    rule(
      'deny file-write*',
      commits ? NOT_FOR_COMMITS.map((name) => subpath(`${repository}/${name}`)) : [subpath(repository)],
    ),
    commits
      ? rule(
          'allow file-write*',
          COMMITS.map((name) => subpath(`${repository}/${name}`)),
        )
      : '',
    rule('deny file-read* file-write*', settings.hidden.map(subpath)),
    '(deny network*)',
    // Names are the proxy's to judge: Seatbelt knows addresses only.
    hosts.length === 0 || settings.proxyPort === undefined
      ? ''
      : `(allow network-outbound (remote ip "localhost:${settings.proxyPort}"))`,
  ]
    .filter((line) => line !== '')
    .join('\n')
    .concat('\n');
}

const SYSTEM = [
  '/usr/lib',
  '/usr/bin',
  '/usr/sbin',
  '/usr/libexec',
  '/usr/share',
  '/usr/local',
  '/bin',
  '/sbin',
  '/opt/homebrew',
  '/System',
  '/Library/Developer/CommandLineTools',
  '/private/etc/ssl',
  '/private/var/db/timezone',
  '/dev',
] as const;

const NOT_FOR_COMMITS = ['config', 'config.worktree', 'hooks', 'info', 'modules', 'worktrees'] as const;
const COMMITS = [
  'objects',
  'refs',
  'logs',
  'index',
  'index.lock',
  'HEAD',
  'HEAD.lock',
  'COMMIT_EDITMSG',
] as const;

function rule(act: string, filters: readonly string[]): string {
  return filters.length === 0 ? '' : `(${act}\n${filters.map((filter) => `  ${filter}`).join('\n')})`;
}

function subpath(place: string): string {
  return `(subpath ${quoted(place)})`;
}

/** A text as Seatbelt reads it. A path with a control character cannot be written there for certain. */
function quoted(text: string): string {
  if (/\p{Cc}/u.test(text)) throw new TypeError('a path with a control character cannot be held by Seatbelt');
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}

function partialRules(writes: readonly string[], workspace: string): readonly string[] {
  return writes
    .filter((glob) => scopeRoots([glob]).partly.length > 0)
    .map((glob) => `(regex ${raw(`^${escaped(workspace)}/${expressionOf(glob)}$`)})`);
}

/** An expression as it is read after `#`: nothing in it is escaped, so a quote would end it. */
function raw(expression: string): string {
  if (/["\\]/.test(expression)) throw new TypeError('a name with a quote cannot be held by Seatbelt');
  return `#"${expression}"`;
}

function expressionOf(glob: string): string {
  let depth = 0;
  return glob
    .replace(/^\.\//, '')
    .split(/(\*\*\/|\*\*|\*|\?|\{|\}|,)/)
    .map((part) => {
      if (part === '{') depth++;
      if (part === '}') depth--;
      if (part === ',') return depth > 0 ? '|' : ',';
      return EXPRESSIONS[part] ?? escaped(part);
    })
    .join('');
}

const EXPRESSIONS: Readonly<Record<string, string>> = {
  '**/': '(.*/)?',
  '**': '.*',
  '*': '[^/]*',
  '?': '[^/]',
  '{': '(',
  '}': ')',
};

/** By classes of one character: after `#` a backslash would be one too many or one too few. */
function escaped(text: string): string {
  return text.replace(/[.+$()|]/g, '[$&]');
}

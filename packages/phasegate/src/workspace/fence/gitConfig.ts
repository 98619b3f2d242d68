import { type GitSetting, settingsIn } from '../gitConfigText.ts';

/**
 * The settings of a git config that decide what git runs, reads or trusts: all but a list of harmless ones, so that a
 * key nobody thought of counts. What cannot be read counts as a whole.
 */
export function weightySettings(bytes: Buffer): string {
  const settings = settingsIn(bytes);
  if (settings === null) return `unreadable ${bytes.toString('latin1')}`;
  return JSON.stringify(settings.filter((setting) => !isHarmless(setting)));
}

/**
 * Written by everyday commands, and read for nothing that runs a program. Key by key: in nearly every section there is
 * one that names a program, or a new version of git brings one.
 */
const HARMLESS: readonly RegExp[] = [
  /^branch\..*\.(?:merge|rebase|description|vscode-merge-base|github-pr-owner-number)$/s,
  /^remote\..*\.(?:fetch|tagopt|prune|push)$/s,
  /^user\.(?:name|email)$/,
  /^color\.(?:advice|branch|diff|grep|interactive|pager|push|remote|showbranch|status|transport|ui)$/,
  /^pull\.(?:ff|rebase)$/,
  /^push\.(?:autosetupremote|default|followtags)$/,
  /^fetch\.(?:parallel|prune|prunetags|writecommitgraph)$/,
  /^rebase\.(?:abbreviatecommands|autosquash|autostash|missingcommitscheck|stat|updaterefs)$/,
  /^gc\.(?:auto|autodetach|autopacklimit)$/,
  /^maintenance\.(?:auto|strategy)$/,
  /^advice\.(?:addembeddedrepo|addemptypathspec|addignoredfile|ambiguousfetchrefspec|defaultbranchname)$/,
  /^advice\.(?:detachedhead|diverging|fetchshowforcedupdates|forcedeletebranch|implicitidentity)$/,
  /^advice\.(?:mergeconflict|pushupdaterejected|resolveconflict|setupstreamfailure|skippedcherrypicks)$/,
  /^advice\.(?:statusahead|statushints|statusuoption|suggestdetachinghead|waitingforeditor)$/,
  /^column\.(?:branch|clean|status|tag|ui)$/,
  /^log\.(?:abbrevcommit|date|decorate|follow|showroot)$/,
  /^status\.(?:aheadbehind|branch|relativepaths|renames|short|showstash|showuntrackedfiles)$/,
  /^tag\.sort$/,
  /^core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|quotepath)$/,
  /^submodule\..*\.active$/s,
  /^commit\.(?:cleanup|status|verbose)$/,
  /^diff\.(?:algorithm|colormoved|colormovedws|context|indentheuristic|mnemonicprefix|noprefix|renamelimit|renames)$/,
  /^init\.defaultbranch$/,
  /^merge\.(?:autostash|conflictstyle|directoryrenames|ff|log|renamelimit|renames|stat)$/,
  /^rerere\.(?:autoupdate|enabled)$/,
];

function isHarmless({ key, value }: GitSetting): boolean {
  // A branch can name a URL in place of a remote.
  if (/^(?:(?:remote|submodule)\..*\.(?:url|pushurl)|branch\..*\.remote)$/s.test(key))
    return value !== null && isPlainPlace(value);
  return HARMLESS.some((pattern) => pattern.test(key));
}

/** For `x::…` and for a scheme that git does not know it starts `git-remote-x`, which may be any program. */
function isPlainPlace(value: string): boolean {
  if (/::|^-|^\s*$/.test(value)) return false;
  const scheme = /^([A-Za-z0-9+.-]*):\/\//.exec(value)?.[1];
  return scheme === undefined || SCHEMES.has(scheme);
}

const SCHEMES: ReadonlySet<string> = new Set([
  'file',
  'ftp',
  'ftps',
  'git',
  'git+ssh',
  'http',
  'https',
  'ssh',
  'ssh+git',
]);

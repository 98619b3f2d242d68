/** One setting of a git config. */
interface Setting {
  /** `section.name`, or `section.subsection.name`; section and name in lower case. */
  readonly key: string;
  readonly value: string;
}

/**
 * The settings of a git config that decide what git runs, reads or trusts: all but a list of harmless ones, so that a
 * key nobody thought of counts. What cannot be read counts as a whole.
 */
export function weightySettings(text: string): string {
  const settings = settingsOf(text);
  if (settings === null) return `unreadable ${text}`;
  const weighty = settings.filter((setting) => !isHarmless(setting));
  return weighty.map(({ key, value }) => `${key}=${value}`).join('\n');
}

/** Written by everyday commands, and read for nothing that runs a program. */
const HARMLESS: readonly RegExp[] = [
  /^branch\..*\.(?:remote|merge|rebase|description|vscode-merge-base|github-pr-owner-number)$/s,
  /^remote\..*\.(?:fetch|tagopt|prune|push)$/s,
  /^user\.(?:name|email)$/,
  /^color\./,
  /^(?:pull|push|fetch|rebase|gc|maintenance|advice|column|log|status|tag)\.[a-z]+$/,
  /^core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|quotepath)$/,
  /^submodule\..*\.active$/s,
  // Not whole sections: others of their keys name programs, or files that git reads.
  /^commit\.(?:cleanup|status|verbose)$/,
  /^diff\.(?:algorithm|colormoved|colormovedws|context|indentheuristic|mnemonicprefix|noprefix|renamelimit|renames)$/,
  /^init\.defaultbranch$/,
  /^merge\.(?:autostash|conflictstyle|directoryrenames|ff|log|renamelimit|renames|stat)$/,
  /^rerere\.(?:autoupdate|enabled)$/,
];

function isHarmless({ key, value }: Setting): boolean {
  // A remote helper may be any program.
  if (/^(?:remote|submodule)\..*\.(?:url|pushurl)$/s.test(key)) return !/::|^-|^\s*$/.test(value);
  return HARMLESS.some((pattern) => pattern.test(key));
}

function settingsOf(text: string): readonly Setting[] | null {
  const settings: Setting[] = [];
  let section: string | null = null;
  const lines = text.replaceAll('\r\n', '\n').replace(/\\\n/g, '').split('\n');
  for (const line of lines) {
    let rest = line.trim();
    if (rest === '' || rest.startsWith('#') || rest.startsWith(';')) continue;
    if (rest.startsWith('[')) {
      const header = /^\[\s*([A-Za-z0-9.-]+)\s*(?:"((?:[^"\\]|\\.)*)")?\s*\]/.exec(rest);
      if (header === null) return null;
      const [all, name = '', inner] = header;
      section = inner === undefined ? name.toLowerCase() : `${name.toLowerCase()}.${inner}`;
      rest = rest.slice(all.length).trim();
      if (rest === '' || rest.startsWith('#') || rest.startsWith(';')) continue;
    }
    const setting = /^([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$/s.exec(rest);
    if (setting === null || section === null) return null;
    settings.push({ key: `${section}.${(setting[1] as string).toLowerCase()}`, value: setting[2] ?? 'true' });
  }
  return settings;
}

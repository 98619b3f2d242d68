/** One setting of a git config. */
export interface GitSetting {
  /** `section.name`, or `section.subsection.name`; section and name in lower case. */
  readonly key: string;
  /** As git reads it, without quotes and escapes; null where only the name stands there. */
  readonly value: string | null;
}

/**
 * What git reads in a config, sign by sign as git does it, each sign a byte. Null where git refuses the file, and where
 * it reads what nobody writes: a NUL byte, a setting outside of any section.
 */
export function settingsIn(bytes: Buffer): readonly GitSetting[] | null {
  const text = bytes.toString('latin1');
  if (text.includes('\0')) return null;
  const signs = signsOf(text.startsWith(MARK) ? text.slice(MARK.length) : text);
  const settings: GitSetting[] = [];
  let section: string | null = null;
  for (let sign = signs.next(); sign !== END; sign = signs.next()) {
    if (isSpace(sign)) continue;
    if (isComment(sign)) signs.skipLine();
    else if (sign === '[') {
      section = sectionAt(signs);
      if (section === null) return null;
    } else {
      const setting: GitSetting | null = section === null ? null : settingAt(signs, sign, section);
      if (setting === null) return null;
      settings.push(setting);
    }
  }
  return settings;
}

/** The mark that some editors put before UTF-8, as bytes. */
const MARK = '\u00ef\u00bb\u00bf';
/** No sign: the text is at its end. */
const END = '';

interface Signs {
  /** The next one; a line that ends as on Windows ends with a line feed alone. */
  next(): string;
  skipLine(): void;
}

function signsOf(text: string): Signs {
  let at = 0;
  return {
    next() {
      if (text[at] === '\r' && text[at + 1] === '\n') at += 1;
      const sign = text[at] ?? END;
      at += 1;
      return sign;
    },
    skipLine() {
      const end = text.indexOf('\n', at);
      at = end === -1 ? text.length : end;
    },
  };
}

const isSpace = (sign: string) => sign === ' ' || sign === '\t' || sign === '\n' || sign === '\r';
const isComment = (sign: string) => sign === '#' || sign === ';';
const isKeySign = (sign: string) => /^[A-Za-z0-9-]$/.test(sign);
const isLineEnd = (sign: string) => sign === '\n' || sign === END;

/** The name of a section, behind its bracket; null where it is not one. */
function sectionAt(signs: Signs): string | null {
  let name = '';
  for (let sign = signs.next(); sign !== ']'; sign = signs.next()) {
    if (isSpace(sign)) return subsectionAt(signs, sign, name);
    if (!isKeySign(sign) && sign !== '.') return null;
    name += sign.toLowerCase();
  }
  return name === '' ? null : name;
}

/** A name in quotes, in which a backslash stands before any sign, and a bracket right behind it. */
function subsectionAt(signs: Signs, first: string, section: string): string | null {
  let sign = first;
  while (isSpace(sign)) {
    if (sign === '\n') return null;
    sign = signs.next();
  }
  if (sign !== '"') return null;
  let name = `${section}.`;
  for (sign = signs.next(); sign !== '"'; sign = signs.next()) {
    if (sign === '\\') sign = signs.next();
    if (isLineEnd(sign)) return null;
    name += sign;
  }
  return signs.next() === ']' ? name : null;
}

function settingAt(signs: Signs, first: string, section: string): GitSetting | null {
  if (!/^[A-Za-z]$/.test(first)) return null;
  let name = first;
  let sign = signs.next();
  for (; isKeySign(sign); sign = signs.next()) name += sign;
  while (sign === ' ' || sign === '\t') sign = signs.next();
  const key = `${section}.${name.toLowerCase()}`;
  if (isLineEnd(sign)) return { key, value: null };
  const value = sign === '=' ? valueAt(signs) : null;
  return value === null ? null : { key, value };
}

/** Up to the end of the line: a backslash there goes on in the next one, unless it is part of a comment. */
function valueAt(signs: Signs): string | null {
  let value = '';
  let spaces = '';
  let isQuoted = false;
  for (let sign = signs.next(); ; sign = signs.next()) {
    if (isLineEnd(sign)) return isQuoted ? null : value;
    if (!isQuoted && isSpace(sign)) {
      if (value !== '') spaces += sign;
      continue;
    }
    if (!isQuoted && isComment(sign)) {
      signs.skipLine();
      return value;
    }
    value += spaces;
    spaces = '';
    if (sign === '"') isQuoted = !isQuoted;
    else if (sign === '\\') {
      const escaped = signs.next();
      const meant = ESCAPES.get(escaped);
      if (meant === undefined) return null;
      value += meant;
    } else value += sign;
  }
}

/** At the end of the text a backslash goes on with nothing. */
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\n', ''],
  [END, ''],
  ['t', '\t'],
  ['b', '\b'],
  ['n', '\n'],
  ['\\', '\\'],
  ['"', '"'],
]);

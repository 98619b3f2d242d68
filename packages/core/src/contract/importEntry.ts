/** Where an import of a closure leads, where the closure's files alone do not say so. */
export interface ImportToAccept {
  /** The file that imports. */
  readonly importer: string;
  readonly kind: 'import' | 'require';
  /** As it is written there. */
  readonly specifier: string;
  /** The file that is meant; null where there is none. */
  readonly target: string | null;
}

/** Stands in no path: the paths of a closure are normal ones. */
const BETWEEN = '//';

/** The name under which such an import stands among the files that a human accepts. It says all there is to say. */
export function importEntry({ importer, kind, specifier, target }: ImportToAccept): string {
  return `${importer}${BETWEEN}${kind} ${JSON.stringify(specifier)} → ${target ?? 'nothing'}`;
}

/** The name under which it stands there that two files of a closure are one. */
export function twinEntry(file: string, other: string): string {
  return `${file}${BETWEEN}is ${other}`;
}

/** Whether a name among accepted files is not that of a file, but says where an import leads. */
export function isImportEntry(path: string): boolean {
  return path.includes(BETWEEN);
}

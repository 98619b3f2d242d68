/** The formats of others that `import` reads. */
export const IMPORT_KINDS = [
  'orchestrator-contract',
  'orchestrator-items',
  'orchestrator-gates',
  'spec-kit-workflow',
  'spec-kit-tasks',
  'kiro-spec',
  'openspec-change',
  'praxis-folder',
] as const;

/** The name of a format. */
export type ImportKind = (typeof IMPORT_KINDS)[number];

/** What is to be imported. */
export interface ImportRequest {
  /** Absolute path of a file or folder; it may lie outside the project. */
  readonly path: string;
  /** How the path is named in the report. */
  readonly named: string;
  /** Left out: told from the content. */
  readonly kind?: ImportKind;
}

/** A workflow of ours made from one of others. */
export interface Imported {
  readonly kind: ImportKind;
  readonly workflow: string;
  readonly phases: readonly string[];
  /** The phases behind which a human decides. */
  readonly gates: readonly string[];
  /** The contract; null where the source is a folder that is read as it is. */
  readonly text: string | null;
  /** Of a folder that is read as it is: its files, relative to it. */
  readonly files: readonly string[];
  /** Every key of the source once, in the order of the files. */
  readonly keys: readonly ImportedKey[];
  /** What our contract has and the source does not say. */
  readonly added: readonly string[];
}

/** What became of one key, or of one part of a Markdown file. */
export interface ImportedKey {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly key: string;
  /** `human`: a human decides it at a gate. `left_out`: it has no meaning here, and `text` says why. */
  readonly became: 'mapped' | 'human' | 'left_out';
  /** Where it went, or the reason. */
  readonly text: string;
}

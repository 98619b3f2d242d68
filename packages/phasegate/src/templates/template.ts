/** A file of a template; its path is relative to the project. */
export interface TemplateFile {
  readonly path: string;
  readonly text: string;
}

/** An example workflow `phasegate init` can write. */
export interface Template {
  readonly name: string;
  /** One sentence about it, without a full stop. */
  readonly summary: string;
  /** The id of the workflow. */
  readonly workflow: string;
  /** Where it is written, relative to the project: what a human accepts. */
  readonly path: string;
  /** What `start` needs after the name of the workflow, if anything. */
  readonly startWith?: string;
  /** Whether the engine runs the project's own tests in it. */
  readonly runsTests: boolean;
  /** What the workflow consists of. */
  definition(tests: ProjectTests): readonly TemplateFile[];
  /** Its contract tests and its README, beside it. */
  beside(tests: ProjectTests): readonly TemplateFile[];
}

/** How a project tests itself, as far as `init` found out. */
export interface ProjectTests {
  /** The command line, as one types it. */
  readonly command: string;
  /** The words that run them with a report for machines; null where the runner is not a known one. */
  readonly report: readonly string[] | null;
  /** The exit codes it ends with where tests fail. */
  readonly red: readonly number[];
  readonly layout: Layout;
  /** Why they cannot be verified as they are run here, and what to do about it; absent where nothing is in the way. */
  readonly unverified?: { readonly missing: string; readonly next: string };
}

/** Where a project has its tests and its code. */
export interface Layout {
  /** Globs of tests. */
  readonly tests: readonly string[];
  /** Globs of code. */
  readonly code: readonly string[];
  /** Globs of tests that lie among code, each with a path it matches: kept out where code is written. */
  readonly testsAmongCode: Readonly<Record<string, string>>;
  /** Folders in which tools leave something behind where tests are run: no phase that runs them changes nothing. */
  readonly caches: readonly string[];
  /** The same, of a folder that lies in every folder of tests and code. */
  readonly cacheInEach?: string;
  /** Whether a test of something that is missing does not compile. */
  readonly compiled: boolean;
  /** A path of each kind, for the contract tests. */
  readonly sample: { readonly test: string; readonly code: string };
}

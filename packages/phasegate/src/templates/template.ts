/** An example workflow `phasegate init` can write. */
export interface Template {
  readonly name: string;
  readonly summary: string;
  /** The id of the workflow. */
  readonly workflow: string;
  /** Where it is written, relative to the project. */
  readonly path: string;
  readonly text: string;
  /** Its contract tests, beside it. */
  readonly contract: { readonly path: string; readonly text: string };
}

/** One thing wrong with a config, by the path to it. */
export interface ConfigFault {
  readonly path: readonly (string | number)[];
  readonly code: string;
  readonly message: string;
}

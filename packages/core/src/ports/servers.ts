import type { JsonObject } from '../json.ts';

/** A server as the config names it. */
export interface ConfiguredServer {
  readonly name: string;
  /** What the config says of it. */
  readonly entry: JsonObject;
  /** Files of the project that it starts: path → SHA-256. */
  readonly files: Readonly<Record<string, string>>;
}

/** A server of the config, as a human is asked to accept it. */
export interface ServerCard extends ConfiguredServer {
  /** SHA-256 over all of it. */
  readonly hash: string;
  /** True where nobody need be asked, too: no human is set up. */
  readonly trusted: boolean;
}

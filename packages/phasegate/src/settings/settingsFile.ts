/** What settings are written for. */
export interface Placed {
  /** The program of this client's hooks. */
  readonly hook: string;
  /** How the client starts our MCP server. */
  readonly mcp: { readonly command: string; readonly args: readonly string[] };
  /** Whether a client that can is to offer its model the tools of the phase alone. */
  readonly narrow?: boolean;
  /** Where the server is asked about calls of tools by HTTP; absent where the program asks about everything. */
  readonly http?: HttpDoor;
}

/** The server's address for hooks, and the key that opens it. */
export interface HttpDoor {
  readonly url: string;
  readonly key: string;
}

/** How a client can ask about calls of its tools. */
export const HOOK_WAYS = ['command', 'http'] as const;

/** How a client asks about calls of its tools. */
export type HookWay = (typeof HOOK_WAYS)[number];

/** One file of settings, and what of it is ours. */
export interface SettingsFile {
  /** From the root, with forward slashes. */
  readonly path: string;
  /** Whether it holds a key, so that nobody else is to read it. */
  readonly secret?: boolean;
  /** The text with ours in it, and nothing of ours twice; what is there besides stays. Throws `config_invalid`. */
  add(text: string | null, placed: Placed): string;
  /** The text without ours; null where nothing else is in it. Throws `config_invalid`. */
  remove(text: string): string | null;
}

/** A client whose hooks can be set up. */
export interface ClientSettings {
  readonly name: string;
  readonly title: string;
  /** The names of its program. */
  readonly programs: readonly string[];
  /** The folder of a project by which its use is known. */
  readonly folder: string;
  /** Its files, where these others are set up too. */
  files(others: readonly string[], way?: HookWay): readonly SettingsFile[];
  /** Its file in the home of the user, from there; for clients that run no hooks of folders around theirs. */
  readonly userFile?: SettingsFile;
  /** What is still to be done by hand. */
  readonly after: readonly string[];
}

/** The folder of hook programs, by which entries of ours are known. */
export const HOOK_FOLDER = 'phasegate-hooks';

/** The header that tells by which settings a hook was started; entries that ask by HTTP are known by it. */
export const SCOPE_HEADER = 'x-phasegate-scope';

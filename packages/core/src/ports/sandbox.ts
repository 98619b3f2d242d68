/** What a client in a sandbox starts to speak MCP with the engine. */
export type McpCommand = readonly [string, ...string[]];

/** Runs programs behind walls that the operating system holds. */
export interface Sandbox {
  /** Whether it works here. Asked once: what it stands on does not change while a process lives. */
  state(): Promise<SandboxState>;
  /** Prepares a program. Throws where it cannot be held as the scope says, with the reason for the one who asked. */
  enclose(program: FreeProgram, scope: SandboxScope): Promise<EnclosedProgram>;
  /** For programs with an `engine`. */
  mcp(): Promise<McpCommand>;
}

/** Whether programs can be held here. */
export type SandboxState =
  | { readonly works: true; readonly by: string }
  | { readonly works: false; readonly reason: string; readonly nextStep: string };

/** What a program in a sandbox may touch. */
export interface SandboxScope {
  /** Real path of the workspace, which it may read. */
  readonly workspace: string;
  /** Globs of what it may write, relative to the workspace. */
  readonly writes: readonly string[];
  /** Whether a path, relative to the workspace, may be written. It decides where globs and guarded files overlap. */
  mayWrite(path: string): boolean;
  /** Whether it may add to the repository: objects, index and refs, and never its config or hooks. */
  readonly commits: boolean;
  /** Paths of what its run was made from beside the project's definitions. */
  readonly definitions?: readonly string[];
  /** Hosts that it may reach, through a proxy: `host`, `*.domain`, or either with a port. Absent: none. */
  readonly hosts?: readonly string[];
  /** Not shown what the project lets all programs write: an agent's programs may have been there before. */
  readonly alone?: boolean;
  /** How many bytes of memory `/tmp` may hold; absent: as many as every sandbox has. */
  readonly temporary?: number;
}

/** A program as it would be run without a sandbox. */
export interface FreeProgram {
  readonly argv: readonly [string, ...string[]];
  /** Absolute, in the workspace. */
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** How many descriptors beyond standard error it is given already; they stay where they are. */
  readonly given?: number;
  /** Has a standard output that nothing of the sandbox itself holds, so that its end is the end of all who had it. */
  readonly ownOutput?: boolean;
  /** Absolute paths that it may read, and that it may write, beside its scope. */
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  /** What is shown, to read, at another place than where it lies; an empty folder to write in where it lies nowhere. */
  readonly placed?: readonly { readonly from: string | null; readonly at: string }[];
  /** Not to be shown the definitions: it works by what it is told. A phase that commits shows them. */
  readonly withoutDefinitions?: boolean;
  /** For a whole client: it reaches the engine by this program, and the hosts that the project names beside its scope's. */
  readonly engine?: EngineProgram;
}

/** A program outside the sandbox that speaks MCP for the engine. */
export interface EngineProgram {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** The same program in its sandbox. */
export interface EnclosedProgram {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** What it inherits, in order, behind those it was given; null: nothing. */
  readonly descriptors: readonly (number | null)[];
  /** The descriptor to be read in the place of standard output, where it has its own; null stands there. */
  readonly output?: number;
  /**
   * A descriptor, too, with null in its place: a pipe in both directions, by which a program with an output of its own is
   * said to have ended. What it left running lives on until a line is the answer.
   */
  readonly ending?: number;
  /** What of the scope the operating system does not hold, in words; empty where it holds all of it. */
  readonly loose: readonly string[];
  /** A pipe in both directions that the program is to have behind `descriptors`, and who serves its other end. */
  readonly channel?: { serve(pipe: unknown): void };
  /** Whether the program itself began. If it did not, the sandbox could not be made, and its exit code says nothing. */
  begun(): boolean;
  /** Closes what was opened for it, after it has ended. */
  close(): Promise<void>;
}

/** A sandbox for one scope. */
export type Enclose = (program: FreeProgram) => Promise<EnclosedProgram>;

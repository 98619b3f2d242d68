import type { ClientName } from '../clientKind.ts';

/** One session of a real client in a world of its own: what is tried there. */
export interface Trial {
  readonly name: TrialName;
  readonly client: ClientName;
}

/** What is tried, each in a world of its own. */
export const TRIALS = [
  /** Nothing holds the client: what does not work here shows nothing elsewhere. */
  'control',
  /** The settings as they are. */
  'settings',
  'server_replaced',
  'curl_settings',
  'search_path',
  'settings_swapped',
  'hooks_disabled',
  'settings_ignored',
  'folder_untrusted',
] as const;

/** One of them. */
export type TrialName = (typeof TRIALS)[number];

/** What a program inside a world is told; all of it is JSON. */
export interface TrialOrder extends Trial {
  /** The client's program. */
  readonly program: string;
  /** The command `phasegate`, as words. */
  readonly phasegate: readonly [string, ...string[]];
  /** The MCP server whose tool an attack uses. */
  readonly toolServer: readonly [string, ...string[]];
  readonly project: string;
  readonly home: string;
  readonly path: string;
  readonly stateDir: string;
  readonly limitMs: number;
}

/** What came of a trial. */
export interface TrialReport {
  readonly attacks: readonly AttackReport[];
  /** The client asked at least one hook. */
  readonly asked: boolean;
  /** What went wrong so that nothing can be said; null otherwise. */
  readonly fault: string | null;
  /** What is to be told beside the outcome. */
  readonly note?: string;
  readonly milliseconds: number;
}

/** What came of one attack. */
export interface AttackReport {
  readonly name: string;
  readonly title: string;
  readonly outcome: 'held' | 'worked' | 'cannot';
  /** Where it worked: milliseconds until Phasegate had noticed; null where it did not. */
  readonly noticedMs?: number | null;
  /** What the model was told, shortened. */
  readonly told?: string;
}

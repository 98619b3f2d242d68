import type { HookClient } from '../ports.ts';

/** What is wrong with the settings by which a client asks first. */
export interface SettingsState {
  /** In what was written for it: what lets it run without asking. */
  readonly ours: readonly string[];
  /** In the user's own settings. */
  readonly others: readonly string[];
}

/** Looks at the settings of a client that works in a folder; null where none were written for it. */
export type LookAtSettings = (client: HookClient, cwd: string) => Promise<SettingsState | null>;

/** What was known of the settings of a session when it came to its run: null where none were written. */
export async function settingsAtStart(
  look: LookAtSettings | undefined,
  client: HookClient,
  cwd: string,
): Promise<readonly string[] | null> {
  // Trouble with ours is told with the first event; what is the user's own was there before the run.
  return (await look?.(client, cwd))?.others ?? null;
}

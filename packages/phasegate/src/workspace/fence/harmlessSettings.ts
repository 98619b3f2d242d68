import { isJsonObject, type Json, type JsonObject, own } from '@phasegate/core';

/** The settings of a client without those that neither start a program nor let one do more; a key nobody thought of counts. */
export function weightySettingsOf(settings: JsonObject): JsonObject {
  return left(settings, HARMLESS);
}

type Allows = (value: Json) => boolean;
interface Harmless {
  readonly [name: string]: Allows | Harmless;
}

const isSwitch: Allows = (value) => typeof value === 'boolean';
/** Without braces, by which opencode takes in files and variables. */
const isWord: Allows = (value) => typeof value === 'string' && /^[^{}]+$/.test(value);
const isCount: Allows = (value) => Number.isSafeInteger(value) && Number(value) > 0;
const isSchema: Allows = (value) => SCHEMAS.has(value);

const SCHEMAS: ReadonlySet<Json> = new Set([
  'https://json.schemastore.org/claude-code-settings.json',
  'https://opencode.ai/config.json',
]);

/**
 * By name and by what is in it: Claude Code drops a whole file, with all its hooks, for one value of a kind that it does not
 * expect, and says nothing. One by one: a section as a whole may come to name a program.
 */
const HARMLESS: Harmless = {
  $schema: isSchema,
  autoUpdates: isSwitch,
  cleanupPeriodDays: isCount,
  includeCoAuthoredBy: isSwitch,
  language: isWord,
  model: isWord,
  outputStyle: isWord,
  spinnerTipsEnabled: isSwitch,
  theme: isWord,
  verbose: isSwitch,
  ui: { theme: isWord, hideBanner: isSwitch, hideFooter: isSwitch, hideTips: isSwitch },
  // Gemini CLI writes the newer of these in the place of the older ones when it is started.
  general: {
    vimMode: isSwitch,
    enableAutoUpdate: isSwitch,
    enableAutoUpdateNotification: isSwitch,
    disableAutoUpdate: isSwitch,
    disableUpdateNag: isSwitch,
  },
  privacy: { usageStatisticsEnabled: isSwitch },
};

function left(settings: JsonObject, harmless: Harmless): JsonObject {
  const entries = Object.entries(settings).flatMap(([name, value]): [string, Json][] => {
    const rule = own(harmless, name) as Allows | Harmless | undefined;
    if (rule === undefined) return [[name, value]];
    if (typeof rule === 'function') return rule(value) ? [] : [[name, value]];
    if (!isJsonObject(value)) return [[name, value]];
    const inner = left(value, rule);
    return Object.keys(inner).length === 0 ? [] : [[name, inner]];
  });
  return Object.fromEntries(entries);
}

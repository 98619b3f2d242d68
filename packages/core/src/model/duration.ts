const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Seconds of a duration such as `90s`, `30m`, `24h` or `7d`; null when it is none. */
export function parseDuration(text: string): number | null {
  // A file may have a bare number here, whatever the type says.
  const match = /^([1-9][0-9]{0,6})(s|m|h|d)$/.exec(String(text).trim());
  if (!match) return null;
  return Number(match[1]) * (SECONDS[match[2] as string] as number);
}

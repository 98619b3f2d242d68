import { readGoJson } from './readGoJson.ts';
import { readJestJson } from './readJestJson.ts';
import { readJunitXml } from './readJunitXml.ts';
import { readTap } from './readTap.ts';
import { type ReadReport, unreadable } from './testReport.ts';

/** The formats a report can have; each is what one or more runners write. */
export const FORMATS = ['jest', 'junit', 'tap', 'go'] as const;

/** How a report is written. */
export type ReportFormat = (typeof FORMATS)[number];

/** Finds the report in what a runner printed. Two kinds of report in one output contradict each other. */
export async function readReport(output: Uint8Array, format: ReportFormat | null): Promise<ReadReport> {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(output);
  } catch {
    return unreadable('its output is not UTF-8');
  }
  const found: ReadReport[] = [];
  for (const one of FORMATS) {
    if (format !== null && format !== one) continue;
    const read = await READERS[one](text);
    if (read !== null) found.push(read);
  }
  const [first, ...others] = found;
  if (first === undefined)
    return unreadable(`it printed no report${format === null ? '' : ` as \`${format}\``}`);
  return others.length === 0 ? first : unreadable('it printed reports in more than one format');
}

const READERS: Readonly<
  Record<ReportFormat, (text: string) => ReadReport | null | Promise<ReadReport | null>>
> = {
  jest: readJestJson,
  async junit(text) {
    if (!text.includes('<testsuite')) return null;
    return readJunitXml(text, (await import('sax')).default.parser);
  },
  tap: readTap,
  go: readGoJson,
};

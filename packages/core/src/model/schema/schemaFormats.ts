/** The formats that are checked; any other is a note to the reader. Each takes time in proportion to the text. */
export const FORMATS: ReadonlyMap<string, Format> = new Map<string, Format>([
  ['date', { words: 'a date such as `2026-01-31`', holds: isDate }],
  ['time', { words: 'a time such as `12:30:00Z`', holds: isTime }],
  ['date-time', { words: 'a date and time such as `2026-01-31T12:30:00Z`', holds: isDateTime }],
  ['email', { words: 'an email address', holds: isEmail }],
  ['uri', { words: 'an absolute URI', holds: isUri }],
  ['uuid', { words: 'a UUID', holds: (text) => UUID.test(text) }],
  ['ipv4', { words: 'an IPv4 address', holds: (text) => IPV4.test(text) }],
]);

/** One format: what to call it, and whether a text has it. */
export interface Format {
  readonly words: string;
  holds(text: string): boolean;
}

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const TIME = /^(\d\d):(\d\d):(\d\d)(?:\.\d{1,20})?(?:[zZ]|([+-])(\d\d):(\d\d))$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
const LOCAL_PART = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}$/;
const LABEL = /^(?!-)[A-Za-z0-9-]{1,63}(?<!-)$/;
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/;
const NOT_IN_URI = /[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]/;
const BAD_PERCENT = /%(?![0-9A-Fa-f]{2})/;

function isDate(text: string): boolean {
  const [, year, month, day] = DATE.exec(text) ?? [];
  return day !== undefined && Number(day) >= 1 && Number(day) <= daysIn(Number(year), Number(month));
}

function daysIn(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  if (month < 1 || month > 12) return 0;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function isTime(text: string): boolean {
  const match = TIME.exec(text);
  if (match === null) return false;
  const [hour = 0, minute = 0, second = 0] = match.slice(1, 4).map(Number);
  const [awayHours = 0, awayMinutes = 0] = match.slice(5, 7).map((part) => Number(part ?? 0));
  if (hour > 23 || minute > 59 || awayHours > 23 || awayMinutes > 59) return false;
  if (second < 60) return true;
  // A leap second is the last of a day in UTC, whatever the clock on the wall says.
  const away = (awayHours * 60 + awayMinutes) * (match[4] === '-' ? -1 : 1);
  const utc = (hour * 60 + minute - away + 2 * DAY) % DAY;
  return second === 60 && utc === DAY - 1;
}

const DAY = 24 * 60;

function isDateTime(text: string): boolean {
  return /^[tT]$/.test(text[10] ?? '') && isDate(text.slice(0, 10)) && isTime(text.slice(11));
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  if (at === -1 || text.length > 254) return false;
  const local = text.slice(0, at);
  const dotted = local.startsWith('.') || local.endsWith('.') || local.includes('..');
  return (
    !dotted &&
    LOCAL_PART.test(local) &&
    text
      .slice(at + 1)
      .split('.')
      .every((label) => LABEL.test(label))
  );
}

function isUri(text: string): boolean {
  return SCHEME.test(text) && !NOT_IN_URI.test(text) && !BAD_PERCENT.test(text);
}

const INSTANT = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})\.(\d{3})Z$/;

/**
 * An ISO instant some seconds later. Plain arithmetic instead of `Date`, so that the engine's purity needs no
 * exception: a `Date` in this package is a mistake, wherever it stands. Instants in this form compare as text.
 */
export function addSeconds(instant: string, seconds: number): string {
  const match = partsOf(instant);
  const total = secondsIn(match) + seconds;
  const days = Math.floor(total / 86_400);
  const rest = total - days * 86_400;
  const clock = [Math.floor(rest / 3600), Math.floor(rest / 60) % 60, rest % 60]
    .map((part) => pad(part, 2))
    .join(':');
  return `${calendarDay(days)}T${clock}.${match[7]}Z`;
}

/** How many seconds, with thousandths, one ISO instant lies after another. */
export function secondsBetween(from: string, to: string): number {
  const [start, end] = [partsOf(from), partsOf(to)];
  return secondsIn(end) - secondsIn(start) + (Number(end[7]) - Number(start[7])) / 1000;
}

function partsOf(instant: string): RegExpExecArray {
  const match = INSTANT.exec(instant);
  if (match === null) throw new TypeError('an instant looks like `2026-01-31T12:00:00.000Z`');
  return match;
}

function secondsIn(match: RegExpExecArray): number {
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  return dayNumber(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
}

/** Days since 0000-03-01: years that begin in March put the leap day at their end. */
function dayNumber(year: number, month: number, day: number): number {
  const shifted = month > 2 ? year : year - 1;
  const yearDay = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  return (
    shifted * 365 + Math.floor(shifted / 4) - Math.floor(shifted / 100) + Math.floor(shifted / 400) + yearDay
  );
}

function calendarDay(days: number): string {
  const era = Math.floor(days / 146_097);
  const eraDay = days - era * 146_097;
  const eraYear = Math.floor(
    (eraDay - Math.floor(eraDay / 1460) + Math.floor(eraDay / 36_524) - Math.floor(eraDay / 146_096)) / 365,
  );
  const yearDay = eraDay - (365 * eraYear + Math.floor(eraYear / 4) - Math.floor(eraYear / 100));
  const shifted = Math.floor((5 * yearDay + 2) / 153);
  const day = yearDay - Math.floor((153 * shifted + 2) / 5) + 1;
  const month = shifted < 10 ? shifted + 3 : shifted - 9;
  const year = eraYear + era * 400 + (month <= 2 ? 1 : 0);
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
}

function pad(value: number, width: number): string {
  return String(value).padStart(width, '0');
}

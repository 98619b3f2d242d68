/** A time in the unit one would say it in. */
export function timeText(minutes: number): string {
  if (minutes < 1) return `${short(minutes * 60)} s`;
  if (minutes < 120) return `${short(minutes)} min`;
  if (minutes < 48 * 60) return `${short(minutes / 60)} h`;
  return `${short(minutes / 1440)} d`;
}

/** A range of times in one unit for all ranges that are so wide, so that they can be compared. */
export function rangeText(from: number, to: number, width: number): string {
  if (from === to) return timeText(from);
  const [unit, minutes] = unitOf(width);
  const [least, most] = [short(from / minutes), short(to / minutes)];
  return least === most ? `${least} ${unit}` : `${least} to ${most} ${unit}`;
}

/** The unit one would say a time of this length in. */
function unitOf(width: number): readonly [unit: string, minutes: number] {
  if (width >= 1440) return ['d', 1440];
  if (width >= 60) return ['h', 60];
  return width >= 0.1 ? ['min', 1] : ['s', 1 / 60];
}

/** A share of the whole; what is there is never shown as nothing, and what is missing not as all. */
export function shareText(share: number): string {
  const hundredths = share * 100;
  if (hundredths > 0 && hundredths < 0.1) return '<0.1 %';
  if (hundredths < 100 && hundredths > 99.9) return '>99.9 %';
  return `${short(hundredths)} %`;
}

/** A number with at most so many places. */
export function short(value: number, places = 1): string {
  const shown = value.toFixed(places);
  return places > 0 ? shown.replace(/\.?0+$/, '') : shown;
}

/** A time in the unit one would say it in. */
export function timeText(minutes: number): string {
  if (minutes < 1) return `${short(minutes * 60)} s`;
  if (minutes < 120) return `${short(minutes)} min`;
  if (minutes < 48 * 60) return `${short(minutes / 60)} h`;
  return `${short(minutes / 1440)} d`;
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

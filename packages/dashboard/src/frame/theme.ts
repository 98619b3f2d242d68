/** How the pages are to look: as the system says, or as was chosen here. */
export type Theme = 'system' | 'light' | 'dark';

const KEY = 'phasegate-theme';
const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

/** What was chosen in this browser. */
export function chosenTheme(): Theme {
  const kept = localStorage.getItem(KEY);
  return THEMES.find((theme) => theme === kept) ?? 'system';
}

/** The one after it. */
export function nextTheme(theme: Theme): Theme {
  return THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system';
}

/** Keeps a choice and shows it. */
export function chooseTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme);
  applyTheme(theme);
}

/** Shows a theme, and follows the system where that is it. */
export function applyTheme(theme: Theme): void {
  const { dataset } = document.documentElement;
  dataset.theme = theme;
  const dark = theme === 'dark' || (theme === 'system' && system.matches);
  dataset.shade = dark ? 'dark' : 'light';
}

const system = matchMedia('(prefers-color-scheme: dark)');
system.addEventListener('change', () => applyTheme(chosenTheme()));

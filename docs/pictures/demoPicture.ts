// The demo's real output as an animated picture. `npx node docs/pictures/writeDemo.ts` makes it anew.

/** What a line is painted with, by the code a terminal knows. */
const CLASSES: Readonly<Record<string, string>> = { 1: 'b', 2: 'd', 31: 'r', 32: 'g' };

const SIZE = 13;
const STEP = 18;
const COLUMN = 7.83;
const MARGIN = 20;
const LINE_SECONDS = 0.35;
const HOLD_SECONDS = 8;
/** How many lines stand there from the beginning, and how the others look until it is their turn. */
const FIRST_LINES = 8;
const PALE = 0.3;

/**
 * One SVG that needs nothing from elsewhere: lines light up one after another, and start over after a while. It is never
 * empty. Where a page is dark, so is the picture; where motion is unwelcome, all lines stand there at once.
 */
export function demoPicture(transcript: string): string {
  const lines = transcript.trimEnd().split('\n');
  const columns = Math.max(...lines.map((line) => plainText(line).length));
  const width = Math.ceil(2 * MARGIN + columns * COLUMN);
  const height = 2 * MARGIN + lines.length * STEP;
  const total = (lines.length - FIRST_LINES) * LINE_SECONDS + HOLD_SECONDS;
  const percent = (seconds: number) => Math.round((seconds / total) * 10_000) / 100;
  const shown = lines.map((line, index) => ({ line, index })).filter(({ line }) => line !== '');
  const later = shown.filter(({ index }) => index >= FIRST_LINES);
  const frames = later.map(({ index }) => {
    const at = percent((index - FIRST_LINES + 1) * LINE_SECONDS);
    return `@keyframes k${index}{0%,${at}%{opacity:${PALE}}${Math.round((at + 0.3) * 100) / 100}%,100%{opacity:1}}#l${index}{animation:k${index} ${total}s infinite}`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace" font-size="${SIZE}">`,
    '<title>npm run demo: an agent cheats, and is refused</title>',
    `<desc>${xml(lines.map((line) => plainText(line).trim()).join('. '))}</desc>`,
    `<style>svg{color-scheme:light dark}text{white-space:pre;fill:#1f2328}.p{fill:#f6f8fa}.b{font-weight:700}.d{fill:#59636e}.r{fill:#b42318}.g{fill:#116329}@media (prefers-color-scheme:dark){text{fill:#e6edf3}.p{fill:#0d1117}.d{fill:#9198a1}.r{fill:#ff8a7a}.g{fill:#4cc16d}}@media (prefers-reduced-motion:no-preference){${frames.join('')}}</style>`,
    `<rect class="p" width="${width}" height="${height}" rx="8"/>`,
    ...shown.map(
      ({ line, index }) =>
        `<text id="l${index}" x="${MARGIN}" y="${MARGIN + (index + 0.75) * STEP}" xml:space="preserve">${painted(line)}</text>`,
    ),
    '</svg>\n',
  ].join('\n');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal is told colours with
const PAINTED = /\u001b\[(\d+)m([^\u001b]*)\u001b\[0m/g;

function plainText(line: string): string {
  return line.replaceAll(PAINTED, '$2');
}

function painted(line: string): string {
  return xml(line).replaceAll(PAINTED, (_, code: string, words: string) =>
    words.trim() === '' ? words : `<tspan class="${CLASSES[code] ?? 'd'}">${words}</tspan>`,
  );
}

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

// What a command printed on a terminal, as a picture. `npx node docs/pictures/writeCommands.ts` makes them all anew.

/** What is shown, and under which name. */
export interface Shown {
  readonly title: string;
  /** The output with its colours, as a terminal gets it. */
  readonly text: string;
}

/** One SVG that needs nothing from elsewhere; where a page is dark, so is the picture. */
export function terminalPicture({ title, text }: Shown): string {
  const lines = text.trimEnd().split('\n');
  const columns = Math.max(...lines.map((line) => line.replaceAll(CODE, '').length));
  const [width, height] = [Math.ceil(40 + columns * 7.83), 40 + lines.length * 18];
  const drawn = lines.flatMap((line, row) =>
    line.trim() === ''
      ? []
      : [`<text x="20" y="${20 + (row + 0.75) * 18}" xml:space="preserve">${coloured(line)}</text>`],
  );
  const said = lines.map((line) => line.replaceAll(CODE, '').trim()).filter((line) => line !== '');
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-size="13" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace">`,
    `<title>${plain(title)}</title><desc>${plain(said.join('. '))}</desc>`,
    `<style>${STYLE}</style>`,
    `<rect class="page" width="${width}" height="${height}" rx="8"/>`,
    ...drawn,
    '</svg>\n',
  ].join('\n');
}

const STYLE = [
  'svg{color-scheme:light dark}text{white-space:pre;fill:#1f2328}.page{fill:#f6f8fa}',
  '.bold{font-weight:700}.dim{fill:#59636e}.red{fill:#b42318}.green{fill:#116329}.yellow{fill:#8a5a00}.cyan{fill:#0b6477}',
  '@media (prefers-color-scheme:dark){text{fill:#e6edf3}.page{fill:#0d1117}.dim{fill:#9198a1}.red{fill:#ff8a7a}',
  '.green{fill:#4cc16d}.yellow{fill:#e3b341}.cyan{fill:#56d4dd}}',
].join('');

const NAMES: Readonly<Record<string, string>> = {
  1: 'bold',
  2: 'dim',
  31: 'red',
  32: 'green',
  33: 'yellow',
  36: 'cyan',
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal is told colours with
const CODE = /\u001b\[(\d+)m/g;

/** The line in pieces, each with the colours that are on where it stands. */
function coloured(line: string): string {
  const on = new Set<string>();
  const pieces = line.split(CODE);
  return pieces
    .map((piece, index) => {
      if (index % 2 === 0) {
        if (piece === '' || on.size === 0) return plain(piece);
        return `<tspan class="${[...on].join(' ')}">${plain(piece)}</tspan>`;
      }
      const name = NAMES[piece];
      if (name !== undefined) on.add(name);
      else
        for (const other of piece === '39' ? ['red', 'green', 'yellow', 'cyan'] : ['bold', 'dim'])
          on.delete(other);
      return '';
    })
    .join('');
}

function plain(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

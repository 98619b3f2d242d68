import { createElement, useState } from 'react';
import { cutText, plainText } from './plainText.ts';

/** Words of somebody else on a line of ours. */
export function Words({ text, most = 300 }: { readonly text: string; readonly most?: number }) {
  const { shown, left } = cutText(text, most);
  return <bdi>{`${plainText(shown).replaceAll('\n', ' ')}${left === 0 ? '' : '…'}`}</bdi>;
}

/** A sentence of the engine's: the names in it stand between backticks. */
export function Coded({ text, most = 300 }: { readonly text: string; readonly most?: number }) {
  const { shown, left } = cutText(text, most);
  const pieces = plainText(shown)
    .replaceAll('\n', ' ')
    .split(/`([^`]+)`/);
  const told = pieces.map((piece, at) => (at % 2 === 1 ? createElement('code', null, piece) : piece));
  return createElement('bdi', null, ...told, left === 0 ? '' : '…');
}

/** A block of somebody else's text: as text, with everything visible, and not all of a long one at once. */
export function Said({ text }: { readonly text: string }) {
  const [most, setMost] = useState(FIRST);
  const { shown, left } = cutText(text, most);
  return (
    <div className="stack tight">
      <div className="said" dir="auto">
        {plainText(shown)}
      </div>
      {left > 0 && (
        <p className="row small soft">
          {`${left.toLocaleString('en')} more characters are not shown.`}
          <button type="button" className="chip" onClick={() => setMost(most + MORE)}>
            Show more
          </button>
        </p>
      )}
    </div>
  );
}

const FIRST = 3_000;
const MORE = 32_000;

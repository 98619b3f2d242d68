import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useLayoutEffect, useMemo, useRef, useState } from 'react';
import { cutText, plainText } from '../parts/plainText.ts';
import { type DiffLine, diffLines } from './diffLines.ts';
import './diff.css';

/** A difference, line by line; of a long one as many lines as fit the window. */
export function DiffText({ text }: { readonly text: string }) {
  const body = useRef<HTMLElement>(null);
  const [top, setTop] = useState(0);
  const lines = useMemo(() => diffLines(text), [text]);
  useLayoutEffect(() => setTop((body.current?.getBoundingClientRect().top ?? 0) + window.scrollY), []);
  const rows = useWindowVirtualizer({
    count: lines.length,
    estimateSize: () => 21,
    overscan: 40,
    scrollMargin: top,
  });
  if (lines.length === 0) return <p className="soft">No difference that can be shown as text.</p>;
  return (
    <section ref={body} className="diff" aria-label="The difference, line by line">
      <div style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, start, key }) => (
          <div
            key={key}
            ref={rows.measureElement}
            data-index={index}
            className="diff-row"
            style={{ transform: `translateY(${start - top}px)` }}
          >
            <Line line={lines[index] as DiffLine} />
          </div>
        ))}
      </div>
    </section>
  );
}

const LONGEST_LINE = 2000;

function Line({ line }: { readonly line: DiffLine }) {
  const { shown, left } = cutText(line.text, LONGEST_LINE);
  const mark = line.kind === 'add' ? '+' : line.kind === 'del' ? '−' : ' ';
  return (
    <div className="diff-line" data-kind={line.kind}>
      <span className="diff-number">{line.old ?? ''}</span>
      <span className="diff-number">{line.now ?? ''}</span>
      <span className="diff-mark">{mark}</span>
      <span className="diff-text">
        <bdi>{plainText(shown)}</bdi>
        {left > 0 && <span className="soft">{` … ${left.toLocaleString('en')} more characters`}</span>}
      </span>
    </div>
  );
}

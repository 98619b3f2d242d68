import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import { cutText, plainText } from '../parts/plainText.ts';
import type { DiffLine } from './diffLines.ts';

/** More lines than this scroll in a frame of their own, which draws those that are looked at. */
const MOST_AT_ONCE = 250;
const LONGEST_LINE = 2000;
const HEIGHT = 21;

/** The lines of a difference; a sign says what became of each, and a colour says it again. */
export function DiffLines({ lines, name }: { readonly lines: readonly DiffLine[]; readonly name: string }) {
  const label = `How ${name} differs, line by line`;
  if (lines.length > MOST_AT_ONCE) return <ManyLines lines={lines} label={label} />;
  return (
    <section className="diff" aria-label={label} data-numbers={numbersIn(lines)}>
      {[...lines.entries()].map(([place, line]) => (
        <Line key={place} line={line} />
      ))}
    </section>
  );
}

/** A card knows where lines are now, and not where they were. */
function numbersIn(lines: readonly DiffLine[]): 'both' | 'now' {
  return lines.some(({ old }) => old !== null) ? 'both' : 'now';
}

/** What scrolls must be reached by keyboard. */
const REACHED = { tabIndex: 0 } as const;

function ManyLines({ lines, label }: { readonly lines: readonly DiffLine[]; readonly label: string }) {
  const body = useRef<HTMLElement>(null);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => body.current,
    estimateSize: () => HEIGHT,
    overscan: 30,
  });
  return (
    <section
      ref={body}
      className="diff diff-many"
      aria-label={label}
      data-numbers={numbersIn(lines)}
      {...REACHED}
    >
      <div style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, start, key }) => (
          <div
            key={key}
            ref={rows.measureElement}
            data-index={index}
            className="diff-row"
            style={{ transform: `translateY(${start}px)` }}
          >
            <Line line={lines[index] as DiffLine} />
          </div>
        ))}
      </div>
    </section>
  );
}

const MARKS = { add: '+', del: '−', same: ' ', hunk: ' ', note: ' ' } as const;
const HEARD = { add: 'added: ', del: 'removed: ', same: '', hunk: '', note: '' } as const;

function Line({ line }: { readonly line: DiffLine }) {
  const { shown, left } = cutText(line.text, LONGEST_LINE);
  return (
    <div className="diff-line" data-kind={line.kind}>
      <span className="diff-number">{line.old ?? ''}</span>
      <span className="diff-number">{line.now ?? ''}</span>
      <span className="diff-mark" aria-hidden="true">
        {MARKS[line.kind]}
      </span>
      <span className="diff-text">
        <span className="unseen">{HEARD[line.kind]}</span>
        <bdi>{plainText(shown)}</bdi>
        {left > 0 && <span className="soft">{` … ${left.toLocaleString('en')} more characters`}</span>}
      </span>
    </div>
  );
}

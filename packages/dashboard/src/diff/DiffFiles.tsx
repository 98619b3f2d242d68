import { type ReactNode, useId, useState } from 'react';
import { Words } from '../parts/Said.tsx';
import { Tag } from '../parts/Status.tsx';
import { DiffLines } from './DiffLines.tsx';
import type { FileDiff } from './fileDiff.ts';
import './diff.css';

/** So many lines are open at first; what comes behind them is opened by the one who reads. */
const OPEN_AT_FIRST = 400;

/** Changed files, one below the other, each of which can be closed. */
export function DiffFiles({
  files,
  rest,
  closed = false,
}: {
  readonly files: readonly FileDiff[];
  /** Whether all of them are closed at first. */
  readonly closed?: boolean;
  /** What else can be said or seen of a file, below its lines. */
  readonly rest?: ((file: FileDiff) => ReactNode) | undefined;
}) {
  const [turned, setTurned] = useState<ReadonlySet<string>>(new Set());
  const first = openAtFirst(closed ? [] : files);
  const isOpen = (path: string) => first.has(path) !== turned.has(path);
  const turn = (paths: readonly string[], open: boolean) =>
    setTurned((before) => {
      const next = new Set(before);
      for (const path of paths) {
        if (first.has(path) === open) next.delete(path);
        else next.add(path);
      }
      return next;
    });
  const paths = files.map(({ path }) => path);
  const allOpen = paths.every(isOpen);
  return (
    <div className="stack tight">
      <p className="row spread small soft">
        {closed ? <span>{`${files.length} files`}</span> : <Sum files={files} />}
        {files.length > 1 && (
          <button type="button" className="chip" onClick={() => turn(paths, !allOpen)}>
            {allOpen ? 'Close all files' : 'Open all files'}
          </button>
        )}
      </p>
      {files.map((file) => (
        <OneFile
          key={file.path}
          file={file}
          open={isOpen(file.path)}
          turn={(open) => turn([file.path], open)}
          rest={rest?.(file)}
        />
      ))}
    </div>
  );
}

function Sum({ files }: { readonly files: readonly FileDiff[] }) {
  const sum = (key: 'added' | 'removed') => files.reduce((all, file) => all + file[key], 0);
  const count = files.length === 1 ? 'One file' : `${files.length} files`;
  return (
    <span>
      {count}, <Counts added={sum('added')} removed={sum('removed')} />
    </span>
  );
}

function Counts({ added, removed }: { readonly added: number; readonly removed: number }) {
  return (
    <span className="diff-counts mono">
      <span className="diff-added">{`+${added}`}</span> <span className="diff-removed">{`−${removed}`}</span>
      <span className="unseen">{` (${added} lines added, ${removed} removed)`}</span>
    </span>
  );
}

function openAtFirst(files: readonly FileDiff[]): ReadonlySet<string> {
  let left = OPEN_AT_FIRST;
  const open = files.filter(({ lines }, place) => {
    left -= lines.length + 4;
    return place === 0 || left >= 0;
  });
  return new Set(open.map(({ path }) => path));
}

const TONES = { added: 'green', removed: 'red' } as const;

function OneFile({
  file,
  open,
  turn,
  rest,
}: {
  readonly file: FileDiff;
  readonly open: boolean;
  readonly turn: (open: boolean) => void;
  readonly rest: ReactNode;
}) {
  const id = useId();
  const { path, how, outside, permissions, untold, added, removed, lines, unread } = file;
  return (
    <article className="diff-file">
      <button
        type="button"
        className="diff-head"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => turn(!open)}
      >
        <span className="diff-turn" aria-hidden="true">
          {open ? '▾' : '▸'}
        </span>
        <span className="mono diff-path">
          <Words text={path} most={400} />
        </span>
        <Tag tone={how === 'added' || how === 'removed' ? TONES[how] : 'amber'} text={how} />
        {outside && <Tag tone="red" text="outside the scope" />}
        {permissions !== null && <Tag plain text={`permissions ${permissions}`.slice(0, 60)} />}
        {untold === null && !unread && <Counts added={added} removed={removed} />}
      </button>
      <div id={id} hidden={!open} className="stack tight">
        {open && (
          <>
            {untold !== null && (
              <p className="small diff-note">
                No lines can be shown: <Words text={untold} />. <Hashes file={file} />
              </p>
            )}
            {lines.length > 0 && <DiffLines lines={lines} name={path.slice(0, 200)} />}
            {lines.length === 0 && untold === null && !unread && (
              <p className="small diff-note">
                No line differs. <Hashes file={file} />
              </p>
            )}
            {rest}
          </>
        )}
      </div>
    </article>
  );
}

function Hashes({ file: { before, after } }: { readonly file: FileDiff }) {
  if (before === null && after === null) return null;
  const brief = (hash: string | null) => (hash === null ? 'nothing' : `${hash.slice(0, 12)}…`);
  return (
    <span className="mono" title={`${before ?? 'nothing'} → ${after ?? 'nothing'}`}>
      {`${brief(before)} → ${brief(after)}`}
    </span>
  );
}

import type { GateFiles } from '@phasegate/wire';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useId, useState } from 'react';
import { ask } from '../api/ask.ts';
import { type FileDiff, fileFromCard } from '../diff/fileDiff.ts';
import { ProblemNote, Waiting } from '../parts/Told.tsx';

const DiffFiles = lazy(() => import('../diff/DiffFiles.tsx').then((found) => ({ default: found.DiffFiles })));
const DiffLines = lazy(() => import('../diff/DiffLines.tsx').then((found) => ({ default: found.DiffLines })));

/** What a phase changed, as its gate's card has it: from what was measured, and not from what stands there now. */
export function GateDiff({
  run,
  files,
  rest,
}: {
  readonly run: string;
  readonly files: readonly FileDiff[];
  readonly rest: { readonly files: number; readonly hash: string } | null;
}) {
  const id = useId();
  return (
    <section className="card stack" aria-labelledby={id}>
      <h2 id={id}>What the phase changed</h2>
      {files.length === 0 && rest === null ? (
        <p className="soft">No file, as far as the workspace was compared.</p>
      ) : (
        <Suspense fallback={<Waiting what="the difference" />}>
          <DiffFiles files={files} rest={(file) => <RestOfFile run={run} file={file} />} />
        </Suspense>
      )}
      {rest !== null && <OtherFiles run={run} shown={files} rest={rest} />}
    </section>
  );
}

/** The lines for which the card had no room: asked for, and compared with the hashes that the card has. */
function RestOfFile({ run, file }: { readonly run: string; readonly file: FileDiff }) {
  const [wanted, setWanted] = useState(file.unread);
  const whole = useQuery({
    queryKey: ['run', run, 'gate', 'file', file.path, file.before, file.after],
    queryFn: async ({ signal }) => {
      const found = await askFiles(run, { path: file.path }, signal);
      return found.files[0] === undefined ? null : fileFromCard(found.files[0]);
    },
    enabled: wanted,
  });
  if (file.cut === 0 && file.shortened === 0 && !file.unread) return null;
  const missing = [
    ...(file.cut === 0 ? [] : [`${file.cut.toLocaleString('en')} more lines are not on the card`]),
    ...(file.shortened === 0 ? [] : [`of ${file.shortened} long lines only the beginning is`]),
  ].join(', and ');
  if (!wanted) {
    return (
      <p className="row small soft diff-note">
        {`${missing}; its hash stands for them.`}
        <button type="button" className="chip" onClick={() => setWanted(true)}>
          Show all of this file
        </button>
      </p>
    );
  }
  if (whole.error !== null) return <ProblemNote error={whole.error} again={() => void whole.refetch()} />;
  if (whole.data === undefined) return <Waiting what="the rest of it" />;
  const same = whole.data !== null && whole.data.before === file.before && whole.data.after === file.after;
  if (!same || whole.data === null) {
    return (
      <p className="note" data-tone="red" role="alert">
        This file is not what the card shows any more. Look at the card again before you decide.
      </p>
    );
  }
  return (
    <div className="stack tight">
      <p className="small soft diff-note">
        {whole.data.untold === null
          ? 'All of it, by the hashes that were measured:'
          : `No lines can be shown: ${whole.data.untold}.`}
        {whole.data.cut > 0 && ` (${whole.data.cut.toLocaleString('en')} lines are too many even here)`}
      </p>
      {whole.data.lines.length > 0 && (
        <Suspense fallback={<Waiting what="the lines" />}>
          <DiffLines lines={whole.data.lines} name={`all of ${file.path.slice(0, 200)}`} />
        </Suspense>
      )}
    </div>
  );
}

const PAGE = 100;

/** Files that the card counts and does not list. */
function OtherFiles({
  run,
  shown,
  rest,
}: {
  readonly run: string;
  readonly shown: readonly FileDiff[];
  readonly rest: { readonly files: number; readonly hash: string };
}) {
  const [pages, setPages] = useState(0);
  const found = useQuery({
    queryKey: ['run', run, 'gate', 'files', pages],
    queryFn: async ({ signal }) => {
      const asked = Array.from({ length: pages }, (_, page) => page * PAGE);
      const got: GateFiles[] = [];
      for (const offset of asked) got.push(await askFiles(run, { offset, limit: PAGE }, signal));
      return { files: got.flatMap(({ files }) => files), more: got.at(-1)?.next_offset !== null };
    },
    enabled: pages > 0,
    placeholderData: (before) => before,
  });
  const known = new Set(shown.map(({ path }) => path));
  const others = found.data?.files.filter(({ path }) => !known.has(path)).map(asUnread) ?? [];
  return (
    <div className="stack tight">
      <p className="row small soft">
        {`${rest.files.toLocaleString('en')} more files changed. The card has one hash for all of them, ${rest.hash.slice(0, 12)}….`}
        {(pages === 0 || found.data?.more === true) && (
          <button type="button" className="chip" onClick={() => setPages(pages + 1)}>
            {pages === 0 ? 'List them' : 'List more'}
          </button>
        )}
      </p>
      {found.error !== null && <ProblemNote error={found.error} again={() => void found.refetch()} />}
      {others.length > 0 && (
        <Suspense fallback={<Waiting what="the files" />}>
          <DiffFiles files={others} rest={(file) => <RestOfFile run={run} file={file} />} closed />
        </Suspense>
      )}
    </div>
  );
}

/** Its lines are asked for when it is opened. */
function asUnread(file: GateFiles['files'][number]): FileDiff {
  return { ...fileFromCard(file), unread: true };
}

function askFiles(
  run: string,
  query: { readonly path?: string; readonly offset?: number; readonly limit?: number },
  signal: AbortSignal,
): Promise<GateFiles> {
  return ask<GateFiles>(`/runs/${encodeURIComponent(run)}/gate/files`, query, signal);
}

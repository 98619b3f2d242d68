import type { PhaseRecord } from '@phasegate/wire/watching';
import { lengthOf } from '../parts/between.ts';
import { Words } from '../parts/Said.tsx';

/** How runs fare in each phase: a bar for what passed and what was refused, one for the time, and the numbers. */
export function PhasePlots({
  runs,
  phases,
}: {
  readonly runs: number;
  readonly phases: readonly PhaseRecord[];
}) {
  const most = Math.max(1, ...phases.map(({ passed, refused }) => passed + refused));
  const longest = Math.max(1, ...phases.map(({ slow_seconds }) => slow_seconds ?? 0));
  return (
    <div className="stack">
      <p className="small soft">{`The newest ${runs} runs. Green passed, red was refused; the light bar is the slowest tenth.`}</p>
      <div className="scroll-x">
        <table>
          <thead>
            <tr>
              <th scope="col">Phase</th>
              <th scope="col">Entered</th>
              <th scope="col">Pass rate</th>
              <th scope="col">Attempts</th>
              <th scope="col">Tries to pass</th>
              <th scope="col">Time</th>
              <th scope="col">Median, slow</th>
            </tr>
          </thead>
          <tbody>
            {phases.map((phase) => (
              <PhaseRow key={String(phase.phase)} phase={phase} most={most} longest={longest} />
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function PhaseRow({
  phase,
  most,
  longest,
}: {
  readonly phase: PhaseRecord;
  readonly most: number;
  readonly longest: number;
}) {
  const { entered, passed, refused, median_seconds, slow_seconds } = phase;
  const tries = passed + refused;
  const rate = tries === 0 ? '—' : `${Math.round((100 * passed) / tries)} %`;
  return (
    <tr>
      <th scope="row">
        <Words text={String(phase.phase)} />
      </th>
      <td>{entered}</td>
      <td>{rate}</td>
      <td>
        <svg
          className="plot"
          viewBox="0 0 120 14"
          role="img"
          aria-label={`${passed} passed, ${refused} refused`}
        >
          <rect className="plot-good" x="0" y="2" height="10" width={(120 * passed) / most} />
          <rect
            className="plot-bad"
            x={(120 * passed) / most}
            y="2"
            height="10"
            width={(120 * refused) / most}
          />
        </svg>
      </td>
      <td>{passed === 0 ? '—' : (tries / passed).toFixed(1)}</td>
      <td>
        <svg
          className="plot"
          viewBox="0 0 120 14"
          role="img"
          aria-label={`median ${told(median_seconds)}, nine of ten below ${told(slow_seconds)}`}
        >
          <rect className="plot-slow" x="0" y="2" height="10" width={(120 * (slow_seconds ?? 0)) / longest} />
          <rect
            className="plot-time"
            x="0"
            y="2"
            height="10"
            width={(120 * (median_seconds ?? 0)) / longest}
          />
        </svg>
      </td>
      <td className="small">{`${told(median_seconds)}, ${told(slow_seconds)}`}</td>
    </tr>
  );
}

function told(seconds: number | null): string {
  if (seconds === null) return '—';
  return seconds < 1 ? `${Math.round(seconds * 1000)} ms` : lengthOf(Math.round(seconds));
}

import type { MetricsMark } from '../../../../schemas/api/metrics.ts';
import { Time } from '../../ui/primitives/time.tsx';
import { shortCommit } from '../../ui/text/format.ts';
import { MARK_COLORS } from './chart-data.ts';

const SHOWN = 20;

/** What the vertical lines of the charts mean, newest first. */
export const MarksList = ({ marks }: { marks: readonly MetricsMark[] }) => {
  if (marks.length === 0) return null;
  const newest = marks.toReversed().slice(0, SHOWN);
  return (
    <ul className="marks" aria-label="What happened meanwhile">
      {newest.map((mark) => (
        <li key={`${mark.at.getTime()} ${mark.text}`}>
          <i style={{ borderColor: `var(${MARK_COLORS[mark.kind]})` }} data-kind={mark.kind} />
          {mark.text}
          {mark.commit && <span className="mono muted"> {shortCommit(mark.commit)}</span>}
          <span className="muted">
            {' '}
            <Time at={mark.at} />
          </span>
        </li>
      ))}
      {marks.length > SHOWN && <li className="muted">and {marks.length - SHOWN} more</li>}
    </ul>
  );
};

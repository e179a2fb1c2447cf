import { Fragment } from 'react';
import { Link } from 'react-router';
import { paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import { shortCommit } from '../../ui/text/format.ts';
import { type ChartMark, MARK_COLORS, pipelinesOf } from './chart-data.ts';
import { pathOf } from './use-marks.ts';

const SHOWN = 20;

/** What the vertical lines of the charts mean, newest first. */
export const MarksList = ({ marks }: { marks: readonly ChartMark[] }) => {
  const { environment } = usePlace();
  if (marks.length === 0) return null;
  const newest = marks.toReversed().slice(0, SHOWN);
  return (
    <ul className="marks" aria-label="What happened meanwhile">
      {newest.map((mark) => {
        const path = pathOf(environment.id, mark);
        return (
          <li key={`${mark.at.getTime()} ${mark.text}`}>
            <i style={{ borderColor: `var(${MARK_COLORS[mark.kind]})` }} data-kind={mark.kind} />
            {path === null ? mark.text : <Link to={path}>{mark.text}</Link>}
            {path === null && <FirstPipelines mark={mark} />}
            {mark.commit && <span className="mono muted"> {shortCommit(mark.commit)}</span>}
            <span className="muted">
              {' '}
              <Time at={mark.at} />
            </span>
          </li>
        );
      })}
      {marks.length > SHOWN && <li className="muted">and {marks.length - SHOWN} more</li>}
    </ul>
  );
};

/** The first few of the pipelines that a mark of an environment stands for. */
const FirstPipelines = ({ mark }: { mark: ChartMark }) => {
  const { environment } = usePlace();
  const pipelines = pipelinesOf(mark);
  if (pipelines.length === 0) return null;
  const others = 'pipelineCount' in mark ? mark.pipelineCount - pipelines.length : 0;
  return (
    <>
      {': '}
      {pipelines.map(({ id, name, version }, index) => (
        <Fragment key={id}>
          {index > 0 && ', '}
          <Link to={paths.pipeline(environment.id, id, { tab: 'metrics' })}>{name}</Link>
          {version !== null && ` v${version}`}
        </Fragment>
      ))}
      {others > 0 && ` and ${others} more`}
    </>
  );
};

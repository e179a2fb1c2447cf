import type { ReactNode } from 'react';
import { Link } from 'react-router';
import type { PipelineOnNode } from '../../../../schemas/api/pipelines/on-nodes.ts';
import { Banner } from '../../ui/feedback/banner.tsx';
import { plural } from '../../ui/text/format.ts';
import { crashText } from './crash-text.ts';

/** Those beyond are in the table below. */
const MAX_TOLD = 3;

interface Props {
  rows: readonly PipelineOnNode[];
  /** How one is called on this page: by its node or by its pipeline. */
  nameOf: (row: PipelineOnNode) => string;
  logHref: (row: PipelineOnNode) => string;
  title: (count: number) => string;
  /** What can be done about it. */
  action?: ReactNode;
}

/** What crashed, how often, why, and when it starts again. Nothing where nothing did. */
export const Crashes = ({ rows, nameOf, logHref, title, action }: Props) => {
  const crashed = rows.filter(
    ({ status, nodeHealth }) => status === 'CRASHED' && nodeHealth !== 'UNREACHABLE',
  );
  if (crashed.length === 0) return null;
  return (
    <Banner tone="failed" title={title(crashed.length)}>
      <ul className="crashes">
        {crashed.slice(0, MAX_TOLD).map((row) => (
          <li key={`${row.nodeId} ${row.pipelineId}`}>
            <strong>{nameOf(row)}</strong> {crashText(row.restarts)}{' '}
            <Link to={logHref(row)}>Its errors in the log</Link>
            {row.lastError && <span className="crash-error mono">{row.lastError}</span>}
          </li>
        ))}
      </ul>
      {crashed.length > MAX_TOLD && (
        <p className="muted">and on {plural(crashed.length - MAX_TOLD, 'other')}, in the table below</p>
      )}
      {action}
    </Banner>
  );
};

import { Link } from 'react-router';
import type { Pipeline } from '../../../../../schemas/api/pipelines/pipelines.ts';
import { paths } from '../../../app/paths.ts';
import { Commit } from '../../../ui/primitives/copyable.tsx';
import { Labels } from '../../../ui/primitives/labels.tsx';
import { Time } from '../../../ui/primitives/time.tsx';

/** Who changed it last and where it is written; the environment of the pipeline may differ from the address's. */
export const CommitLine = ({ pipeline }: { pipeline: Pipeline }) => (
  <>
    {pipeline.commit ? (
      <span className="commit-line">
        <Commit sha={pipeline.commit} />
        <span>{pipeline.commitMessage}</span>
        <span className="muted nowrap">{pipeline.commitAuthor}</span>
      </span>
    ) : (
      <span className="muted">
        {pipeline.managedBy === 'git' ? 'Not applied from git yet' : 'Managed in the UI'}
      </span>
    )}
    <span className="muted">
      changed <Time at={pipeline.updatedAt} />
    </span>
    {pipeline.git && (
      <Link to={paths.git(pipeline.environmentId, { focus: pipeline.git.path })} className="mono">
        {pipeline.git.path}:{pipeline.git.line}
      </Link>
    )}
    <span>
      <span className="muted">nodes </span>
      {pipeline.nodeSelector && Object.keys(pipeline.nodeSelector).length > 0 ? (
        <Labels labels={pipeline.nodeSelector} />
      ) : (
        'all'
      )}
    </span>
    <span>
      <span className="muted">log level </span>
      <span className="mono">{pipeline.logLevel}</span>
    </span>
    {pipeline.drainSeconds !== null && (
      <span>
        <span className="muted">drains up to </span>
        <span className="mono">{pipeline.drainSeconds} s</span>
      </span>
    )}
  </>
);

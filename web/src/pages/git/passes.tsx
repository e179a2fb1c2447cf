import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { GitJob } from '../../../../schemas/api/git-sync.ts';
import { queries } from '../../api/queries.ts';
import { Badge, Commit, Time } from '../../components/bits.tsx';
import { formatDuration } from '../../components/format.ts';
import { Icon } from '../../components/icons.tsx';
import { Section } from '../../components/page.tsx';
import { Loaded, SkeletonRows } from '../../components/states.tsx';
import { countsOf, outcomeOf } from '../git-jobs.ts';

export const Passes = ({ environmentId }: { environmentId: string }) => {
  const jobs = useQuery(queries.gitJobs(environmentId, 25));
  return (
    <Section title="Last passes">
      <Loaded query={jobs} what="The passes" skeleton={<SkeletonRows rows={6} label="Loading passes" />}>
        {(list) =>
          list.length === 0 ? (
            <p className="section-body muted">No pass has run yet. Push a commit, or press “Sync now”.</p>
          ) : (
            <ul className="passes" aria-label="Last passes">
              {list.map((job) => (
                <PassRow key={job.id} job={job} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  );
};

const PassRow = ({ job }: { job: GitJob }) => {
  const [opened, setOpened] = useState(false);
  const { tone, word } = outcomeOf(job);
  const title = job.commit?.subject ?? `${job.type} by ${job.trigger}`;
  return (
    <li>
      <div className="pass">
        <button
          type="button"
          className="unfold"
          aria-expanded={opened}
          aria-label={`Report of ${title}`}
          onClick={() => setOpened(!opened)}
        >
          <Icon name="chevronRight" size={14} />
        </button>
        <span>
          <Badge tone={tone}>{word}</Badge>
        </span>
        <span className="item-title">
          {job.commit && <Commit sha={job.commit.sha} />} {title}{' '}
          <span className="muted">{countsOf(job)}</span>
        </span>
        <span className="item-side">
          {job.commit ? `${job.commit.author}, ` : ''}
          {job.trigger}, <Time at={job.finishedAt ?? job.startedAt ?? job.queuedAt} />
        </span>
      </div>
      {opened && (
        <div className="inner">
          <p className="report mono">
            {job.report.length > 0 ? job.report.join('\n') : (job.error ?? 'Nothing to report.')}
            {job.startedAt && job.finishedAt && (
              <span className="muted">{`\n${tookOf(job.startedAt, job.finishedAt)}`}</span>
            )}
          </p>
        </div>
      )}
    </li>
  );
};

function tookOf(from: Date, to: Date): string {
  const ms = to.getTime() - from.getTime();
  return ms < 10_000 ? `took ${ms} ms` : `took ${formatDuration(ms / 1000)}`;
}

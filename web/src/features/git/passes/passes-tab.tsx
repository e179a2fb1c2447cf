import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { GitJob, GitSyncStatus } from '../../../../../schemas/api/delivery/git-sync.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { whyNot } from '../../../app/permissions.ts';
import { usePlace } from '../../../app/scope.tsx';
import { useAddressParam } from '../../../app/search-params.ts';
import { Loaded, SkeletonRows } from '../../../ui/feedback/page-states.tsx';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { Commit } from '../../../ui/primitives/copyable.tsx';
import { Icon } from '../../../ui/primitives/icons.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { SegmentedControl } from '../../../ui/primitives/segmented-control.tsx';
import { Time } from '../../../ui/primitives/time.tsx';
import { formatDuration } from '../../../ui/text/format.ts';
import { useWord } from '../overrides/override-mutations.ts';
import { countsOf, outcomeOf, triggerOf } from './job-outcome.ts';

const MAX_READ = 100;
const SHOWN = [
  { value: '', word: 'All' },
  { value: 'failed', word: 'Failed' },
] as const;

/** In the address: `commit` narrows to the passes over one, `only` to those that failed. */
export const PassesTab = ({ status: { environmentId, failedCount } }: { status: GitSyncStatus }) => {
  const { team } = usePlace();
  const jobs = useQuery(queries.gitJobs(environmentId, MAX_READ));
  const [commit, setCommit] = useAddressParam('commit');
  const [only, setOnly] = useAddressParam('only');
  const mayNot = whyNot(team.role, 'EDITOR');
  const retryAll = useWord({
    run: () => api.gitSync.retryAllFailed.mutate({ environmentId }),
    done: () => 'What had failed is tried again.',
    failed: () => 'Nothing was tried again',
  });
  return (
    <Section
      title="Last passes"
      beside={
        <span className="toolbar">
          {commit && (
            <Button size="small" onClick={() => setCommit('')}>
              Only {commit}
              <Icon name="cross" size={12} />
              <span className="sr-only">: show all</span>
            </Button>
          )}
          <SegmentedControl label="Passes" value={only} options={SHOWN} onChange={setOnly} />
          {failedCount > 0 && (
            <Button
              icon="sync"
              size="small"
              disabled={mayNot !== null || retryAll.isPending}
              tip={mayNot ?? undefined}
              onClick={() => retryAll.mutate()}
            >
              Retry all that failed
            </Button>
          )}
        </span>
      }
    >
      <Loaded query={jobs} what="The passes" skeleton={<SkeletonRows rows={6} label="Loading passes" />}>
        {(list) => {
          const shown = list.filter(
            (job) =>
              (commit === '' ||
                job.commit?.sha.startsWith(commit) ||
                job.skippedCommits.some(({ sha }) => sha.startsWith(commit))) &&
              (only !== 'failed' || job.status === 'failed'),
          );
          if (shown.length === 0) {
            return (
              <p className="section-body muted">
                {list.length === 0
                  ? 'No pass has run yet. Push a commit, or press “Sync now”.'
                  : `None of the last ${list.length} passes is one of these.`}
              </p>
            );
          }
          return (
            <ul className="passes" aria-label="Last passes">
              {shown.map((job) => (
                <PassRow key={job.id} job={job} mayNot={mayNot} startOpened={commit !== ''} />
              ))}
            </ul>
          );
        }}
      </Loaded>
    </Section>
  );
};

interface RowProps {
  job: GitJob;
  mayNot: string | null;
  startOpened: boolean;
}

const PassRow = ({ job, mayNot, startOpened }: RowProps) => {
  const [opened, setOpened] = useState(startOpened);
  const retry = useWord({
    run: () => api.gitSync.retryJob.mutate({ jobId: job.id }),
    done: () => 'It is tried again.',
    failed: () => 'It was not tried again',
  });
  const { tone, word } = outcomeOf(job);
  const title = job.commit?.subject ?? (job.type === 'pass' ? 'No commit was read' : 'Written to git');
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
          {(job.commitCount ?? 1) > 1 && (
            <span className="muted">
              {job.commitCount} commits, this is the newest; older ones were skipped.{' '}
            </span>
          )}
          <span className="muted">{countsOf(job)}</span>
        </span>
        <span className="item-side">
          {job.commit ? `${job.commit.author}, ` : ''}
          {triggerOf(job)}, <Time at={job.finishedAt ?? job.startedAt ?? job.queuedAt} />
        </span>
        {job.status === 'failed' && (
          <Button
            className="pass-retry"
            size="small"
            disabled={mayNot !== null || retry.isPending}
            tip={mayNot ?? undefined}
            onClick={() => retry.mutate()}
          >
            Retry<span className="sr-only"> {title}</span>
          </Button>
        )}
      </div>
      {opened && (
        <div className="inner">
          <SkippedCommits job={job} />
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

const SkippedCommits = ({ job: { commitCount, skippedCommits } }: Pick<RowProps, 'job'>) => {
  if (skippedCommits.length === 0) return null;
  const more = (commitCount ?? 1) - 1 - skippedCommits.length;
  return (
    <div className="report">
      <p className="muted">Skipped, since a newer commit came:</p>
      <ul className="plain-list" aria-label="Skipped commits">
        {skippedCommits.map(({ sha, subject }) => (
          <li key={sha}>
            <Commit sha={sha} /> {subject}
          </li>
        ))}
        {more > 0 && <li className="muted">and {more} more</li>}
      </ul>
    </div>
  );
};

function tookOf(from: Date, to: Date): string {
  const ms = to.getTime() - from.getTime();
  return ms < 10_000 ? `took ${ms} ms` : `took ${formatDuration(ms / 1000)}`;
}

/** The run that is under way, with its progress, and how the last one ended. */
import { Progress } from '@mantine/core';
import type { BackupRun } from '../../../../../schemas/api/backups.ts';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Time } from '../../../ui/primitives/time.tsx';
import { formatBytes, plural } from '../../../ui/text/format.ts';

const WORDS = {
  create: { running: 'Making', done: 'made', failed: 'could not be made' },
  verify: { running: 'Verifying', done: 'is whole and can be restored here', failed: 'was not verified' },
  restore: { running: 'Restoring', done: 'was restored', failed: 'was not restored' },
} as const;

export const BackupRuns = ({ runs }: { runs: readonly BackupRun[] }) => {
  const [last] = runs;
  if (!last) return null;
  if (last.status === 'RUNNING') return <RunningRun run={last} />;
  const { kind, status, filename, error, finishedAt } = last;
  if (status === 'FAILED')
    return (
      <div className="section-body">
        <Notice tone="failed" icon="warning">
          {filename} {WORDS[kind].failed} (<Time at={finishedAt} />
          ): {error}
        </Notice>
      </div>
    );
  // That one was made is seen in the list.
  if (kind === 'create') return null;
  if (error !== null)
    return (
      <div className="section-body">
        <Notice tone="held" icon="warning" role="status">
          {filename} {WORDS[kind].done} (<Time at={finishedAt} />
          ), but something is left to do. {error}
        </Notice>
      </div>
    );
  return (
    <div className="section-body">
      <Notice tone="ok" icon="check" role="status">
        {filename} {WORDS[kind].done} (<Time at={finishedAt} />
        ).
      </Notice>
    </div>
  );
};

const RunningRun = ({ run }: { run: BackupRun }) => {
  const { kind, filename, phase, tablesDone, tablesTotal, rows, bytes, requestedBy, startedAt } = run;
  const share = tablesTotal === 0 ? 0 : Math.round((100 * tablesDone) / tablesTotal);
  return (
    <div className="section-body" role="status" aria-label={`${WORDS[kind].running} ${filename}`}>
      <div className="preset-head">
        <Badge tone="moving">{WORDS[kind].running}</Badge>
        <span className="mono breakable">{filename}</span>
      </div>
      <Progress value={share} aria-label={`${tablesDone} of ${tablesTotal} tables`} />
      <p className="muted">
        {phase || 'Beginning'} · {tablesDone} of {plural(tablesTotal, 'table')} · {plural(rows, 'row')} ·{' '}
        {formatBytes(bytes)} · begun <Time at={startedAt} /> by {requestedBy}
      </p>
    </div>
  );
};

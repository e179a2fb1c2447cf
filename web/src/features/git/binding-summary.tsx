import type { GitSyncStatus } from '../../../../schemas/api/delivery/git-sync.ts';
import { usePlace } from '../../app/scope.tsx';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Commit, Copyable } from '../../ui/primitives/copyable.tsx';
import { Fact } from '../../ui/primitives/fact.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import { useNow } from '../../ui/text/clock.ts';
import { formatDuration } from '../../ui/text/format.ts';
import { environmentCause } from '../gate/gate-cause.ts';
import { GateStrip } from '../gate/gate-strip.tsx';
import { MODES } from './git-state-labels.ts';

interface Props {
  status: GitSyncStatus;
  /** On a phone only how far it has come: something else is looked at. */
  brief: boolean;
}

/** How far the newest commit has come, and what is bound to what. */
export const BindingLine = ({ status, brief }: Props) => {
  const { environment } = usePlace();
  const mode = MODES[status.mode];
  const isEmbedded = status.repositoryUrl === 'embedded';
  return (
    <div className="panel stack">
      <GateStrip
        gate={status.gate}
        of={environment.name}
        causeOf={environmentCause(environment.id)}
        size="large"
      />
      <dl className="facts git-facts" data-brief={brief || undefined}>
        <Fact name={isEmbedded ? 'Repository, served here' : 'Repository'}>
          {status.cloneUrl ? (
            <Copyable value={status.cloneUrl} label="clone address" />
          ) : (
            <span className="muted">none</span>
          )}
        </Fact>
        <Fact name="Branch">
          <span className="mono">{status.branch ?? '–'}</span>
        </Fact>
        <Fact name="Folder">
          <span className="mono">{status.path || '/'}</span>
        </Fact>
        <Fact name="Mode">
          <Badge tone={mode.tone} tip={mode.means}>
            {mode.word}
          </Badge>
        </Fact>
        <Fact name="Last look">
          <Time at={status.lastSyncAt} />
        </Fact>
        <Fact name="Next look">
          <NextLook status={status} />
        </Fact>
        <Fact name="Newest commit">
          {status.headCommit ? (
            <span className="commit-line">
              <Commit sha={status.headCommit.sha} />
              <span className="git-subject" data-tip={status.headCommit.subject}>
                {status.headCommit.subject}
              </span>
              <span className="muted nowrap">{status.headCommit.author}</span>
            </span>
          ) : (
            <span className="muted">none yet</span>
          )}
        </Fact>
      </dl>
    </div>
  );
};

/** A push or the webhook brings it forward; an Environment manifest may have it later. */
const NextLook = ({ status }: { status: GitSyncStatus }) => {
  const now = useNow();
  const { mode, intervalSeconds: seconds, lastSyncAt } = status;
  if (mode === 'off') return <span className="muted">none: git is off</span>;
  if (status.suspended) return <span className="muted">none: suspended</span>;
  if (seconds === null) return <span className="muted">unknown</span>;
  const at = lastSyncAt && new Date(lastSyncAt.getTime() + seconds * 1_000);
  const every = `every ${formatDuration(seconds)}`;
  return (
    <span
      data-tip={`${every}, and at once after a push${status.webhookUrl ? ' that the webhook tells of' : ''}`}
    >
      {at && at.getTime() > now + 15_000 ? <Time at={at} /> : 'any moment'}
    </span>
  );
};

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import type { Role } from '../../../../schemas/api/common.ts';
import type { Promotion } from '../../../../schemas/api/delivery/promotions.ts';
import { queries } from '../../api/queries/index.ts';
import { paths } from '../../app/paths.ts';
import { type Place, usePlace } from '../../app/scope.tsx';
import { Notice } from '../../ui/feedback/notice.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { EnvironmentTag } from '../../ui/primitives/environment-tag.tsx';
import { Section } from '../../ui/primitives/page.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import { CodeText } from '../../ui/text/code-text.tsx';
import { sentence } from '../../ui/text/format.ts';
import { CheckLine } from './check-line.tsx';
import { safeUrl } from './forge-anchor.tsx';
import { FORGE_LABELS, mayCancel, stepsOf, whyNotDecide } from './promotion-text.ts';
import { ApproveDialog, CancelDialog, RejectDialog } from './request-dialogs.tsx';
import { PromotionBadge } from './status-badge.tsx';
import { Steps } from './steps.tsx';

export const FromTo = ({ promotion }: { promotion: Promotion }) => (
  <span className="from-to">
    <EnvironmentTag environment={{ name: promotion.sourceEnvironmentName }} />
    <span aria-hidden="true">→</span>
    <span className="sr-only">to</span>
    <EnvironmentTag environment={{ name: promotion.targetEnvironmentName }} />
  </span>
);

/** To its page, which belongs to the environment that it changes. */
export const PullRequestLink = ({
  promotion: { pullRequest, targetEnvironmentId },
}: {
  promotion: Promotion;
}) => {
  const { teams } = usePlace();
  if (!pullRequest) return null;
  const { number, forge, url, state } = pullRequest;
  const word = forge === 'headgate' ? `#${number}` : `${FORGE_LABELS[forge]} #${number}`;
  const isOurs = teams.some(({ environments }) => environments.some(({ id }) => id === targetEnvironmentId));
  const href = safeUrl(url);
  const title = (
    <>
      <span className="mono">{word}</span> <span className="muted">{state}</span>
    </>
  );
  if (isOurs) return <Link to={paths.pullRequest(targetEnvironmentId, number)}>{title}</Link>;
  return href && forge !== 'headgate' ? (
    <a href={href} target="_blank" rel="noreferrer">
      {title}
    </a>
  ) : (
    <span>{title}</span>
  );
};

/** In the team of an environment; null where the caller is no member. */
export function roleIn({ teams }: Pick<Place, 'teams'>, environmentId: string): Role | null {
  const entry = teams.find(({ environments }) => environments.some(({ id }) => id === environmentId));
  return entry?.team.role ?? null;
}

type Opened = 'approve' | 'reject' | 'cancel';

/** One that is not over: how far it is, what is in the way, and what the one who looks may do. */
const WaitingRequest = ({ promotion }: { promotion: Promotion }) => {
  const place = usePlace();
  const me = useQuery(queries.me()).data;
  const [opened, setOpened] = useState<Opened | null>(null);
  const { pipelineName, targetName, sourceVersion, status, lastError, requestedBy, createdAt, note } =
    promotion;
  const role = roleIn(place, promotion.targetEnvironmentId);
  const mayNot = whyNotDecide(promotion, me, role);
  const close = (): void => setOpened(null);
  const decide = role === 'EDITOR' || role === 'ADMIN';
  const name = `${pipelineName} to ${promotion.targetEnvironmentName}`;
  return (
    <li>
      <div className="request-head">
        <span className="request-name">
          {promotion.pipelineId &&
          promotion.sourceEnvironmentId &&
          roleIn(place, promotion.sourceEnvironmentId) !== null ? (
            <Link to={paths.pipeline(promotion.sourceEnvironmentId, promotion.pipelineId)}>
              {pipelineName}
            </Link>
          ) : (
            pipelineName
          )}
          {sourceVersion !== null && <span className="mono muted"> v{sourceVersion}</span>}
        </span>
        <FromTo promotion={promotion} />
        {targetName !== pipelineName && (
          <span className="muted">
            as <span className="mono">{targetName}</span>
          </span>
        )}
        <PromotionBadge promotion={promotion} />
        <PullRequestLink promotion={promotion} />
        <span className="request-by muted">
          {requestedBy}, <Time at={createdAt} />
        </span>
      </div>
      <div className="request-way">
        <Steps steps={stepsOf(promotion)} of={name} />
        {promotion.pullRequest?.state === 'open' && <CheckLine check={promotion.pullRequest.check} />}
      </div>
      {note && <p className="request-note">“{note}”</p>}
      {lastError && (
        <Notice icon="warning" tone="failed">
          <CodeText text={sentence(lastError)} />
        </Notice>
      )}
      {(status === 'PENDING' || mayCancel(promotion, me)) && (
        <div className="request-acts">
          {status === 'PENDING' && decide && (
            <>
              <Act word="Approve…" of={name} primary off={mayNot !== null} act={() => setOpened('approve')} />
              <Act word="Reject…" of={name} off={mayNot !== null} act={() => setOpened('reject')} />
            </>
          )}
          {mayCancel(promotion, me) && <Act word="Cancel it…" of={name} act={() => setOpened('cancel')} />}
          {status === 'PENDING' && mayNot && <span className="muted">{mayNot}</span>}
        </div>
      )}
      {opened === 'approve' && <ApproveDialog promotion={promotion} close={close} />}
      {opened === 'reject' && <RejectDialog promotion={promotion} close={close} />}
      {opened === 'cancel' && <CancelDialog promotion={promotion} close={close} />}
    </li>
  );
};

interface ActProps {
  word: string;
  of: string;
  primary?: boolean;
  off?: boolean;
  act: () => void;
}

const Act = ({ word, of, primary = false, off = false, act }: ActProps) => (
  <Button size="small" kind={primary ? 'primary' : undefined} disabled={off} onClick={act}>
    {word}
    <span className="sr-only"> {of}</span>
  </Button>
);

/** Those that wait, above what is over; nothing where none does. */
export const WaitingRequests = ({ list }: { list: readonly Promotion[] }) =>
  list.length === 0 ? null : (
    <Section title={`Waiting · ${list.length}`}>
      <ul className="requests" aria-label="Waiting promotions">
        {list.map((each) => (
          <WaitingRequest key={each.id} promotion={each} />
        ))}
      </ul>
    </Section>
  );

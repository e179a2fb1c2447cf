import { useQuery } from '@tanstack/react-query';
import type { PullRequest } from '../../../../schemas/api/delivery/pull-requests.ts';
import { api } from '../../api/client.ts';
import { queries } from '../../api/queries/index.ts';
import { whyNot } from '../../app/permissions.ts';
import { usePlace } from '../../app/scope.tsx';
import { Banner } from '../../ui/feedback/banner.tsx';
import { Notice } from '../../ui/feedback/notice.tsx';
import { InlineError } from '../../ui/feedback/page-states.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { Commit } from '../../ui/primitives/copyable.tsx';
import { CodeText } from '../../ui/text/code-text.tsx';
import { plural, sentence } from '../../ui/text/format.ts';
import { usePromotionMutation } from '../promotions/promotion-mutations.ts';
import { FORGE_LABELS, stepsOf } from '../promotions/promotion-text.ts';
import { PromotionBadge } from '../promotions/status-badge.tsx';
import { Steps } from '../promotions/steps.tsx';
import { FromTo } from '../promotions/waiting-request.tsx';

/** What is read is not what would be merged. */
export const MovedNotice = ({ pull, head, look }: { pull: PullRequest; head: string; look: () => void }) => (
  <Banner tone="held" title="New commits were pushed: look again">
    <p>
      You read <Commit sha={head} />; the branch is at <Commit sha={pull.headSha} /> now. An approval or a
      merge of what you read is refused.
    </p>
    <span>
      <Button icon="sync" size="small" onClick={look}>
        Look again
      </Button>
    </span>
  </Banner>
);

const MAX_FILES = 10;

/** While it runs, the commit that moves the branch is the reader's own. */
export const refreshKey = (environmentId: string, number: number): readonly unknown[] => [
  'pullRequest.refresh',
  environmentId,
  number,
];

/** Both sides changed the same; a merge of the base into the branch may put it right. */
export const ConflictNotice = ({ pull, then }: { pull: PullRequest; then: () => void }) => {
  const { team, environment } = usePlace();
  const { number, base, branch, conflicts, forge } = pull;
  const mayNot = whyNot(team.role, 'EDITOR');
  const refresh = usePromotionMutation({
    run: () => api.pullRequest.refresh.mutate({ environmentId: environment.id, number }),
    done: () => `${base} is in ${branch} now.`,
    after: then,
    key: refreshKey(environment.id, number),
  });
  const isOurs = forge === 'headgate';
  return (
    <Banner tone="failed" title={`It conflicts with ${base} in ${plural(conflicts.length, 'file')}`}>
      <ul className="plain-list" aria-label="Files in conflict">
        {conflicts.slice(0, MAX_FILES).map((path) => (
          <li key={path} className="mono">
            {path}
          </li>
        ))}
        {conflicts.length > MAX_FILES && <li>and {conflicts.length - MAX_FILES} more</li>}
      </ul>
      <p>
        {isOurs ? (
          <>
            Bring <span className="mono">{base}</span> into the branch: what goes together is joined by
            itself.{' '}
            {pull.promotionId &&
              'Of a field of a manifest that both changed, the value of the branch goes in: look at the files afterwards. '}
            Where it does not, merge <span className="mono">{base}</span> into{' '}
            <span className="mono">{branch}</span> in a clone, and push.
          </>
        ) : (
          `Resolve it on ${FORGE_LABELS[forge]}, or in a clone.`
        )}
      </p>
      {isOurs && mayNot === null && (
        <span>
          <Button icon="sync" size="small" disabled={refresh.isPending} onClick={() => refresh.mutate()}>
            {refresh.isPending ? `Bringing in ${base}…` : `Bring in ${base}`}
          </Button>
        </span>
      )}
      {refresh.isError && <InlineError error={refresh.error} />}
    </Banner>
  );
};

/** What became of the wish to have it merged by its forge, and what that left out when it was opened. */
export const ForgeNotices = ({ pull: { forge, notice, autoMerge, base, state } }: { pull: PullRequest }) => {
  if (state !== 'open') return null;
  return (
    <>
      {autoMerge && (
        <Banner tone="moving" title={`${FORGE_LABELS[forge]} merges it by itself`}>
          <p>
            It comes into <span className="mono">{base}</span> once all is there that the branch asks for.
          </p>
        </Banner>
      )}
      {notice && (
        <Banner tone="held" title="It was opened without all that the binding wants of it">
          <p>
            <CodeText text={sentence(notice)} />
          </p>
        </Banner>
      )}
    </>
  );
};

/** Of the promotion that it was opened for. */
export const PromotionNotice = ({ requestId }: { requestId: string }) => {
  const promotion = useQuery(queries.promotion(requestId)).data;
  if (!promotion) return null;
  const { pipelineName, sourceVersion, lastError, targetName } = promotion;
  return (
    <section className="panel stack promotion-notice" aria-label="Promotion">
      <div className="request-head">
        <span className="request-name">
          Promotion of {pipelineName}
          {sourceVersion !== null && <span className="mono muted"> v{sourceVersion}</span>}
        </span>
        <FromTo promotion={promotion} />
        {targetName !== pipelineName && <span className="muted">as {targetName}</span>}
        <PromotionBadge promotion={promotion} />
        <Steps steps={stepsOf(promotion)} of={`the promotion of ${pipelineName}`} />
      </div>
      {lastError && (
        <Notice icon="warning" tone="failed">
          <CodeText text={sentence(lastError)} />
        </Notice>
      )}
    </section>
  );
};

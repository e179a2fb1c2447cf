import { useQuery } from '@tanstack/react-query';
import type { PullRequest } from '../../../../schemas/api/pull-requests.ts';
import { api } from '../../api/client.ts';
import { queries } from '../../api/queries.ts';
import { usePlace } from '../../app/environment.tsx';
import { Banner } from '../../components/banner.tsx';
import { Commit } from '../../components/bits.tsx';
import { CodeText } from '../../components/code-text.tsx';
import { plural, sentence } from '../../components/format.ts';
import { Icon } from '../../components/icons.tsx';
import { InlineError } from '../../components/states.tsx';
import { whyNot } from '../fleet/may.ts';
import { PromotionBadge } from '../promotions/standing-badge.tsx';
import { Steps } from '../promotions/steps.tsx';
import { usePromotionWord } from '../promotions/use-promotion.ts';
import { FromTo } from '../promotions/waiting-request.tsx';
import { FORGE_WORDS, stepsOf } from '../promotions/words.ts';

/** What is read is not what would be merged. */
export const MovedNotice = ({ pull, head, look }: { pull: PullRequest; head: string; look: () => void }) => (
  <Banner tone="held" title="New commits were pushed: look again">
    <p>
      You read <Commit sha={head} />; the branch stands at <Commit sha={pull.headSha} /> by now. An approval
      or a merge of what you read is refused.
    </p>
    <span>
      <button type="button" className="button" data-size="small" onClick={look}>
        <Icon name="sync" size={14} /> Look again
      </button>
    </span>
  </Banner>
);

const MAX_FILES = 10;

/** Both sides changed the same; a merge of the base into the branch may put it right. */
export const ConflictNotice = ({ pull, then }: { pull: PullRequest; then: () => void }) => {
  const { team, environment } = usePlace();
  const { number, base, branch, conflicts, forge } = pull;
  const mayNot = whyNot(team.role, 'EDITOR');
  const refresh = usePromotionWord({
    run: () => api.pullRequest.refresh.mutate({ environmentId: environment.id, number }),
    done: () => `${base} is in ${branch} now.`,
    after: then,
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
          `Resolve it on ${FORGE_WORDS[forge]}, or in a clone.`
        )}
      </p>
      {isOurs && mayNot === null && (
        <span>
          <button
            type="button"
            className="button"
            data-size="small"
            disabled={refresh.isPending}
            onClick={() => refresh.mutate()}
          >
            <Icon name="sync" size={14} /> {refresh.isPending ? `Bringing in ${base}…` : `Bring in ${base}`}
          </button>
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
        <Banner tone="moving" title={`${FORGE_WORDS[forge]} merges it by itself`}>
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
        <p className="notice" data-tone="failed">
          <Icon name="warning" size={14} />
          <span>
            <CodeText text={sentence(lastError)} />
          </span>
        </p>
      )}
    </section>
  );
};

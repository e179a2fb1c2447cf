/** The review of a pull request: what it changes, what that does to the environment, and what people say of it. */
import '../promotions/promotions.css';
import { useIsMutating, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Navigate, useParams } from 'react-router';
import type { PullRequest } from '../../../../schemas/api/delivery/pull-requests.ts';
import { queries } from '../../api/queries/index.ts';
import { paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { useAddressParam } from '../../app/search-params.ts';
import { Loaded, SkeletonBlock } from '../../ui/feedback/page-states.tsx';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Page, Section } from '../../ui/primitives/page.tsx';
import { SegmentedControl } from '../../ui/primitives/segmented-control.tsx';
import { Markdown } from '../../ui/text/markdown.ts';
import { countsText, nodesText } from '../git/plan/plan-text.ts';
import { FORGE_LABELS, pullRequestBadge } from '../promotions/promotion-text.ts';
import { PullRequestBadge } from '../promotions/status-badge.tsx';
import { Commits, Conversation } from './conversation.tsx';
import { Files } from './files.tsx';
import { Landed } from './landing.tsx';
import { ConflictNotice, ForgeNotices, MovedNotice, PromotionNotice, refreshKey } from './notices.tsx';
import { PlanSide } from './plan-side.tsx';
import { usePullRequestActs } from './pull-request-actions.tsx';
import { landingOf } from './review.ts';
import { Summary } from './summary.tsx';

/** Of databases that hold numbers in 32 bits. */
const MAX_NUMBER = 2_147_483_647;

/** In the address: the number, `part` on a phone, `file`. */
export const PullRequestPage = () => {
  const { environment } = usePlace();
  const number = Number(useParams().number);
  if (!Number.isInteger(number) || number < 1 || number > MAX_NUMBER)
    return <Navigate to={paths.promotions(environment.id)} replace />;
  return <PullRequestOf key={`${environment.id} ${number}`} env={environment.id} number={number} />;
};

const PullRequestOf = ({ env, number }: { env: string; number: number }) => {
  const pull = useQuery(queries.pullRequest(env, number));
  const back = { to: paths.promotions(env), word: 'Promotions' };
  return (
    <Loaded
      query={pull}
      what={`Pull request #${number}`}
      skeleton={
        <Page title={`#${number}`} back={back}>
          <SkeletonBlock height={150} label="Loading the pull request" />
          <SkeletonBlock height={480} label="Loading the changed files" />
        </Page>
      }
      around={(error) => (
        <Page title={`#${number}`} back={back}>
          {error}
        </Page>
      )}
    >
      {(loaded) => <Review pull={loaded} back={back} />}
    </Loaded>
  );
};

const PARTS = [
  { value: '', word: 'Files' },
  { value: 'plan', word: 'Plan' },
  { value: 'talk', word: 'Conversation' },
] as const;

const Review = ({ pull, back }: { pull: PullRequest; back: { to: string; word: string } }) => {
  const { environment, team } = usePlace();
  const env = environment.id;
  const { number, title, headSha, state, forge, isFork, isDraft, promotionId } = pull;
  const queryClient = useQueryClient();
  // What is pushed meanwhile is not looked at before the reader says so.
  const [head, setHead] = useState(headSha);
  const look = (): void =>
    setHead(queryClient.getQueryData(queries.pullRequest(env, number).queryKey)?.headSha ?? headSha);
  const isRefreshing = useIsMutating({ mutationKey: refreshKey(env, number) }) > 0;
  const [part, setPart] = useAddressParam('part', { replace: true });
  const plan = useQuery(queries.pullRequestPlan(env, number)).data?.plan ?? null;
  const status = useQuery({ ...queries.git(env), enabled: state === 'merged' }).data;
  const landing = state === 'merged' && status ? landingOf(status, pull, plan?.changes ?? null) : null;
  const acts = usePullRequestActs({
    pull,
    head,
    touches: plan && `${capital(countsText(plan.counts))}. ${nodesText(plan.nodes)}`,
  });
  const badge = pullRequestBadge(pull);
  return (
    <Page
      title={`#${number} ${title}`}
      back={back}
      beside={
        <>
          {acts.edit}
          <PullRequestBadge pull={pull} />
          {isDraft && state === 'open' && badge.word !== 'Draft' && <Badge tone="unknown">Draft</Badge>}
          {forge !== 'headgate' && (
            <Badge tone="calm" icon="link">
              {FORGE_LABELS[forge]}
            </Badge>
          )}
          {isFork && (
            <Badge tone="held" tip="From another repository: only what reveals nothing is checked">
              Fork
            </Badge>
          )}
        </>
      }
      actions={acts.buttons}
    >
      {acts.refusals}
      {head !== headSha && state === 'open' && !isRefreshing && (
        <MovedNotice pull={pull} head={head} look={look} />
      )}
      {state === 'open' && pull.mergeable === 'conflict' && <ConflictNotice pull={pull} then={look} />}
      <Summary pull={pull} env={env} environmentName={environment.name} landing={landing} />
      <ForgeNotices pull={pull} />
      {promotionId && <PromotionNotice requestId={promotionId} />}
      {landing && status && <Landed pull={pull} status={status} landing={landing} />}
      {pull.body.trim() !== '' && (
        <Section title="Description">
          <div className="section-body">
            <Markdown text={pull.body} />
          </div>
        </Section>
      )}
      <div className="review-parts">
        <SegmentedControl label="Part" value={part} options={PARTS} onChange={setPart} />
      </div>
      <div className="review" data-part={PARTS.some(({ value }) => value === part) ? part : ''}>
        <div className="review-files">
          <Files env={env} number={number} head={head} />
        </div>
        <div className="review-plan">
          <PlanSide
            env={env}
            environmentName={environment.name}
            number={number}
            head={head}
            isOpen={state === 'open'}
          />
        </div>
        <div className="review-talk stack">
          <Conversation env={env} pull={pull} mayWrite={team.role !== 'VIEWER'} />
          {pull.commits.length > 0 && <Commits commits={pull.commits} />}
        </div>
      </div>
      {acts.dialogs}
    </Page>
  );
};

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

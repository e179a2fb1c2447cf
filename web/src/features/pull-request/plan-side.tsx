import { useQuery } from '@tanstack/react-query';
import type { GitPlan } from '../../../../schemas/api/delivery/git-plan.ts';
import type { GitSyncStatus } from '../../../../schemas/api/delivery/git-sync.ts';
import type { PullRequestPlan } from '../../../../schemas/api/delivery/pull-requests.ts';
import { queries } from '../../api/queries/index.ts';
import { EmptyState, Loaded, SkeletonBlock } from '../../ui/feedback/page-states.tsx';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Commit } from '../../ui/primitives/copyable.tsx';
import { Fact } from '../../ui/primitives/fact.tsx';
import { Section } from '../../ui/primitives/page.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import { CodeText } from '../../ui/text/code-text.tsx';
import { sentence } from '../../ui/text/format.ts';
import { Hosts } from '../git/binding/allowed-hosts.tsx';
import { PlanChanges } from '../git/plan/plan-changes.tsx';
import { FileFindings, FleetFindings, Guards } from '../git/plan/plan-findings.tsx';
import { countsText, nodesText } from '../git/plan/plan-text.ts';
import { CHECKS } from '../promotions/promotion-text.ts';
import { testsOf, testsText } from './review.ts';

interface Props {
  env: string;
  environmentName: string;
  number: number;
  /** That is read: the plan may be of another one. */
  head: string;
  isOpen: boolean;
}

/** What merging it does to the environment: objects, engine configs, tests, nodes. */
export const PlanSide = ({ env, environmentName, number, head, isOpen }: Props) => {
  const plan = useQuery(queries.pullRequestPlan(env, number));
  const git = useQuery(queries.git(env));
  const skeleton = <SkeletonBlock height={320} label="Loading the plan" />;
  return (
    <Loaded query={plan} what="The plan" skeleton={skeleton}>
      {(data) => (
        <Loaded query={git} what="The git binding" skeleton={skeleton}>
          {(status) => (
            <Planned
              data={data}
              status={status}
              name={environmentName}
              isOfHead={data.check.headSha === head}
              isOpen={isOpen}
            />
          )}
        </Loaded>
      )}
    </Loaded>
  );
};

interface PlannedProps {
  data: PullRequestPlan;
  status: GitSyncStatus;
  name: string;
  isOfHead: boolean;
  isOpen: boolean;
}

const Planned = ({ data: { check, plan, reason }, status, name, isOfHead, isOpen }: PlannedProps) => {
  const { tone, word } = CHECKS[check.state];
  return (
    <div className="stack review-plan">
      <Section title={`Plan for ${name}`} beside={<Badge tone={tone}>{word}</Badge>}>
        <div className="section-body stack">
          {plan ? (
            <p className="plan-sum">
              <strong>{sentence(countsText(plan.counts))}</strong> {nodesText(plan.nodes)}
            </p>
          ) : (
            <p className="plan-sum">
              <strong>{sentence(check.summary)}</strong>
            </p>
          )}
          {reason && (
            <p>
              <CodeText text={sentence(reason)} />
            </p>
          )}
          {!isOfHead && check.headSha !== '' && (
            <p className="muted">
              It is of <Commit sha={check.headSha} />, not of what you read.
            </p>
          )}
          {plan && <PlanFacts plan={plan} computedAt={check.computedAt} />}
          {plan && isOpen && (
            <p className="muted">
              Of the merge with {plan.ref ?? 'its base'} as it stands now. Nothing of it is applied yet.
            </p>
          )}
        </div>
        {plan && <Guards guards={plan.guards} />}
      </Section>
      {plan && <PlanParts plan={plan} status={status} />}
    </div>
  );
};

const PlanFacts = ({ plan, computedAt }: { plan: GitPlan; computedAt: Date | null }) => {
  const tests = testsOf(plan);
  return (
    <dl className="facts">
      <Fact name="Tests">
        <span className={tests.failed > 0 ? 'tone-text' : undefined} data-tone="failed">
          {testsText(tests)}
        </span>
      </Fact>
      <Fact name="Nodes">
        {plan.nodes.count > 0 ? (
          <Hosts hosts={plan.nodes.hosts} total={plan.nodes.count} />
        ) : (
          <span className="muted">none</span>
        )}
      </Fact>
      <Fact name="Fleet findings">{plan.fleet.length === 0 ? 'none' : plan.fleet.length}</Fact>
      <Fact name="Computed">
        <Time at={computedAt} />
      </Fact>
    </dl>
  );
};

const PlanParts = ({ plan, status }: { plan: GitPlan; status: GitSyncStatus }) => (
  <>
    <FileFindings findings={plan.findings} status={status} commit={plan.commit?.sha ?? null} />
    <FleetFindings findings={plan.fleet} />
    {plan.changes.length === 0 ? (
      <EmptyState icon="check" title="Nothing to do">
        <p>Merging it changes nothing of what {status.environmentName} holds.</p>
      </EmptyState>
    ) : (
      <PlanChanges plan={plan} status={status} />
    )}
  </>
);

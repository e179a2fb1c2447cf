import { Stack, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { GitPlan } from '../../../../../schemas/api/delivery/git-plan.ts';
import type { GitSyncStatus } from '../../../../../schemas/api/delivery/git-sync.ts';
import { queries } from '../../../api/queries/index.ts';
import { whyNot } from '../../../app/permissions.ts';
import { usePlace } from '../../../app/scope.tsx';
import { useAddressParam } from '../../../app/search-params.ts';
import { EmptyState, Loaded, SkeletonBlock } from '../../../ui/feedback/page-states.tsx';
import { MONO_INPUT } from '../../../ui/form/field.tsx';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { Commit, Copyable } from '../../../ui/primitives/copyable.tsx';
import { Fact } from '../../../ui/primitives/fact.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { Time } from '../../../ui/primitives/time.tsx';
import { Hosts } from '../binding/allowed-hosts.tsx';
import { ApprovePlanDialog } from './approve-plan.tsx';
import { PlanChanges } from './plan-changes.tsx';
import { FileFindings, FleetFindings, Guards } from './plan-findings.tsx';
import { countsText, nodesText, STATES } from './plan-text.ts';

/** What the next pass would do, or what another branch would. In the address: `ref`. */
export const PlanTab = ({ status }: { status: GitSyncStatus }) => {
  const [ref, setRef] = useAddressParam('ref');
  const plan = useQuery(queries.gitPlan(status.environmentId, ref));
  return (
    <Stack gap="md">
      <RefForm key={ref} given={ref} branch={status.branch ?? 'main'} plan={setRef} />
      <Loaded
        query={plan}
        what={ref ? `The plan of ${ref}` : 'The plan'}
        skeleton={<SkeletonBlock height={320} label="Computing the plan" />}
      >
        {(data) => <PlanView plan={data} status={status} isOther={ref !== ''} isOld={plan.isFetching} />}
      </Loaded>
    </Stack>
  );
};

interface RefProps {
  given: string;
  branch: string;
  plan: (ref: string) => void;
}

const RefForm = ({ given, branch, plan }: RefProps) => {
  const [ref, setRef] = useState(given);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    plan(ref.trim() === branch ? '' : ref.trim());
  };
  return (
    <form className="git-ref" onSubmit={submit}>
      <TextInput
        label="Plan another branch"
        classNames={MONO_INPUT}
        value={ref}
        maxLength={255}
        placeholder={branch}
        onChange={(event) => setRef(event.target.value)}
      />
      <Button type="submit" disabled={ref.trim() === given}>
        Plan it
      </Button>
      {given && <Button onClick={() => plan('')}>Back to {branch}</Button>}
    </form>
  );
};

interface ViewProps {
  plan: GitPlan;
  status: GitSyncStatus;
  /** Of another branch, which no pass applies. */
  isOther: boolean;
  /** Another one is being computed. */
  isOld: boolean;
}

const PlanView = ({ plan, status, isOther, isOld }: ViewProps) => {
  const { team } = usePlace();
  const [approving, setApproving] = useState<GitPlan | null>(null);
  const state = STATES[plan.state];
  const mayNot = whyNot(team.role, 'ADMIN');
  const waits = !isOther && plan.state === 'waiting';
  return (
    <>
      <Section
        title={isOther ? `Plan of ${plan.ref ?? 'another commit'}` : 'What the next pass does'}
        beside={
          <span className="toolbar">
            {isOld && (
              <span className="muted" role="status">
                Looking again…
              </span>
            )}
            {!isOther && (
              <Badge tone={state.tone} tip={state.means}>
                {state.word}
              </Badge>
            )}
            {waits && (
              <Button
                icon="check"
                kind="primary"
                size="small"
                disabled={mayNot !== null}
                tip={mayNot ?? undefined}
                onClick={() => setApproving(plan)}
              >
                Approve…
              </Button>
            )}
          </span>
        }
      >
        <div className="section-body stack">
          <p className="plan-sum">
            <strong>{sumOf(plan)}</strong> {plan.state !== 'empty' && nodesText(plan.nodes)}{' '}
            {isOther ? (
              <span className="muted">Nothing of it is applied: it is not what the binding follows.</span>
            ) : (
              <span className="muted">{plan.state === 'empty' ? '' : state.means}</span>
            )}
          </p>
          {waits && mayNot && <p className="muted">{mayNot}</p>}
          <dl className="facts">
            {plan.commit && (
              <Fact name="Commit">
                <span className="commit-line">
                  <Commit sha={plan.commit.sha} />
                  <span className="git-subject">{plan.commit.subject}</span>
                  <span className="muted nowrap">{plan.commit.author}</span>
                </span>
              </Fact>
            )}
            <Fact name="Plan">
              <Copyable value={plan.hash} label="hash of the plan">
                {plan.hash.slice(0, 8)}
              </Copyable>
            </Fact>
            <Fact name="Computed">
              <Time at={plan.plannedAt} />
            </Fact>
            {plan.nodes.count > 0 && (
              <Fact name="Nodes">
                <Hosts hosts={plan.nodes.hosts} total={plan.nodes.count} />
              </Fact>
            )}
            {plan.approval && (
              <Fact name="Approved">
                {plan.approval.by}, <Time at={plan.approval.at} />
              </Fact>
            )}
          </dl>
        </div>
        <Guards guards={plan.guards} />
      </Section>
      <FileFindings findings={plan.findings} status={status} commit={plan.commit?.sha ?? null} />
      <FleetFindings findings={plan.fleet} />
      {plan.changes.length === 0 ? (
        <EmptyState icon="check" title="Nothing to do">
          <p>
            {isOther
              ? 'This branch describes what the environment holds already.'
              : 'The environment is as git has it. A commit that changes a manifest shows up here before it is applied.'}
          </p>
        </EmptyState>
      ) : (
        <PlanChanges plan={plan} status={status} />
      )}
      {approving && <ApprovePlanDialog plan={approving} close={() => setApproving(null)} />}
    </>
  );
};

const sumOf = ({ state, counts }: GitPlan): string => {
  if (state === 'empty') return 'Nothing to do.';
  const words = countsText(counts);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${counts.unchanged > 0 ? `, ${counts.unchanged} unchanged` : ''}.`;
};

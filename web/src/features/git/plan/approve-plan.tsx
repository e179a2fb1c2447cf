import type { GitPlan } from '../../../../../schemas/api/delivery/git-plan.ts';
import { api } from '../../../api/client.ts';
import { isProduction, usePlace } from '../../../app/scope.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { Dialog } from '../../../ui/primitives/dialog.tsx';
import { plural, sentence } from '../../../ui/text/format.ts';
import { useWord } from '../overrides/override-mutations.ts';
import { countsText, nodesText } from './plan-text.ts';

/** Approves the plan that is looked at and no other: one that has changed since is refused by the server. */
export const ApprovePlanDialog = ({ plan, close }: { plan: GitPlan; close: () => void }) => {
  const { environment } = usePlace();
  const { delete: deleted } = plan.counts;
  const approve = useWord({
    run: () => api.gitSync.approvePlan.mutate({ environmentId: plan.environmentId, hash: plan.hash }),
    done: () => `Plan ${plan.hash.slice(0, 8)} is approved, and is applied now.`,
    close,
  });
  const exceeded = plan.guards.filter((guard) => guard.exceeded);
  return (
    <Dialog title={`Approve plan ${plan.hash.slice(0, 8)}`} opened close={close}>
      <MutationForm
        mutation={approve}
        close={close}
        submit="Approve and apply it"
        working="Approving…"
        danger={deleted > 0}
        cancel="Cancel"
        confirm={isProduction(environment) ? environment.name : null}
      >
        <p>
          Applies {countsText(plan.counts)} to <strong>{environment.name}</strong>. {nodesText(plan.nodes)}
        </p>
        {deleted > 0 && (
          <p>
            {plural(deleted, 'object')} {deleted === 1 ? 'is' : 'are'} deleted:{' '}
            {namesOf(plan, 'delete').join(', ')}.
          </p>
        )}
        {exceeded.length > 0 && (
          <ul className="plain-list" aria-label="Why it waits">
            {exceeded.map(({ guard, message }) => (
              <li key={guard}>{sentence(`It ${message}`)}</li>
            ))}
          </ul>
        )}
        <p className="muted">
          This approves <span className="mono">{plan.hash}</span> and nothing else. If git or the environment
          has moved since, it is refused and there is another plan to look at.
        </p>
      </MutationForm>
    </Dialog>
  );
};

const MAX_NAMED = 12;

function namesOf(plan: GitPlan, action: GitPlan['changes'][number]['action']): string[] {
  const names = plan.changes.filter((change) => change.action === action).map(({ name }) => name);
  const rest = plan.counts.delete - Math.min(names.length, MAX_NAMED);
  return rest > 0 ? [...names.slice(0, MAX_NAMED), `and ${rest} more`] : names;
}

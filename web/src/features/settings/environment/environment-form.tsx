import { Checkbox } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Environment } from '../../../../../schemas/api/fleet/environments.ts';
import type { TeamSummary } from '../../../../../schemas/api/identity/people.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { notify } from '../../../ui/feedback/toast.tsx';
import { Field, NameField } from '../../../ui/form/field.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { useDraft } from '../../../ui/form/use-draft.ts';
import { Section } from '../../../ui/primitives/page.tsx';
import { plural } from '../../../ui/text/format.ts';
import { problemOfDays, problemOfLimit, problemOfName, problemOfPrice } from './environment-draft.ts';

/** Name, approval, limit of nodes, when silent ones are archived. */
export const General = ({ environment, role }: { environment: Environment; role: TeamSummary['role'] }) => {
  const queryClient = useQueryClient();
  const { draft, set, reset, sending } = useDraft({
    name: environment.name,
    requireApproval: environment.requireApproval,
    maxNodes: environment.maxNodes?.toString() ?? '',
    archiveDays: String(environment.archiveNodesAfterDays),
    price: environment.pricePerGb?.toString() ?? '',
    autoRevert: environment.autoRevert,
  });
  const { name, requireApproval, maxNodes, archiveDays, price, autoRevert } = draft;
  const limit = maxNodes.trim() === '' ? null : Number(maxNodes);
  const pricePerGb = price.trim() === '' ? null : Number(price);
  const changes = {
    ...(name === environment.name ? {} : { name }),
    ...(requireApproval === environment.requireApproval ? {} : { requireApproval }),
    ...(autoRevert === environment.autoRevert ? {} : { autoRevert }),
    ...(pricePerGb === environment.pricePerGb ? {} : { pricePerGb }),
    ...(limit === environment.maxNodes ? {} : { maxNodes: limit }),
    ...(Number(archiveDays) === environment.archiveNodesAfterDays
      ? {}
      : { archiveNodesAfterDays: Number(archiveDays) }),
  };
  const save = useMutation({
    mutationFn: sending(() => api.environment.update.mutate({ id: environment.id, ...changes })),
    onSuccess: async (saved) => {
      queryClient.setQueryData(queries.environment(environment.id).queryKey, saved);
      reset();
      await queryClient.invalidateQueries({ queryKey: ['environment.list'] });
      notify(`${saved.name} was saved.`);
    },
  });
  const problems = [
    problemOfName(name),
    problemOfLimit(maxNodes),
    problemOfDays(archiveDays),
    problemOfPrice(price),
  ];
  const wrong = problems.some((problem) => problem !== '');
  const over = limit !== null && limit < environment.nodeCount;
  return (
    <Section title="General">
      <MutationForm
        mutation={save}
        submit="Save"
        working="Saving…"
        disabled={Object.keys(changes).length === 0 || wrong}
        fieldset={{ disabled: role === 'VIEWER' }}
      >
        <NameField
          value={name}
          onChange={(next) => set({ name: next })}
          problem={problemOfName(name)}
          hint="Manifests do not name it, so nothing restarts."
        />
        <Checkbox
          checked={autoRevert}
          onChange={(event) => set({ autoRevert: event.target.checked })}
          label="Auto revert: a node where a new version fails returns to the version before"
        />
        <Field
          label="Price of a gigabyte that sinks send"
          value={price}
          onChange={(next) => set({ price: next })}
          inputMode="decimal"
          placeholder="no price"
          problem={problemOfPrice(price)}
          hint="Of 10⁹ bytes, in whatever currency you count. Metrics, Volumes and costs, multiply by it; empty shows volumes only."
          autoComplete="off"
        />
        <fieldset className="form plain" disabled={role !== 'ADMIN'}>
          <Checkbox
            checked={requireApproval}
            onChange={(event) => set({ requireApproval: event.target.checked })}
            label="What is promoted to it needs the approval of a second person"
          />
          {environment.gitMode === 'sync' && (
            <p className="muted">
              This one follows git, where promotions are pull requests: how many approvals a merge needs is
              set on the page Git, under Settings, and this does not count.
            </p>
          )}
          <Field
            label="Limit of nodes"
            value={maxNodes}
            onChange={(next) => set({ maxNodes: next })}
            inputMode="numeric"
            placeholder="no limit"
            problem={problemOfLimit(maxNodes)}
            hint={
              over
                ? `It has ${plural(environment.nodeCount, 'node')} already. They stay; no further one can join.`
                : `It has ${plural(environment.nodeCount, 'node')}. Empty is no limit.`
            }
            autoComplete="off"
          />
          <Field
            label="Archive nodes after so many silent days"
            value={archiveDays}
            onChange={(next) => set({ archiveDays: next })}
            inputMode="numeric"
            problem={problemOfDays(archiveDays)}
            hint={
              Number(archiveDays) === 0
                ? 'Silent nodes are never archived, and count against the limit.'
                : 'An archived node counts nowhere, and comes back with its agent’s next call. 0 archives none.'
            }
            autoComplete="off"
          />
        </fieldset>
        {role === 'EDITOR' && (
          <p className="muted">Approval, the limit and archiving are changed by an ADMIN of the team.</p>
        )}
        {role === 'VIEWER' && <p className="muted">Viewers cannot change these.</p>}
      </MutationForm>
    </Section>
  );
};

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Environment } from '../../../../../schemas/api/fleet/environments.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { notify } from '../../../ui/feedback/toast.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { Dialog } from '../../../ui/primitives/dialog.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { plural } from '../../../ui/text/format.ts';

export const DeleteEnvironment = ({
  environment,
  mayDelete,
}: {
  environment: Environment;
  mayDelete: boolean;
}) => {
  const [opened, setOpened] = useState(false);
  return (
    <Section title="Delete the environment">
      <div className="section-body tab-head">
        <p className="muted">
          With its pipelines, nodes, secrets and all else of it, for good. Files in git stay.
          {mayDelete ? '' : ' Only an ADMIN of the team may.'}
        </p>
        <Button kind="danger" disabled={!mayDelete} onClick={() => setOpened(true)}>
          Delete {environment.name}
        </Button>
      </div>
      <Dialog title={`Delete ${environment.name}`} opened={opened} close={() => setOpened(false)}>
        {opened && <DeleteForm environment={environment} close={() => setOpened(false)} />}
      </Dialog>
    </Section>
  );
};

const DeleteForm = ({ environment, close }: { environment: Environment; close: () => void }) => {
  const { id, name } = environment;
  const queryClient = useQueryClient();
  const pipelines = useQuery(queries.pipelines(id));
  const nodes = useQuery(queries.nodes(id));
  const secrets = useQuery(queries.secrets(id));
  const rules = useQuery(queries.alertRules(id));
  const remove = useMutation({
    mutationFn: () => api.environment.delete.mutate({ id }),
    onSuccess: async (deleted) => {
      notify(
        `${name} was deleted, with ${plural(deleted.pipelines, 'pipeline')} and ${plural(deleted.nodes, 'node')}.`,
      );
      // Users in an environment that is gone are redirected to another one.
      queryClient.setQueryData(queries.environments(environment.teamId).queryKey, (list) =>
        list?.filter((each) => each.id !== id),
      );
      await queryClient.invalidateQueries({ queryKey: ['environment.list'] });
    },
  });
  const processes = (pipelines.data ?? []).reduce((sum, { nodeCounts }) => sum + nodeCounts.running, 0);
  const busy = (nodes.data ?? []).filter(({ pipelinesRunning }) => pipelinesRunning > 0).length;
  const known = pipelines.data && nodes.data && secrets.data && rules.data;
  return (
    <MutationForm
      mutation={remove}
      close={close}
      submit="Delete the environment"
      working="Deleting…"
      danger
      disabled={!known}
      confirm={name}
    >
      {known ? (
        <>
          <p>
            This deletes <strong>{name}</strong> with {plural(pipelines.data.length, 'pipeline')} and their
            versions, {plural(nodes.data.length, 'node')}, {plural(secrets.data.length, 'secret')} and{' '}
            {plural(rules.data.length, 'alert rule')}, for good.
          </p>
          <p>
            {processes > 0
              ? `It stops ${plural(processes, 'process', 'processes')} on ${plural(busy, 'node')}: agents lose their access.`
              : 'Nothing runs in it now.'}{' '}
            {environment.gitMode === 'off' ? '' : 'The files in the repository stay.'}
          </p>
        </>
      ) : (
        <p className="muted">Counting what would be deleted…</p>
      )}
    </MutationForm>
  );
};

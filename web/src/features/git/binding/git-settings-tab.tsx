import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { GitSyncStatus } from '../../../../../schemas/api/delivery/git-sync.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { whyNot } from '../../../app/permissions.ts';
import { usePlace } from '../../../app/scope.tsx';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { notify } from '../../../ui/feedback/toast.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { Dialog } from '../../../ui/primitives/dialog.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { plural } from '../../../ui/text/format.ts';
import { KIND_LABELS } from '../git-object.ts';
import { useRenewGit } from '../overrides/override-mutations.ts';
import { BindingForm } from './binding-form.tsx';
import { ForgeForm } from './forge-form.tsx';
import { PolicyForm } from './policy-form.tsx';
import { PullRequestSettingsForm } from './pull-request-settings.tsx';
import { ReviewForm } from './review-form.tsx';
import { Webhook } from './webhook.tsx';

export const GitSettingsTab = ({ status }: { status: GitSyncStatus }) => {
  const { team } = usePlace();
  const mayNot = whyNot(team.role, 'ADMIN');
  const mayEdit = mayNot === null;
  return (
    <div className="stack binding-settings">
      {mayNot && (
        <Notice icon="shield" tone="moving">
          {mayNot}
        </Notice>
      )}
      <BindingForm status={status} mayEdit={mayEdit} />
      {status.configured && (
        <>
          {status.review && <ReviewForm status={status} rules={status.review} mayEdit={mayEdit} />}
          {status.forge && (
            // Another address has another forge, and what was typed for one is not for the other.
            <ForgeForm key={status.repositoryUrl} status={status} mayEdit={mayEdit} />
          )}
          {status.pullRequests && (
            <PullRequestSettingsForm status={status} settings={status.pullRequests} mayEdit={mayEdit} />
          )}
          {status.webhookUrl && <Webhook url={status.webhookUrl} forge={status.forge} />}
          <PolicyForm status={status} mayEdit={mayEdit} />
          {status.mode !== 'off' && <Unbind status={status} mayNot={mayNot} />}
        </>
      )}
    </div>
  );
};

const Unbind = ({ status, mayNot }: { status: GitSyncStatus; mayNot: string | null }) => {
  const [opened, setOpened] = useState(false);
  const close = (): void => setOpened(false);
  return (
    <Section title="Unbind from git">
      <div className="section-body tab-head">
        <p className="muted">Git is not read any longer. Nothing stops: everything belongs to the UI then.</p>
        <Button
          kind="danger"
          disabled={mayNot !== null}
          tip={mayNot ?? undefined}
          onClick={() => setOpened(true)}
        >
          Unbind
        </Button>
      </div>
      <Dialog title={`Unbind ${status.environmentName} from git`} opened={opened} close={close}>
        {opened && <UnbindForm status={status} close={close} />}
      </Dialog>
    </Section>
  );
};

const UnbindForm = ({ status, close }: { status: GitSyncStatus; close: () => void }) => {
  const queryClient = useQueryClient();
  const renew = useRenewGit();
  const unbind = useMutation({
    mutationFn: () => api.gitSync.configure.mutate({ environmentId: status.environmentId, mode: 'off' }),
    onSuccess: async (saved) => {
      queryClient.setQueryData(queries.git(status.environmentId).queryKey, saved);
      notify(`${status.environmentName} is unbound. What ran runs on.`);
      close();
      await Promise.all([
        renew(),
        queryClient.invalidateQueries({
          predicate: ({ queryKey: [name] }) =>
            typeof name === 'string' && /^(environment|pipeline|alert|nodeGroup)\./.test(name),
        }),
      ]);
    },
  });
  const counts = Object.entries(KIND_LABELS).flatMap(([kind, { one }]) => {
    const count = status.manifests.filter(
      (manifest) => manifest.kind === kind && manifest.objectId !== null,
    ).length;
    return count > 0 ? [plural(count, one)] : [];
  });
  return (
    <MutationForm
      mutation={unbind}
      close={close}
      submit="Unbind"
      working="Unbinding…"
      danger
      cancel="Keep it bound"
      confirm={status.environmentName}
    >
      <p>
        {counts.length > 0
          ? `${counts.join(', ')} that git owns go over to the UI: they run on as they are, and are changed here.`
          : 'Git owns nothing here: only the binding ends.'}
      </p>
      <p>
        Commits to <span className="mono">{status.branch}</span> change nothing in {status.environmentName}{' '}
        any more. The repository stays as it is.
      </p>
    </MutationForm>
  );
};

import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { BoundForge } from '../../../../../schemas/api/delivery/forges.ts';
import type { GitSyncStatus } from '../../../../../schemas/api/delivery/git-sync.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { notify } from '../../../ui/feedback/toast.tsx';
import { DraftField, type DraftOf, DraftText } from '../../../ui/form/draft-fields.tsx';
import { SelectField } from '../../../ui/form/field.tsx';
import { FieldPair } from '../../../ui/form/field-pair.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { useDraft } from '../../../ui/form/use-draft.ts';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { Copyable } from '../../../ui/primitives/copyable.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { ForgeState } from '../forge-state.tsx';
import { useRenewGit } from '../overrides/override-mutations.ts';
import {
  derived,
  FORGE_CHOICES,
  FORGES,
  type ForgeDraft,
  forgeDraft,
  forgeInput,
  makeSecret,
  mayKeepToken,
  problemOfForge,
} from './forge-draft.ts';

interface Props {
  status: GitSyncStatus;
  mayEdit: boolean;
}

/** Where the pull requests of a remote live, and what Headgate may do there. */
export const ForgeForm = ({ status, mayEdit }: Props) => {
  const bound = status.forge;
  const queryClient = useQueryClient();
  const renew = useRenewGit();
  const { draft, set, isChanged, reset, sending } = useDraft(forgeDraft(bound));
  const remote = status.repositoryUrl ?? '';
  const defaults = derived(draft.name, remote);
  const problem = problemOfForge(draft, bound, remote);
  const save = useMutation({
    mutationFn: sending(() =>
      api.gitSync.configure.mutate({
        environmentId: status.environmentId,
        mode: status.mode,
        forge: forgeInput(draft),
      }),
    ),
    onSuccess: async (saved) => {
      queryClient.setQueryData(queries.git(status.environmentId).queryKey, saved);
      reset();
      notify(
        saved.forge?.name === 'none' || !saved.forge
          ? 'Pull requests are kept here.'
          : 'The forge is saved. Test it, so that the first pull request does not find out.',
      );
      await renew();
    },
  });
  const of = { draft, set };
  const isForge = draft.name !== 'none';
  return (
    <Section title="Pull requests">
      <MutationForm
        mutation={save}
        submit="Save the forge"
        working="Saving…"
        disabled={problem !== '' || !isChanged}
        fieldset={{ disabled: !mayEdit, legend: 'Forge' }}
        autoComplete="off"
      >
        <SelectField
          label="Pull requests live on"
          value={draft.name}
          onChange={(name) => set({ ...forgeDraft(bound?.name === name ? bound : null), name })}
          options={FORGE_CHOICES}
          hint={
            isForge
              ? 'Headgate opens promotions there, writes the plan under every pull request, and marks commits as rolled out.'
              : 'They are reviewed and merged in Headgate, which pushes the result to the remote.'
          }
        />
        {isForge && (
          <>
            <FieldPair>
              <DraftField
                of={of}
                name="url"
                label="Address of its API"
                maxLength={2_048}
                placeholder={defaults.url}
                hint={
                  defaults.url
                    ? `Empty: ${defaults.url}`
                    : 'The address of the repository does not contain it.'
                }
              />
              <DraftField
                of={of}
                name="project"
                label="Project"
                maxLength={500}
                placeholder={defaults.project}
                hint={defaults.project ? `Empty: ${defaults.project}` : FORGES[draft.name].what}
              />
            </FieldPair>
            <Token {...of} bound={bound} remote={remote} />
            <Secret {...of} bound={bound} />
          </>
        )}
        {mayEdit && problem !== '' && <p className="muted">{problem}</p>}
      </MutationForm>
      {bound && bound.name !== 'none' && <ForgeState status={status} forge={bound} mayEdit={mayEdit} />}
    </Section>
  );
};

interface KeptProps extends DraftOf<ForgeDraft> {
  bound: BoundForge | null;
  /** Address of the repository. */
  remote: string;
}

const Token = ({ draft, set, bound, remote }: KeptProps) => {
  if (mayKeepToken(draft, bound, remote) && !draft.replacesToken) {
    return (
      <div className="credential">
        <span className="credential-name">{bound?.appId ? `GitHub App ${bound.appId}` : 'Token'}</span>
        <Badge tone="calm">Set</Badge>
        <Button size="small" onClick={() => set({ replacesToken: true })}>
          Replace<span className="sr-only"> {bound?.appId ? 'the app' : 'the token'}</span>
        </Button>
      </div>
    );
  }
  if (draft.name === 'github')
    return (
      <>
        <SelectField<'token' | 'app'>
          label="It is asked by"
          value={draft.isApp ? 'app' : 'token'}
          onChange={(by) => set({ isApp: by === 'app' })}
          options={GITHUB_ACCESS}
        />
        {draft.isApp ? <AppFields draft={draft} set={set} /> : <TokenField draft={draft} set={set} />}
      </>
    );
  return <TokenField draft={draft} set={set} />;
};

const GITHUB_ACCESS = [
  { value: 'token', word: 'A token' },
  { value: 'app', word: 'A GitHub App' },
] as const;

const AppFields = (of: DraftOf<ForgeDraft>) => (
  <>
    <DraftField
      of={of}
      name="appId"
      label="App ID or client ID"
      maxLength={64}
      hint="Of an app that may write Pull requests, Commit statuses and Contents, and is installed on the repository."
    />
    <DraftText
      of={of}
      name="privateKey"
      label="Private key"
      rows={4}
      maxLength={16_384}
      placeholder="-----BEGIN RSA PRIVATE KEY-----"
      hint="The whole file. Its tokens are made and renewed here. Kept encrypted, and never shown again."
    />
  </>
);

const TokenField = ({ draft, set }: DraftOf<ForgeDraft>) => {
  return (
    <DraftField
      of={{ draft, set }}
      name="token"
      label="Token"
      type="password"
      autoComplete="new-password"
      autoFocus={draft.replacesToken}
      maxLength={4_096}
      hint={`${FORGES[draft.name].rights} Kept encrypted, and never shown again.`}
    />
  );
};

/** One that was just made is shown until it is saved: the forge needs it too. */
const Secret = ({ draft, set, bound }: Omit<KeptProps, 'remote'>) => {
  const make = (): void => set({ webhook: 'replace', secret: makeSecret() });
  const word = bound?.hasWebhookSecret ? 'Make another one' : 'Make one';
  const button = (text: string, act: () => void) => (
    <Button size="small" onClick={act}>
      {text}
      <span className="sr-only"> for the webhook</span>
    </Button>
  );
  return (
    <div className="field">
      <div className="credential">
        <span className="credential-name">Secret of the webhook</span>
        {draft.webhook === 'keep' && <Badge tone="calm">Set</Badge>}
        {draft.webhook === 'none' && <Badge tone="unknown">None</Badge>}
        {draft.webhook !== 'replace' && button(word, make)}
        {draft.webhook !== 'replace' && button('Give one', () => set({ webhook: 'replace', secret: '' }))}
        {draft.webhook === 'keep' && button('Take it away', () => set({ webhook: 'none' }))}
        {draft.webhook === 'replace' &&
          button('Leave it as it was', () =>
            set({ webhook: bound?.hasWebhookSecret ? 'keep' : 'none', secret: '' }),
          )}
      </div>
      {draft.webhook === 'replace' && (
        <>
          <DraftField
            of={{ draft, set }}
            name="secret"
            label="New secret of the webhook"
            autoComplete="off"
            autoFocus
            maxLength={255}
          />
          {draft.secret !== '' && (
            <Notice icon="warning" tone="held">
              Give the same to the forge: <Copyable value={draft.secret} label="secret of the webhook" />
              It is not shown again after saving.
            </Notice>
          )}
        </>
      )}
      <span className="field-hint">
        {draft.webhook === 'none'
          ? 'Without one, calls need no signature: they only wake the loop.'
          : 'Calls that are not signed with it are turned away.'}
      </span>
    </div>
  );
};

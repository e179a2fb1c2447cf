import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Environment } from '../../../../../schemas/api/fleet/environments.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { notify } from '../../../ui/feedback/toast.tsx';
import { SelectField } from '../../../ui/form/field.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { useDraft } from '../../../ui/form/use-draft.ts';
import { Section } from '../../../ui/primitives/page.tsx';
import { BACKENDS, effectOfMove, storeNoun } from '../../secrets/store-text.ts';
import { configOf, heldBy, isComplete, storeDraft } from './store-draft.ts';
import { CloudFields, ExecFields, RefreshField, VaultFields } from './store-fields.tsx';

interface Props {
  environment: Environment;
  mayEdit: boolean;
}

/** Where the environment keeps its secrets. Saving asks the store first: one that does not answer is not taken. */
export const SecretStoreSettings = ({ environment, mayEdit }: Props) => {
  const queryClient = useQueryClient();
  const { draft, set, isChanged, reset, sending } = useDraft(storeDraft(environment));
  const { backend } = draft;
  const isBuiltIn = backend === 'BUILTIN';
  const moves = backend !== environment.secretBackend;
  const save = useMutation({
    mutationFn: sending(() => {
      const config = configOf(draft);
      return api.environment.update.mutate({
        id: environment.id,
        secretBackend: backend,
        ...(config ? { secretBackendConfig: config } : {}),
      });
    }),
    onSuccess: async (saved) => {
      queryClient.setQueryData(queries.environment(environment.id).queryKey, saved);
      reset();
      await queryClient.invalidateQueries({ queryKey: ['secret.list', environment.id] });
      const lacking = saved.secretStore?.failing ?? 0;
      notify(
        `Secrets of ${saved.name} are kept in ${storeNoun(saved.secretBackend)}.${
          lacking === 0 ? '' : ` ${lacking} of them it does not give: look at Secrets.`
        }`,
      );
    },
  });
  const fields = { draft, set, held: heldBy(environment) };
  return (
    <Section title="Secret store">
      <MutationForm
        mutation={save}
        submit={isBuiltIn ? 'Save the store' : 'Test and save the store'}
        working={isBuiltIn ? 'Saving…' : 'Asking the store…'}
        disabled={!isChanged || !isComplete(draft)}
        fieldset={{ disabled: !mayEdit }}
        autoComplete="off"
      >
        <SelectField
          label="Secrets are kept in"
          value={backend}
          onChange={(value) => {
            set({ backend: value });
            save.reset();
          }}
          options={BACKENDS}
        />
        {environment.secretStore && environment.secretStore.config === null && (
          <p className="field-problem">
            What was set up cannot be read any longer. Fill in every field, credentials too.
          </p>
        )}
        {backend === 'VAULT' && <VaultFields {...fields} />}
        {backend === 'CLOUD_SM' && <CloudFields {...fields} />}
        {backend === 'EXEC' && <ExecFields {...fields} commands={environment.secretCommands} />}
        {!isBuiltIn && <RefreshField draft={draft} set={set} />}
        {moves && <p className="muted">{effectOfMove(backend)}</p>}
      </MutationForm>
    </Section>
  );
};

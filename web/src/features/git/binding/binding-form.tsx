import { Input } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { GitSyncStatus } from '../../../../../schemas/api/delivery/git-sync.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { isProduction, usePlace } from '../../../app/scope.tsx';
import { notify } from '../../../ui/feedback/toast.tsx';
import { DraftField, DraftText } from '../../../ui/form/draft-fields.tsx';
import { FieldPair } from '../../../ui/form/field-pair.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { RadioField } from '../../../ui/form/radio-field.tsx';
import { useDraft } from '../../../ui/form/use-draft.ts';
import { Section } from '../../../ui/primitives/page.tsx';
import { SegmentedControl } from '../../../ui/primitives/segmented-control.tsx';
import { MODES } from '../git-state-labels.ts';
import { useRenewGit } from '../overrides/override-mutations.ts';
import { bindingDraft, configureInput, problemOfDraft } from './binding-draft.ts';
import { RemoteFields } from './remote-fields.tsx';

const WHERE = [
  { value: 'embedded', word: 'Served by Headgate' },
  { value: 'remote', word: 'A git server' },
] as const;

interface Props {
  status: GitSyncStatus;
  mayEdit: boolean;
}

/** Which repository, branch and folder, and what is done with them. */
export const BindingForm = ({ status, mayEdit }: Props) => {
  const { environment } = usePlace();
  const queryClient = useQueryClient();
  const renew = useRenewGit();
  const of = useDraft(bindingDraft(status));
  const { draft, set } = of;
  const problem = problemOfDraft(draft, status);
  const unchanged = status.configured && status.mode === draft.mode && !of.isChanged;
  const save = useMutation({
    mutationFn: of.sending(() => api.gitSync.configure.mutate(configureInput(draft, status))),
    onSuccess: async (saved) => {
      queryClient.setQueryData(queries.git(environment.id).queryKey, saved);
      of.reset();
      notify(`${environment.name} is bound: ${MODES[saved.mode].word.toLowerCase()}.`);
      await Promise.all([renew(), queryClient.invalidateQueries({ queryKey: ['environment.list'] })]);
    },
  });
  return (
    <Section title={status.configured ? 'Binding' : `Bind ${environment.name} to git`}>
      <MutationForm
        mutation={save}
        submit={status.configured ? 'Save the binding' : 'Bind to git'}
        working="Saving…"
        disabled={problem !== '' || unchanged}
        fieldset={{ disabled: !mayEdit, legend: 'Binding' }}
        autoComplete="off"
        confirm={isProduction(environment) && !unchanged ? environment.name : null}
        confirmField={{
          autoFocus: false,
          hint: `This decides what all ${environment.nodeCount} nodes of ${environment.name} run.`,
        }}
      >
        <RadioField
          label="Mode"
          value={draft.mode}
          options={CHOICES.map((value) => ({ value, word: MODES[value].word, hint: MODES[value].means }))}
          onChange={(mode) => set({ mode })}
        />
        <Input.Wrapper
          labelElement="div"
          label="Repository"
          description={
            draft.where === 'embedded'
              ? 'A repository in Headgate’s data directory, cloned and pushed to over HTTP. A push is applied at once.'
              : 'Any git server over HTTP(S) or ssh. It is looked at in intervals, and at once when its webhook tells.'
          }
        >
          <SegmentedControl
            label="Repository"
            value={draft.where}
            options={WHERE}
            onChange={(where) => set({ where })}
          />
        </Input.Wrapper>
        {draft.where === 'remote' && <RemoteFields draft={draft} set={set} status={status} />}
        <FieldPair>
          <DraftField
            of={of}
            name="branch"
            label="Branch"
            required
            maxLength={255}
            hint="A branch or a tag."
          />
          <DraftField
            of={of}
            name="path"
            label="Folder"
            maxLength={1024}
            hint="Everything below it belongs to this environment. Empty is the whole repository."
          />
        </FieldPair>
        <FieldPair>
          <DraftText
            of={of}
            name="sharedPaths"
            label="Folders beside it that $file may reach"
            rows={2}
            hint="One a line."
          />
          <DraftField
            of={of}
            name="interval"
            label="Seconds between two looks"
            mono={false}
            inputMode="numeric"
            hint="Drift is looked for as often. An Environment manifest may ask for fewer looks."
          />
        </FieldPair>
        {mayEdit && problem !== '' && <p className="muted">{problem}</p>}
      </MutationForm>
    </Section>
  );
};

/** Off is to unbind, and stands apart. */
const CHOICES = ['observe', 'sync', 'push'] as const;

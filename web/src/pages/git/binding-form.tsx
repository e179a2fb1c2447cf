import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import type { GitSyncStatus } from '../../../../schemas/api/git-sync.ts';
import { api } from '../../api/client.ts';
import { queries } from '../../api/queries.ts';
import { isProduction, usePlace } from '../../app/environment.tsx';
import { DraftField, DraftText } from '../../components/draft-fields.tsx';
import { MutationForm } from '../../components/mutation-form.tsx';
import { Section } from '../../components/page.tsx';
import { Segmented } from '../../components/segmented.tsx';
import { notify } from '../../components/toasts.tsx';
import { type BindingDraft, bindingDraft, configureInput, problemOfDraft } from './binding-draft.ts';
import { RemoteFields } from './remote-fields.tsx';
import { useRenewGit } from './word-actions.ts';
import { MODES } from './words.ts';

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
  const [draft, setDraft] = useState<BindingDraft>(() => bindingDraft(status));
  const set = (change: Partial<BindingDraft>): void => setDraft((before) => ({ ...before, ...change }));
  const of = { draft, set };
  const problem = problemOfDraft(draft, status);
  const unchanged =
    status.configured &&
    status.mode === draft.mode &&
    JSON.stringify(draft) === JSON.stringify(bindingDraft(status));
  const save = useMutation({
    mutationFn: () => api.gitSync.configure.mutate(configureInput(draft, status)),
    onSuccess: async (saved) => {
      queryClient.setQueryData(queries.git(environment.id).queryKey, saved);
      setDraft(bindingDraft(saved));
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
        <ModeChoice value={draft.mode} onChange={(mode) => set({ mode })} />
        <div className="field">
          <span className="field-name">Repository</span>
          <Segmented
            label="Repository"
            value={draft.where}
            options={WHERE}
            onChange={(where) => set({ where })}
          />
          <span className="field-hint">
            {draft.where === 'embedded'
              ? 'A repository in Headgate’s data directory, cloned and pushed to over HTTP. A push is applied at once.'
              : 'Any git server over HTTP(S) or ssh. It is looked at in intervals, and at once when its webhook tells.'}
          </span>
        </div>
        {draft.where === 'remote' && <RemoteFields {...of} status={status} />}
        <div className="field-pair">
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
        </div>
        <div className="field-pair">
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
        </div>
        {mayEdit && problem !== '' && <p className="muted">{problem}</p>}
      </MutationForm>
    </Section>
  );
};

interface ModeProps {
  value: GitSyncStatus['mode'];
  onChange: (mode: GitSyncStatus['mode']) => void;
}

/** Off is to unbind, and stands apart. */
const CHOICES = ['observe', 'sync', 'push'] as const;

const ModeChoice = ({ value, onChange }: ModeProps) => {
  const id = useId();
  return (
    <fieldset className="choices">
      <legend>Mode</legend>
      {CHOICES.map((mode) => (
        <div key={mode} className="choice">
          <input
            type="radio"
            id={`${id}-${mode}`}
            name={id}
            checked={value === mode}
            aria-describedby={`${id}-${mode}-note`}
            onChange={() => onChange(mode)}
          />
          <label htmlFor={`${id}-${mode}`}>{MODES[mode].word}</label>
          <span id={`${id}-${mode}-note`} className="field-hint">
            {MODES[mode].means}
          </span>
        </div>
      ))}
    </fieldset>
  );
};

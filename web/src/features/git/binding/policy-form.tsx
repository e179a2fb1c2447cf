import { useMutation, useQueryClient } from '@tanstack/react-query';
import {
  DEFAULT_POLICY,
  type GitPolicy,
  OWNABLE_KINDS,
} from '../../../../../schemas/api/delivery/git-policy.ts';
import type { GitSyncStatus } from '../../../../../schemas/api/delivery/git-sync.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { notify } from '../../../ui/feedback/toast.tsx';
import { CheckboxField } from '../../../ui/form/checkbox-field.tsx';
import { Field, SelectField } from '../../../ui/form/field.tsx';
import { FieldPair } from '../../../ui/form/field-pair.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { useDraft } from '../../../ui/form/use-draft.ts';
import { Icon } from '../../../ui/primitives/icons.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { KIND_LABELS } from '../git-object.ts';
import { UI_EDITS } from '../git-state-labels.ts';
import { useRenewGit } from '../overrides/override-mutations.ts';
import { GUARDS } from '../plan/plan-text.ts';

type Limit = 'maxDeletes' | 'maxDeletePercent' | 'maxNodeRestartPercent';
type Draft = Omit<GitPolicy, Limit> & Record<Limit, string>;

const draftOf = (policy: GitPolicy): Draft => ({
  ...policy,
  maxDeletes: String(policy.maxDeletes ?? ''),
  maxDeletePercent: String(policy.maxDeletePercent ?? ''),
  maxNodeRestartPercent: String(policy.maxNodeRestartPercent ?? ''),
});

const LIMITS: readonly { name: Limit; label: string; most: number; hint: string }[] = [
  { name: 'maxDeletes', label: GUARDS.maxDeletes, most: 100_000, hint: 'Empty: any number.' },
  {
    name: 'maxDeletePercent',
    label: GUARDS.maxDeletePercent,
    most: 100,
    hint: 'Of what git owns here.',
  },
  {
    name: 'maxNodeRestartPercent',
    label: GUARDS.maxNodeRestartPercent,
    most: 100,
    hint: 'Of the nodes of the environment.',
  },
];

const limitProblem = (text: string, most: number): string =>
  text === '' || (/^\d+$/.test(text) && Number(text) <= most)
    ? ''
    : `A whole number up to ${most.toLocaleString('en')}, or nothing.`;

interface Props {
  status: GitSyncStatus;
  mayEdit: boolean;
}

/** What git may do here. What a manifest in git tightens stands beside each part: it can never widen one. */
export const PolicyForm = ({ status, mayEdit }: Props) => {
  const queryClient = useQueryClient();
  const renew = useRenewGit();
  const binding = status.policy?.binding ?? DEFAULT_POLICY;
  const effective = status.policy?.effective ?? binding;
  const { draft, set, reset, sending } = useDraft(draftOf(binding));
  const changed = changesOf(draft, binding);
  const wrong = LIMITS.some(({ name, most }) => limitProblem(draft[name], most) !== '');
  const save = useMutation({
    mutationFn: sending(() =>
      api.gitSync.configure.mutate({
        environmentId: status.environmentId,
        mode: status.mode,
        policy: changed,
      }),
    ),
    onSuccess: async (saved) => {
      queryClient.setQueryData(queries.git(status.environmentId).queryKey, saved);
      reset();
      notify('The policy is saved, and judges the next pass.');
      await renew();
    },
  });
  return (
    <Section title="What git may do here">
      <MutationForm
        mutation={save}
        submit="Save the policy"
        working="Saving…"
        disabled={wrong || Object.keys(changed).length === 0}
        fieldset={{ disabled: !mayEdit, legend: 'Policy' }}
      >
        <div>
          <SelectField
            label="Edits in the UI of what git describes are"
            value={draft.uiEdits}
            onChange={(uiEdits) => set({ uiEdits })}
            options={UI_EDITS.map(({ value, word }) => ({ value, word }))}
            hint={UI_EDITS.find(({ value }) => value === draft.uiEdits)?.means}
          />
          <Tightened
            show={effective.uiEdits !== binding.uiEdits}
            to={UI_EDITS.find(({ value }) => value === effective.uiEdits)?.word.toLowerCase() ?? ''}
          />
        </div>
        <div>
          <CheckboxField
            label="Delete objects whose manifest left git"
            checked={draft.prune}
            onChange={(prune) => set({ prune })}
          />
          <Tightened show={effective.prune !== binding.prune} to="never" />
        </div>
        <div>
          <CheckboxField
            label="Put git’s state back where somebody changed an object past git"
            checked={draft.selfHeal}
            onChange={(selfHeal) => set({ selfHeal })}
          />
          <Tightened show={effective.selfHeal !== binding.selfHeal} to="only reported" />
        </div>
        <fieldset className="choices">
          <legend>A plan that goes beyond one of these in one pass waits for an ADMIN</legend>
          <FieldPair>
            {LIMITS.map(({ name, label, most, hint }) => (
              <div key={name}>
                <Field
                  label={label}
                  value={draft[name]}
                  onChange={(text) => set({ [name]: text.trim() })}
                  inputMode="numeric"
                  placeholder="no limit"
                  problem={limitProblem(draft[name], most)}
                  hint={hint}
                />
                <Tightened show={effective[name] !== binding[name]} to={String(effective[name])} />
              </div>
            ))}
          </FieldPair>
        </fieldset>
        <fieldset className="choices">
          <legend>Git owns</legend>
          {OWNABLE_KINDS.map((kind) => (
            <div key={kind}>
              <CheckboxField
                label={KIND_LABELS[kind].many}
                checked={draft.owns.includes(kind)}
                onChange={(owned) =>
                  set({
                    owns: OWNABLE_KINDS.filter((each) => (each === kind ? owned : draft.owns.includes(each))),
                  })
                }
              />
              <Tightened
                show={binding.owns.includes(kind) && !effective.owns.includes(kind)}
                to="left to the UI"
              />
            </div>
          ))}
          <span className="field-hint">
            Manifests of the others are read and checked, and not acted on. What git owned of a kind that is
            taken out goes on running and belongs to the UI.
          </span>
        </fieldset>
      </MutationForm>
    </Section>
  );
};

function changesOf(draft: Draft, binding: GitPolicy): Partial<GitPolicy> {
  const numbers = Object.fromEntries(
    LIMITS.map(({ name }) => [name, draft[name] === '' ? null : Number(draft[name])]),
  ) as Record<Limit, number | null>;
  const wanted: GitPolicy = { ...draft, ...numbers };
  const entries = Object.entries(wanted).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(binding[name as keyof GitPolicy]),
  );
  return Object.fromEntries(entries) as Partial<GitPolicy>;
}

/** What holds is stricter than what is set here. */
const Tightened = ({ show, to }: { show: boolean; to: string }) =>
  show ? (
    <p className="tightened">
      <Icon name="git" size={12} /> Tightened in git to: <strong>{to}</strong>
    </p>
  ) : null;

import { Checkbox } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { AlertRule } from '../../../../schemas/api/insight/alerts.ts';
import { api } from '../../api/client.ts';
import { queries } from '../../api/queries/index.ts';
import { isProduction, usePlace } from '../../app/scope.tsx';
import { Field, NameField, SelectField } from '../../ui/form/field.tsx';
import { FieldPair } from '../../ui/form/field-pair.tsx';
import { MutationForm } from '../../ui/form/mutation-form.tsx';
import { Dialog } from '../../ui/primitives/dialog.tsx';
import { BecomesNotice, MadeHereNotice, useBecameGit } from '../ownership/git-edits.tsx';
import {
  draftOf,
  durationProblem,
  meaningOf,
  NEW_RULE,
  type RuleDraft,
  thresholdProblem,
} from './rule-draft.ts';
import { isFact, METRICS, ruleText, unitOf } from './rule-text.ts';
import { RulePreviewPanel } from './rules/rule-preview.tsx';

export type RuleAction =
  | { kind: 'create' }
  | { kind: 'edit'; rule: AlertRule }
  | { kind: 'delete'; rule: AlertRule };

interface Props {
  action: RuleAction | null;
  close: () => void;
}

const CONDITIONS = [
  { value: 'gt', word: 'is above' },
  { value: 'lt', word: 'is below' },
  { value: 'eq', word: 'is exactly' },
] as const;

/** Makes a rule, or changes what may be changed of one: what it watches stays. */
export const RuleDialog = ({ action, close }: Props) => {
  const opened = action?.kind === 'create' || action?.kind === 'edit';
  return (
    <Dialog
      title={action?.kind === 'edit' ? `Change ${action.rule.name}` : 'New alert rule'}
      opened={opened}
      close={close}
      size="lg"
    >
      {opened && <RuleForm rule={action.kind === 'edit' ? action.rule : null} close={close} />}
    </Dialog>
  );
};

const RuleForm = ({ rule, close }: { rule: AlertRule | null; close: () => void }) => {
  const { environment } = usePlace();
  const queryClient = useQueryClient();
  const [draft, setDraft] = useState<RuleDraft>(() => (rule ? draftOf(rule) : NEW_RULE));
  const became = useBecameGit();
  const set = (change: Partial<RuleDraft>): void => setDraft((before) => ({ ...before, ...change }));
  const meaning = meaningOf(draft, rule);
  const save = useMutation({
    mutationFn: async (): Promise<void> => {
      if (!meaning) return;
      const { threshold, durationSeconds } = meaning;
      const name = draft.name.trim();
      if (rule) {
        const { enabled } = draft;
        became(await api.alert.updateRule.mutate({ id: rule.id, name, enabled, threshold, durationSeconds }));
      } else {
        await api.alert.createRule.mutate({
          ...meaning,
          name,
          environmentId: environment.id,
          teamId: environment.teamId,
          ...(draft.pipelineId ? { pipelineId: draft.pipelineId } : {}),
        });
      }
    },
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['alert.listRules', environment.id] });
      close();
    },
  });
  const unit = unitOf(draft.metric).trim();
  return (
    <MutationForm
      mutation={save}
      close={close}
      submit={rule ? 'Save the rule' : 'Make the rule'}
      working="Saving…"
      disabled={!draft.name.trim() || !meaning}
    >
      <BecomesNotice git={rule?.git ?? null} />
      {!rule && <MadeHereNotice kind="AlertRule" many="Alert rules" />}
      <NameField value={draft.name} onChange={(name) => set({ name })} autoFocus />
      {!rule && (
        <>
          <WatchedField value={draft.pipelineId} onChange={(pipelineId) => set({ pipelineId })} />
          <SelectField
            label="Raised when"
            value={draft.metric}
            onChange={(metric) => set({ metric })}
            options={METRICS}
          />
        </>
      )}
      {!isFact(draft.metric) && (
        <FieldPair>
          {!rule && (
            <SelectField
              label="Compared"
              value={draft.condition}
              onChange={(condition) => set({ condition })}
              options={CONDITIONS}
            />
          )}
          <Field
            label={`Threshold, ${unit === '%' ? 'per cent' : 'a second'}`}
            value={draft.threshold}
            onChange={(threshold) => set({ threshold })}
            problem={thresholdProblem(draft)}
            inputMode="decimal"
            required
          />
        </FieldPair>
      )}
      <Field
        label="For how long, in seconds"
        value={draft.duration}
        onChange={(duration) => set({ duration })}
        problem={durationProblem(draft)}
        hint="A shorter breach raises nothing. 0 raises at once."
        inputMode="numeric"
        required
      />
      {rule && (
        <Checkbox
          checked={draft.enabled}
          onChange={(event) => set({ enabled: event.target.checked })}
          label="Enabled; a rule that is not stays silent"
        />
      )}
      <p className="rule-words" role="status">
        {meaning ? `Raised when: ${ruleText(meaning)}, ${watched(draft, rule)}.` : ' '}
      </p>
      <RulePreviewPanel
        rule={
          meaning && {
            ...meaning,
            environmentId: environment.id,
            ...(draft.pipelineId ? { pipelineId: draft.pipelineId } : {}),
          }
        }
      />
    </MutationForm>
  );
};

function watched(draft: RuleDraft, rule: AlertRule | null): string {
  if (draft.pipelineId === '') return 'in the whole environment';
  return rule?.pipelineName ? `for ${rule.pipelineName}` : 'for the chosen pipeline';
}

const WatchedField = ({ value, onChange }: { value: string; onChange: (id: string) => void }) => {
  const { environment } = usePlace();
  const pipelines = useQuery(queries.pipelines(environment.id));
  const options = [...(pipelines.data ?? [])]
    .sort((a, b) => a.name.localeCompare(b.name))
    .map(({ id, name }) => ({ value: id, word: name }));
  return (
    <SelectField
      label="Watches"
      value={value}
      onChange={onChange}
      options={[{ value: '', word: `Everything in ${environment.name}` }, ...options]}
    />
  );
};

export const DeleteRuleDialog = ({ action, close }: Props) => (
  <Dialog
    title={action?.kind === 'delete' ? `Delete ${action.rule.name}` : 'Delete'}
    opened={action?.kind === 'delete'}
    close={close}
  >
    {action?.kind === 'delete' && <DeleteForm rule={action.rule} close={close} />}
  </Dialog>
);

const DeleteForm = ({ rule, close }: { rule: AlertRule; close: () => void }) => {
  const { environment } = usePlace();
  const queryClient = useQueryClient();
  const became = useBecameGit();
  const mustConfirm = isProduction(environment);
  const remove = useMutation({
    mutationFn: () => api.alert.deleteRule.mutate({ id: rule.id }),
    onSuccess: async (done) => {
      became(done);
      await queryClient.invalidateQueries({ queryKey: ['alert.listRules', environment.id] });
      close();
    },
  });
  return (
    <MutationForm
      mutation={remove}
      close={close}
      submit="Delete the rule"
      working="Deleting…"
      danger
      confirm={mustConfirm ? rule.name : null}
    >
      <BecomesNotice git={rule.git} what="Deleting it" />
      <p>
        This deletes <strong>{rule.name}</strong> from {environment.name}, for good. Nothing watches any more
        for: {ruleText(rule)}, {rule.pipelineName ? `for ${rule.pipelineName}` : 'in the whole environment'}.
        To keep it silent instead, take away its mark “Enabled”.
      </p>
    </MutationForm>
  );
};

/** Which alerts are muted, why, and until when. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { NodeSummary } from '../../../../../schemas/api/fleet/fleet.ts';
import type { AlertEvent } from '../../../../../schemas/api/insight/alerts.ts';
import { api } from '../../../api/client.ts';
import { alertQueries } from '../../../api/queries/alerts.ts';
import { queries } from '../../../api/queries/index.ts';
import { usePlace } from '../../../app/scope.tsx';
import { Field } from '../../../ui/form/field.tsx';
import { LabelEditor } from '../../../ui/form/label-editor.tsx';
import { labelsOf } from '../../../ui/form/label-rows.ts';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { useReportedMutation } from '../../../ui/form/reported-mutation.ts';
import { SegmentedControl } from '../../../ui/primitives/segmented-control.tsx';
import { useNow } from '../../../ui/text/clock.ts';
import { formatExact, plural } from '../../../ui/text/format.ts';
import { renewAlerts } from '../events/acknowledge-dialog.tsx';
import {
  countMuted,
  ENDS,
  endOf,
  endProblem,
  isComplete,
  matcherSuggestions,
  matchersProblem,
  newDraft,
  type SilenceDraft,
} from './silence-draft.ts';

interface Props {
  matchers: Readonly<Record<string, string>>;
  close: () => void;
}

const NO_NODES: readonly NodeSummary[] = [];
const NO_EVENTS: readonly AlertEvent[] = [];

export const SilenceForm = ({ matchers, close }: Props) => {
  const { environment } = usePlace();
  const queryClient = useQueryClient();
  const now = useNow();
  const [draft, setDraft] = useState(() => newDraft(matchers));
  const set = (change: Partial<SilenceDraft>): void => setDraft((before) => ({ ...before, ...change }));
  const nodes = useQuery(queries.nodes(environment.id)).data ?? NO_NODES;
  const suggest = useSuggestions(nodes);
  const save = useReportedMutation(() => renewAlerts(queryClient), {
    run: () =>
      api.alert.createSilence.mutate({
        environmentId: environment.id,
        matchers: labelsOf(draft.rows),
        reason: draft.reason.trim(),
        endsAt: endOf(draft, Date.now()) ?? new Date(),
      }),
    done: () => null,
    after: close,
  });
  const problem = matchersProblem(draft.rows);
  return (
    <MutationForm
      mutation={save}
      close={close}
      submit="Silence the alerts"
      working="Saving…"
      disabled={!isComplete(draft, now)}
    >
      <LabelEditor
        legend="Alerts that carry all of these labels"
        noun="label"
        rows={draft.rows}
        onChange={(rows) => set({ rows })}
        suggest={suggest}
        hint="rule, metric, node and pipeline of the alert, or a label of its node. A * at the end of a value stands for any further text."
      />
      {problem && <p className="field-problem">{problem}</p>}
      <MutedNow rows={draft.rows} nodes={nodes} />
      <Field
        label="Reason"
        value={draft.reason}
        onChange={(reason) => set({ reason })}
        maxLength={500}
        hint="Others read it beside every alert that is muted."
        required
      />
      <div className="silence-end">
        <span className="silence-end-label">Ends after</span>
        <SegmentedControl
          label="Ends after"
          value={draft.end}
          options={ENDS}
          onChange={(end) => set({ end })}
        />
        {draft.end === 'at' ? (
          <Field
            label="Ends at"
            type="datetime-local"
            value={draft.endsAt}
            onChange={(endsAt) => set({ endsAt })}
            problem={endProblem(draft, now)}
            required
          />
        ) : (
          <span className="muted">{formatExact(endOf(draft, now) ?? new Date(now))}</span>
        )}
      </div>
    </MutationForm>
  );
};

function useSuggestions(nodes: readonly NodeSummary[]) {
  const { environment } = usePlace();
  const rules = useQuery(queries.alertRules(environment.id)).data;
  const pipelines = useQuery(queries.pipelines(environment.id)).data;
  return useMemo(() => matcherSuggestions(rules ?? [], nodes, pipelines ?? []), [rules, nodes, pipelines]);
}

/** Counted here by the rule that the controller goes by. */
const MutedNow = ({ rows, nodes }: Pick<SilenceDraft, 'rows'> & { nodes: readonly NodeSummary[] }) => {
  const { environment } = usePlace();
  const open = useQuery(alertQueries.open(environment.id));
  const events = open.data?.events ?? NO_EVENTS;
  const { muted, open: all } = useMemo(() => countMuted(rows, events, nodes), [rows, events, nodes]);
  return (
    <p className="muted" role="status">
      {!open.data
        ? 'Counting open alerts…'
        : all === 0
          ? 'No alert is open now.'
          : `Mutes ${muted} of the ${plural(all, 'open alert')} now.`}
    </p>
  );
};

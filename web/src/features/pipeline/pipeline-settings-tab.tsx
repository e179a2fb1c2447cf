import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { NodeSummary } from '../../../../schemas/api/fleet/fleet.ts';
import type { Pipeline } from '../../../../schemas/api/pipelines/pipelines.ts';
import { matchesSelector } from '../../../../schemas/pipelines/selector.ts';
import { api } from '../../api/client.ts';
import { queries } from '../../api/queries/index.ts';
import { paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { InlineError } from '../../ui/feedback/page-states.tsx';
import { notify } from '../../ui/feedback/toast.tsx';
import { Field, NameField, SelectField, TextAreaField } from '../../ui/form/field.tsx';
import { LabelEditor } from '../../ui/form/label-editor.tsx';
import { labelsOf, rowsOf } from '../../ui/form/label-rows.ts';
import { MutationForm } from '../../ui/form/mutation-form.tsx';
import { useDraft } from '../../ui/form/use-draft.ts';
import { Button } from '../../ui/primitives/button.tsx';
import { Labels } from '../../ui/primitives/labels.tsx';
import { Section } from '../../ui/primitives/page.tsx';
import { HealthBadge } from '../../ui/primitives/status-badge.tsx';
import { plural } from '../../ui/text/format.ts';
import { useBecameGit } from '../ownership/git-edits.tsx';
import { FixedNotice, useFixed } from '../pipelines/actions/edit-lock.tsx';
import { VIEWER_REASON } from '../pipelines/actions/fixed-reason.ts';
import { type Actions, useRenewPipelines } from '../pipelines/actions/pipeline-actions.ts';
import { groupOptions } from '../pipelines/groups/move-form.tsx';
import { pipelineNameProblem } from '../pipelines/pipeline-name.ts';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;

interface Props {
  env: string;
  pipeline: Pipeline;
  start: Actions['start'];
}

export const SettingsTab = ({ env, pipeline, start }: Props) => {
  const { team } = usePlace();
  const fixed = useFixed(pipeline.managedBy);
  return (
    <div className="stack pipeline-settings">
      <FixedNotice env={env} role={team.role} pipeline={pipeline} />
      <SettingsForm key={pipeline.id} env={env} pipeline={pipeline} fixed={fixed} start={start} />
      <GroupForm pipeline={pipeline} />
      <Section title="Delete">
        <div className="section-body danger-line">
          <p>Takes it off its nodes. It can be brought back for 24 hours, with all versions.</p>
          <Button
            icon="trash"
            kind="danger"
            disabled={fixed !== null}
            tip={fixed ?? undefined}
            onClick={() => start('delete', [pipeline])}
          >
            Delete the pipeline
          </Button>
        </div>
      </Section>
    </div>
  );
};

interface FormProps extends Props {
  fixed: string | null;
}

const SettingsForm = ({ env, pipeline, fixed, start }: FormProps) => {
  const renew = useRenewPipelines();
  const became = useBecameGit();
  const { draft, set, reset, sending } = useDraft({
    name: pipeline.name,
    description: pipeline.description ?? '',
    logLevel: pipeline.logLevel,
    drain: pipeline.drainSeconds === null ? '' : String(pipeline.drainSeconds),
    autoRevert: wordOf(pipeline.autoRevert),
    labels: rowsOf(pipeline.labels),
    selector: rowsOf(pipeline.nodeSelector),
  });
  const { name, description, logLevel, drain, autoRevert, labels, selector } = draft;
  const drainSeconds = drain.trim() === '' ? null : Number(drain);
  const drainProblem = drainSeconds === null ? '' : drainProblemOf(drainSeconds);
  const wanted = labelsOf(selector);
  const nodeSelector = Object.keys(wanted).length > 0 ? wanted : null;
  const changes = {
    ...(name === pipeline.name ? {} : { name }),
    ...(description.trim() === (pipeline.description ?? '')
      ? {}
      : { description: description.trim() || null }),
    ...(logLevel === pipeline.logLevel ? {} : { logLevel }),
    ...(drainSeconds === pipeline.drainSeconds ? {} : { drainSeconds }),
    ...(autoRevert === wordOf(pipeline.autoRevert) ? {} : { autoRevert: REVERTS[autoRevert] }),
    ...(same(labelsOf(labels), pipeline.labels) ? {} : { labels: labelsOf(labels) }),
    ...(same(wanted, pipeline.nodeSelector ?? {}) ? {} : { nodeSelector }),
  };
  const save = useMutation({
    mutationFn: sending(async () => {
      // Known now: the pipeline may be read again, as it is with these changes, before the answer comes.
      const ships = ['logLevel', 'drainSeconds', 'nodeSelector'].some((field) => field in changes);
      return { ships, saved: await api.pipeline.update.mutate({ id: pipeline.id, ...changes }) };
    }),
    onSuccess: async ({ ships, saved }) => {
      if (became(saved)) {
        await renew();
        return;
      }
      await renew();
      reset();
      if (ships && !pipeline.isDraft) {
        notify('Saved. Log level, drain time and nodes change with the next deploy.', {
          word: 'Deploy',
          run: () => start('deploy', [{ ...pipeline, name }]),
        });
      } else notify('Saved.');
    },
  });
  const nameProblem = name === pipeline.name ? '' : pipelineNameProblem(name);
  return (
    <Section title="Settings">
      <MutationForm
        mutation={save}
        submit="Save the settings"
        working="Saving…"
        disabled={
          Object.keys(changes).length === 0 || name === '' || nameProblem !== '' || drainProblem !== ''
        }
        fieldset={{ disabled: fixed !== null, legend: `Settings of ${pipeline.name}` }}
      >
        <NameField value={name} onChange={(next) => set({ name: next })} problem={nameProblem} />
        <TextAreaField
          label="Description"
          value={description}
          onChange={(next) => set({ description: next })}
          rows={2}
          maxLength={2_000}
        />
        <LabelEditor
          legend="Nodes: all that carry every one of these labels"
          noun="pair"
          rows={selector}
          onChange={(rows) => set({ selector: rows })}
          hint="None is every node of the environment."
        />
        <MatchingNodes env={env} selector={wanted} />
        <SelectField
          label="Log level of the engine"
          value={logLevel}
          onChange={(next) => set({ logLevel: next })}
          options={LOG_LEVELS.map((value) => ({ value, word: value }))}
        />
        <Field
          label="Drain time in seconds"
          value={drain}
          onChange={(next) => set({ drain: next })}
          problem={drainProblem}
          inputMode="numeric"
          placeholder="25"
          hint="How long the engine may take to deliver the events that it holds when it is stopped or gets a new version. Events that are still in memory then are lost."
        />
        <SelectField
          label="Auto revert"
          value={autoRevert}
          onChange={(next) => set({ autoRevert: next })}
          options={[
            { value: 'environment', word: 'As set for the environment' },
            { value: 'back', word: 'On: a node where a new version fails returns to the version before' },
            { value: 'stays', word: 'Off: the new version stays, even where it fails' },
          ]}
        />
        <LabelEditor
          legend="Labels of the pipeline"
          noun="label"
          rows={labels}
          onChange={(rows) => set({ labels: rows })}
          hint="For people and programs to find it by."
        />
      </MutationForm>
    </Section>
  );
};

const LONGEST_DRAIN_S = 600;

const drainProblemOf = (seconds: number): string =>
  Number.isInteger(seconds) && seconds >= 1 && seconds <= LONGEST_DRAIN_S
    ? ''
    : `Give whole seconds from 1 to ${LONGEST_DRAIN_S}, or nothing for 25.`;

const REVERTS = { environment: null, back: true, stays: false } as const;
const wordOf = (autoRevert: boolean | null): keyof typeof REVERTS =>
  autoRevert === null ? 'environment' : autoRevert ? 'back' : 'stays';

const same = (a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean =>
  Object.keys({ ...a, ...b }).every((key) => a[key] === b[key]);

const MAX_SHOWN = 12;

/** Which nodes would run it, while the selector is typed. */
const MatchingNodes = ({ env, selector }: { env: string; selector: Readonly<Record<string, string>> }) => {
  const nodes = useQuery(queries.nodes(env));
  const list: readonly NodeSummary[] = nodes.data ?? [];
  const matching = list.filter(({ labels }) => matchesSelector(selector, labels));
  if (!nodes.data) return null;
  return (
    <div className="matching" role="status" aria-label="Nodes that match">
      <p>
        {plural(matching.length, 'node')} of {list.length} {matching.length === 1 ? 'matches' : 'match'}.
      </p>
      <ul className="node-chips">
        {matching.slice(0, MAX_SHOWN).map(({ id, name, status, labels }) => (
          <li key={id}>
            <Link to={paths.node(env, id)}>{name}</Link> <HealthBadge health={status} />{' '}
            <Labels labels={labels} limit={2} />
          </li>
        ))}
        {matching.length > MAX_SHOWN && <li className="muted">and {matching.length - MAX_SHOWN} more</li>}
      </ul>
    </div>
  );
};

/** Filing changes nothing that a manifest says, so any pipeline may be filed. */
const GroupForm = ({ pipeline }: { pipeline: Pipeline }) => {
  const { team, environment } = usePlace();
  const renew = useRenewPipelines();
  const groups = useQuery(queries.pipelineGroups(environment.id));
  const move = useMutation({
    mutationFn: (groupId: string) =>
      api.pipeline.update.mutate({ id: pipeline.id, groupId: groupId === '' ? null : groupId }),
    onSuccess: async () => {
      await renew();
      notify('Moved.');
    },
  });
  return (
    <Section title="Group">
      <div className="section-body form">
        <fieldset
          className="plain-fieldset"
          disabled={team.role === 'VIEWER' || move.isPending || !groups.data}
          data-tip={team.role === 'VIEWER' ? VIEWER_REASON : undefined}
        >
          <legend className="sr-only">Group of {pipeline.name}</legend>
          <SelectField
            label="Filed in"
            value={move.isPending ? move.variables : (pipeline.groupId ?? '')}
            onChange={(groupId) => move.mutate(groupId)}
            options={groupOptions(groups.data ?? [])}
            hint="Where it stands on the Pipelines page. Saved at once."
          />
        </fieldset>
        {move.isError && <InlineError error={move.error} />}
      </div>
    </Section>
  );
};

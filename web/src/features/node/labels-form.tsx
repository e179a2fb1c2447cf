import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { FleetNode } from '../../../../schemas/api/fleet/fleet.ts';
import { api } from '../../api/client.ts';
import { queries } from '../../api/queries/index.ts';
import { isProduction, usePlace } from '../../app/scope.tsx';
import { Notice } from '../../ui/feedback/notice.tsx';
import { Loaded, SkeletonBlock } from '../../ui/feedback/page-states.tsx';
import { notify } from '../../ui/feedback/toast.tsx';
import { LabelEditor } from '../../ui/form/label-editor.tsx';
import { type LabelRow, labelsOf, problemOfRows, rowsOf } from '../../ui/form/label-rows.ts';
import { MutationForm } from '../../ui/form/mutation-form.tsx';
import { type Foretold, foretell } from '../fleet/nodes/label-preview.ts';
import { useRenewFleet } from '../fleet/nodes/node-actions.ts';
import { listed } from '../fleet/nodes/nodes-form.tsx';
import { SourcedLabels } from '../ownership/sourced-labels.tsx';

interface Props {
  nodeId: string;
  close: () => void;
}

/** Labels that are set in the UI, over those that the agent and groups give. */
export const LabelsForm = ({ nodeId, close }: Props) => {
  const node = useQuery(queries.node(nodeId));
  return (
    <Loaded
      query={node}
      what="Its labels"
      skeleton={<SkeletonBlock height={220} label="Loading its labels" />}
    >
      {(data) => <Form node={data} close={close} />}
    </Loaded>
  );
};

const Form = ({ node, close }: { node: FleetNode; close: () => void }) => {
  const { environment } = usePlace();
  const renew = useRenewFleet();
  const groups = useQuery(queries.nodeGroups(environment.id));
  const pipelines = useQuery(queries.pipelines(environment.id));
  const [rows, setRows] = useState<LabelRow[]>(() => rowsOf(node.uiLabels));
  const labels = labelsOf(rows);
  const foretold = groups.data && pipelines.data && foretell(node, labels, groups.data, pipelines.data);
  const save = useMutation({
    mutationFn: async () => {
      // In words now: the node may be read again, as it is with these labels, before the answer comes.
      const effect = foretold ? ` ${inWords(foretold).join(' ')}` : '';
      await api.fleet.update.mutate({ id: node.id, labels });
      return effect;
    },
    onSuccess: async (effect) => {
      await renew();
      notify(`The labels of ${node.name} were saved.${effect}`);
      close();
    },
  });
  const problem = problemOfRows(rows);
  return (
    <MutationForm
      mutation={save}
      close={close}
      submit="Save the labels"
      working="Saving…"
      disabled={problem !== '' || same(labels, node.uiLabels)}
      confirm={foretold && foretold.stops.length > 0 && isProduction(environment) ? node.name : null}
      // It comes and goes while labels are typed.
      confirmField={{ mono: true, autoFocus: false }}
    >
      <dl className="facts label-sources">
        <Given name="From the agent" node={node} labels={node.agentLabels} over={labels} source="agent" />
        <Given name="From groups" node={node} labels={fromGroups(node)} over={labels} source="group" />
      </dl>
      <LabelEditor
        legend="Set here"
        noun="label"
        rows={rows}
        onChange={setRows}
        hint="One that is set here outranks the same key of the agent and of groups. A value may be empty."
      />
      {problem && <p className="field-problem">{problem}</p>}
      <Notice icon="pipelines" className="foretold" role="status" tone="moving">
        {foretold
          ? inWords(foretold).map((text) => <span key={text}>{text} </span>)
          : 'Looking up what would start and stop…'}
      </Notice>
    </MutationForm>
  );
};

interface GivenProps {
  name: string;
  node: FleetNode;
  labels: Readonly<Record<string, string>>;
  /** Those that outrank them. */
  over: Readonly<Record<string, string>>;
  source: 'agent' | 'group';
}

const Given = ({ name, node, labels, over, source }: GivenProps) => (
  <div className="fact">
    <dt>{name}</dt>
    <dd>
      <SourcedLabels
        labels={Object.entries(labels).map(([key, value]) => ({
          key,
          value,
          ...(key in over
            ? { overridden: `${key}=${over[key]} is set here` }
            : source === 'agent' && node.labelSources[key] === 'group'
              ? { overridden: `A group gives ${key}=${node.labels[key]}` }
              : {}),
        }))}
      />
    </dd>
  </div>
);

/** The effective labels: those that the UI overrides are not the node's own. */
const fromGroups = (node: FleetNode): Record<string, string> =>
  Object.fromEntries(Object.entries(node.labels).filter(([key]) => node.labelSources[key] === 'group'));

function inWords({ starts, stops, joins, leaves }: Foretold): string[] {
  const parts = [
    starts.length > 0 ? `Starts here: ${listed(starts)}.` : '',
    stops.length > 0 ? `Stops here: ${listed(stops)}.` : '',
    joins.length > 0 ? `Joins ${listed(joins)}.` : '',
    leaves.length > 0 ? `Leaves ${listed(leaves)}.` : '',
  ].filter(Boolean);
  return parts.length > 0 ? parts : ['No pipeline starts or stops by this.'];
}

const same = (a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean =>
  JSON.stringify(rowsOf(a)) === JSON.stringify(rowsOf(b));

/** What the events of a component have in them, as the samples of the last day showed it. */
import { useQuery } from '@tanstack/react-query';
import type { EventField } from '../../../../../schemas/agent/protocol.ts';
import { queries } from '../../../api/queries/index.ts';
import { vrlPath } from '../../../ui/code/vrl-paths.ts';
import { EmptyState, Loaded, SkeletonRows } from '../../../ui/feedback/page-states.tsx';
import { Copyable } from '../../../ui/primitives/copyable.tsx';
import { Time } from '../../../ui/primitives/time.tsx';
import { type Column, DataTable } from '../../../ui/table/data-table.tsx';
import { plural } from '../../../ui/text/format.ts';
import { WithHidden } from '../../../ui/text/json-tree.tsx';
import type { TapTarget } from './tap-targets.ts';

const SAMPLE_CHARS = 200;

const sampleText = ({ sample }: EventField): string =>
  sample === undefined ? '' : (JSON.stringify(sample) ?? '').slice(0, SAMPLE_CHARS);

const COLUMNS: Column<EventField>[] = [
  {
    key: 'path',
    title: 'Field',
    sort: ({ path }) => path,
    cell: ({ path }) => (
      <Copyable value={vrlPath(path)} label="path">
        {path}
      </Copyable>
    ),
  },
  { key: 'type', title: 'Type', width: '120px', sort: ({ type }) => type, cell: ({ type }) => type },
  {
    key: 'sample',
    title: 'Seen, for example',
    width: '40%',
    priority: 2,
    cell: (field) => {
      const text = sampleText(field);
      return text ? (
        <span className="mono" data-tip={text}>
          <WithHidden text={text} />
        </span>
      ) : (
        <span className="muted">–</span>
      );
    },
  },
];

export const Fields = ({ pipelineId, target }: { pipelineId: string; target: TapTarget }) => {
  const schemas = useQuery(queries.eventSchemas(pipelineId));
  return (
    <Loaded query={schemas} what="The fields" skeleton={<SkeletonRows rows={6} label="Loading the fields" />}>
      {(data) => {
        const schema = data.find(({ componentKey }) => componentKey === target.key);
        if (!schema || schema.fields.length === 0) {
          return (
            <EmptyState icon="columns" title={`No fields of ${target.key} are known yet`}>
              <p>They are read from samples of the last day: take samples of it first.</p>
            </EmptyState>
          );
        }
        return (
          <>
            <p className="muted">
              From {plural(schema.events, 'event')}, sampled last <Time at={schema.sampledAt} />. A click
              copies a path for VRL.
            </p>
            <DataTable
              caption={`Fields of ${target.key}`}
              noun="field"
              rows={schema.fields}
              columns={COLUMNS}
              rowKey={({ path }) => path}
              filterText={({ path, type }) => `${path} ${type}`}
              defaultSort="path"
            />
          </>
        );
      }}
    </Loaded>
  );
};

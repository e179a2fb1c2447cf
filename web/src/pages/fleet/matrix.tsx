import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Link } from 'react-router';
import type { NodeWithPipelines } from '../../../../schemas/api/fleet.ts';
import { queries } from '../../api/queries.ts';
import { useAddressParam } from '../../app/address.ts';
import { paths } from '../../app/paths.ts';
import { STATUS, TONE_ICON, type Tone } from '../../components/bits.tsx';
import { FilterPresets } from '../../components/filter-presets.tsx';
import { plural } from '../../components/format.ts';
import { Icon } from '../../components/icons.tsx';
import { Segmented } from '../../components/segmented.tsx';
import { Loaded, SkeletonBlock } from '../../components/states.tsx';
import { TextFilter } from '../../components/text-filter.tsx';

/** A browser draws so many at once without a pause; filters reach the others. */
const MAX_ROWS = 200;
const MAX_COLUMNS = 60;

const SHOWN = [
  { value: '', word: 'All' },
  { value: 'differs', word: 'Not as it should be' },
] as const;

/** Every node against every pipeline: an empty cell should not run it. */
export const FleetMatrix = ({ environmentId }: { environmentId: string }) => {
  const nodes = useQuery(queries.nodesWithPipelines(environmentId));
  return (
    <Loaded
      query={nodes}
      what="The matrix"
      skeleton={<SkeletonBlock height={560} label="Loading the matrix" />}
    >
      {(list) => <FilteredMatrix env={environmentId} nodes={list} />}
    </Loaded>
  );
};

type Run = NodeWithPipelines['pipelines'][number];

interface Cell {
  tone: Tone;
  text: string;
}

function cellOf(node: NodeWithPipelines, run: Run): Cell {
  const unheard = node.status === 'UNREACHABLE' || node.status === 'UNKNOWN';
  const { tone, word } = STATUS[run.status];
  const lag =
    run.version === run.desiredVersion
      ? ''
      : `, runs v${run.version ?? '–'}, should run v${run.desiredVersion ?? '–'}`;
  return {
    tone: unheard ? 'unknown' : lag && tone === 'ok' ? 'moving' : tone,
    text: `${run.pipelineName} on ${node.name}: ${unheard ? 'not known, its node is not heard; last ' : ''}${word.toLowerCase()}${lag}`,
  };
}

const matches = (name: string, filter: string): boolean =>
  filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => name.toLowerCase().includes(word));

const FilteredMatrix = ({ env, nodes }: { env: string; nodes: readonly NodeWithPipelines[] }) => {
  const [nodeFilter] = useAddressParam('node');
  const [pipelineFilter] = useAddressParam('pipeline');
  const [show, setShow] = useAddressParam('show', { replace: true });
  const { rows, columns } = useMemo(() => {
    const differing = (node: NodeWithPipelines, run: Run): boolean => cellOf(node, run).tone !== 'ok';
    const names = new Map<string, string>();
    const shownRows: NodeWithPipelines[] = [];
    for (const node of nodes) {
      if (!matches(node.name, nodeFilter)) continue;
      const runs = node.pipelines.filter(
        (run) => matches(run.pipelineName, pipelineFilter) && (show !== 'differs' || differing(node, run)),
      );
      if (runs.length === 0 && (show === 'differs' || pipelineFilter !== '')) continue;
      shownRows.push(node);
      for (const run of runs) names.set(run.pipelineId, run.pipelineName);
    }
    return {
      rows: shownRows.sort((a, b) => a.name.localeCompare(b.name)),
      columns: [...names].sort(([, a], [, b]) => a.localeCompare(b)),
    };
  }, [nodes, nodeFilter, pipelineFilter, show]);
  return (
    <div className="stack">
      <div className="matrix-bar">
        <TextFilter param="node" label="Filter nodes" />
        <TextFilter param="pipeline" label="Filter pipelines" />
        <Segmented label="Show" value={show} options={SHOWN} onChange={setShow} />
        <FilterPresets scope="fleet_matrix" params={['node', 'pipeline', 'show']} />
        <span className="table-count" role="status">
          {counted(rows.length, MAX_ROWS, 'node')}, {counted(columns.length, MAX_COLUMNS, 'pipeline')}
        </span>
      </div>
      {rows.length === 0 ? (
        <p className="calm-note muted panel">
          {show === 'differs' && !nodeFilter && !pipelineFilter
            ? 'Every node runs what it should.'
            : 'No node and pipeline are like that.'}
        </p>
      ) : (
        <Matrix env={env} rows={rows.slice(0, MAX_ROWS)} columns={columns.slice(0, MAX_COLUMNS)} />
      )}
    </div>
  );
};

const counted = (count: number, limit: number, noun: string): string =>
  count > limit ? `first ${limit} of ${plural(count, noun)}` : plural(count, noun);

interface MatrixProps {
  env: string;
  rows: readonly NodeWithPipelines[];
  columns: readonly (readonly [id: string, name: string])[];
}

const Matrix = ({ env, rows, columns }: MatrixProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls both ways, so the keyboard must reach it.
  <section className="matrix-frame" aria-label="Nodes by pipelines" tabIndex={0}>
    <table className="matrix">
      <caption className="sr-only">What runs where</caption>
      <thead>
        <tr>
          <th scope="col">Node</th>
          {columns.map(([id, name]) => (
            <th key={id} scope="col">
              <span>
                <Link to={paths.pipeline(env, id)}>{name}</Link>
              </span>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((node) => (
          <MatrixRow key={node.id} env={env} node={node} columns={columns} />
        ))}
      </tbody>
    </table>
  </section>
);

const MatrixRow = ({ env, node, columns }: Omit<MatrixProps, 'rows'> & { node: NodeWithPipelines }) => {
  const runs = new Map(node.pipelines.map((run) => [run.pipelineId, run]));
  return (
    <tr>
      <th scope="row">
        <Link to={paths.node(env, node.id)}>{node.name}</Link>
      </th>
      {columns.map(([id]) => {
        const run = runs.get(id);
        if (!run) return <td key={id} />;
        const { tone, text } = cellOf(node, run);
        return (
          <td key={id}>
            <Link
              to={paths.pipeline(env, id, { tab: 'nodes' })}
              className="matrix-cell"
              data-tone={tone}
              aria-label={text}
              data-tip={text}
            >
              <Icon name={TONE_ICON[tone]} size={12} />
            </Link>
          </td>
        );
      })}
    </tr>
  );
};

import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { NodeWithPipelines } from '../../../../schemas/api/fleet.ts';
import { queries } from '../../api/queries.ts';
import { paths } from '../../app/paths.ts';
import { STATUS, TONE_ICON } from '../../components/bits.tsx';
import { Icon } from '../../components/icons.tsx';
import { Loaded, SkeletonBlock } from '../../components/states.tsx';

/** Every node against every pipeline: an empty cell should not run it. */
export const FleetMatrix = ({ environmentId }: { environmentId: string }) => {
  const nodes = useQuery(queries.nodesWithPipelines(environmentId));
  return (
    <Loaded
      query={nodes}
      what="The matrix"
      skeleton={<SkeletonBlock height={560} label="Loading the matrix" />}
    >
      {(list) => <Matrix env={environmentId} nodes={list} />}
    </Loaded>
  );
};

const Matrix = ({ env, nodes }: { env: string; nodes: readonly NodeWithPipelines[] }) => {
  const names = new Map(
    nodes.flatMap(({ pipelines }) => pipelines.map((each) => [each.pipelineId, each.pipelineName])),
  );
  const columns = [...names].sort(([, a], [, b]) => a.localeCompare(b));
  const rows = [...nodes].sort((a, b) => a.name.localeCompare(b.name));
  return (
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
            <tr key={node.id}>
              <th scope="row">
                <Link to={paths.node(env, node.id)}>{node.name}</Link>
              </th>
              {columns.map(([id, name]) => {
                const run = node.pipelines.find(({ pipelineId }) => pipelineId === id);
                if (!run) return <td key={id} />;
                const unheard = node.status === 'UNREACHABLE' || node.status === 'UNKNOWN';
                const { tone, word } = STATUS[run.status];
                const lag =
                  run.version === run.desiredVersion
                    ? ''
                    : `, runs v${run.version ?? '–'}, should run v${run.desiredVersion ?? '–'}`;
                const shown = unheard ? 'unknown' : lag && tone === 'ok' ? 'moving' : tone;
                const text = `${name} on ${node.name}: ${unheard ? 'not known, its node is not heard; last ' : ''}${word.toLowerCase()}${lag}`;
                return (
                  <td key={id}>
                    <Link
                      to={paths.pipeline(env, id, { tab: 'nodes' })}
                      className="matrix-cell"
                      data-tone={shown}
                      aria-label={text}
                      data-tip={text}
                    >
                      <Icon name={TONE_ICON[shown]} size={12} />
                    </Link>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
};

/** The component that is selected in the graph: what flows through it, how it is configured, and a way to its events. */
import { Link } from 'react-router';
import { stringify } from 'yaml';
import type { ComponentThroughput, GraphNode, Pipeline } from '../../../../schemas/api/pipelines.ts';
import { paths } from '../../app/paths.ts';
import { Badge, Fact } from '../../components/bits.tsx';
import { formatCount, formatLatency, formatPercent, formatRate } from '../../components/format.ts';
import { Icon } from '../../components/icons.tsx';
import { YamlText } from '../../components/lazy-code.tsx';

interface Props {
  env: string;
  pipeline: Pipeline;
  node: GraphNode;
  close: () => void;
}

const KIND_WORD = { SOURCE: 'source', TRANSFORM: 'transform', SINK: 'sink' } as const;
const KIND_ICON = { SOURCE: 'source', TRANSFORM: 'transform', SINK: 'sink' } as const;

export const ComponentPanel = ({ env, pipeline, node, close }: Props) => {
  const { componentKey, kind, componentType, config, disabled } = node;
  const seen = pipeline.components.find((component) => component.componentKey === componentKey);
  return (
    <section className="component-panel" aria-label={`Component ${componentKey}`}>
      <header className="component-panel-head">
        <Icon name={KIND_ICON[kind]} />
        <h3>{node.displayName ?? componentKey}</h3>
        <span className="muted">
          {node.displayName && <span className="mono">{componentKey}, </span>}
          {KIND_WORD[kind]}, <span className="mono">{componentType}</span>
        </span>
        {disabled && <Badge tone="unknown">switched off</Badge>}
        <span className="component-panel-tools">
          {!disabled && (
            <Link
              to={paths.pipeline(env, pipeline.id, { tab: 'events', component: componentKey })}
              className="button"
              data-size="small"
            >
              <Icon name="search" size={14} /> See its events
            </Link>
          )}
          <button type="button" className="icon-button" aria-label={`Close ${componentKey}`} onClick={close}>
            <Icon name="cross" size={14} />
          </button>
        </span>
      </header>
      <Flow kind={kind} seen={seen} />
      {Object.keys(config).length > 0 ? (
        <YamlText text={stringify(config)} label={`Options of ${componentKey}`} />
      ) : (
        <p className="muted">It has no options of its own.</p>
      )}
    </section>
  );
};

const Flow = ({ kind, seen }: { kind: GraphNode['kind']; seen: ComponentThroughput | undefined }) => {
  if (!seen) return <p className="muted">No node has reported what flows through it yet.</p>;
  return (
    <dl className="facts">
      {kind !== 'SOURCE' && <Fact name="Events in">{formatRate(seen.receivedRate)}</Fact>}
      {kind !== 'SOURCE' && <Fact name="In since the start">{formatCount(seen.receivedEvents)}</Fact>}
      {kind !== 'SINK' && <Fact name="Events out">{formatRate(seen.sentRate)}</Fact>}
      {kind !== 'SINK' && <Fact name="Out since the start">{formatCount(seen.sentEvents)}</Fact>}
      <Fact name="Errors">
        {seen.errors > 0 ? <Badge tone="failed">{seen.errors.toLocaleString('en')}</Badge> : '0'}
      </Fact>
      {seen.discardedEvents > 0 && (
        <Fact name="Lost">
          <Badge tone="failed">{seen.discardedEvents.toLocaleString('en')}</Badge>
        </Fact>
      )}
      {seen.filteredEvents > 0 && <Fact name="Filtered">{formatCount(seen.filteredEvents)}</Fact>}
      {seen.utilization !== null && <Fact name="Utilization">{formatPercent(seen.utilization)}</Fact>}
      {seen.latencyMeanSeconds !== null && (
        <Fact name="Mean latency">{formatLatency(seen.latencyMeanSeconds)}</Fact>
      )}
    </dl>
  );
};

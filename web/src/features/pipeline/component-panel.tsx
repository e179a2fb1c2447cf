import { stringify } from 'yaml';
import type { GraphNode } from '../../../../schemas/api/pipelines/graph.ts';
import type { ComponentThroughput } from '../../../../schemas/api/pipelines/on-nodes.ts';
import type { Pipeline } from '../../../../schemas/api/pipelines/pipelines.ts';
import { paths } from '../../app/paths.ts';
import { YamlText } from '../../ui/code/lazy-code.tsx';
import { Badge } from '../../ui/primitives/badge.tsx';
import { ButtonLink, IconButton } from '../../ui/primitives/button.tsx';
import { Fact } from '../../ui/primitives/fact.tsx';
import { Icon } from '../../ui/primitives/icons.tsx';
import { formatCount, formatLatency, formatPercent, formatRate } from '../../ui/text/format.ts';

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
            <ButtonLink
              icon="search"
              to={paths.pipeline(env, pipeline.id, { tab: 'events', component: componentKey })}
              size="small"
            >
              See its events
            </ButtonLink>
          )}
          <IconButton icon="cross" size={14} label={`Close ${componentKey}`} onClick={close} />
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
      {seen.bufferEvents !== null && (
        <Fact name="In its buffer">
          {formatCount(seen.bufferEvents)}
          {seen.bufferFill !== null && `, ${formatPercent(seen.bufferFill)} full`}
        </Fact>
      )}
      {seen.latencyMeanSeconds !== null && (
        <Fact name="Mean latency">{formatLatency(seen.latencyMeanSeconds)}</Fact>
      )}
    </dl>
  );
};

import { isTable } from '../config/table.ts';
import type { DataType, LogEvent, Metric } from '../event.ts';

/** An event as VRL sees it; a metric is shown with the fields that Vector gives it. */
export function toVrl(event: LogEvent | Metric, kind: DataType): LogEvent {
  if (kind === 'log') return event as LogEvent;
  const metric = event as Metric;
  return {
    name: metric.name,
    namespace: metric.namespace ?? null,
    tags: metric.tags,
    timestamp: new Date(metric.timestamp).toISOString(),
    kind: metric.kind,
    type: metric.type,
  };
}

/** Takes VRL's result back: a log becomes what the program made, a metric keeps its value and its time. */
export function fromVrl(
  result: unknown,
  event: LogEvent | Metric,
  kind: DataType,
  messageKey: string,
): LogEvent | Metric {
  if (kind === 'log') return isTable(result) ? result : { [messageKey]: result };
  const metric = event as Metric;
  if (!isTable(result)) return metric;
  return {
    ...metric,
    name: typeof result.name === 'string' ? result.name : metric.name,
    namespace: typeof result.namespace === 'string' ? result.namespace : undefined,
    kind: result.kind === 'incremental' || result.kind === 'absolute' ? result.kind : metric.kind,
    tags: isTable(result.tags)
      ? Object.fromEntries(Object.entries(result.tags).map(([name, value]) => [name, String(value)]))
      : {},
  };
}

import type { Compiled, SinkNode } from '../config/compile.ts';
import type { Logger } from '../log.ts';

/** Asks the other end of a sink whether it is well: the reason if not, undefined where it is or none is asked. */
export async function checkHealth({ definition, healthcheck }: SinkNode): Promise<string | undefined> {
  const { enabled, uri } = healthcheck;
  if (!enabled || uri === undefined || !definition.checkHealth) return undefined;
  try {
    await definition.checkHealth(uri);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Checks all sinks that have something to ask, and logs what they say. True if none is unhealthy. */
export async function checkAllHealth({ settings, sinks }: Compiled, log: Logger): Promise<boolean> {
  if (!settings.healthchecks) return true;
  const target = log.child('headgate_engine::topology::builder');
  log.child('headgate_engine::topology::running').info('Running healthchecks.');
  const results = await Promise.all(
    sinks.map(async (node) => {
      if (!node.healthcheck.enabled) {
        target.info('Healthcheck disabled.');
        return true;
      }
      const reason = await checkHealth(node);
      if (reason === undefined) target.info('Healthcheck passed.');
      else logUnhealthy(target, node, reason);
      return reason === undefined;
    }),
  );
  return results.every((isHealthy) => isHealthy);
}

/** This one line of Vector's has its text under `msg`. */
export function logUnhealthy(log: Logger, { id, type }: SinkNode, reason: string): void {
  log.error('', {
    msg: 'Healthcheck failed.',
    error: reason,
    component_kind: 'sink',
    component_type: type,
    component_id: id,
  });
}

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
  const asked = sinks.filter(({ healthcheck }) => healthcheck.enabled && healthcheck.uri !== undefined);
  if (!settings.healthchecks || asked.length === 0) return true;
  const target = log.child('headgate_engine::topology::builder');
  target.info('Running healthchecks.');
  const results = await Promise.all(
    asked.map(async (node) => {
      const component = target.child('headgate_engine::topology::builder', {
        kind: 'sink',
        id: node.id,
        type: node.type,
      });
      const reason = await checkHealth(node);
      if (reason === undefined) component.info('Healthcheck passed.');
      else component.error('Healthcheck failed.', { error: reason });
      return reason === undefined;
    }),
  );
  return results.every((isHealthy) => isHealthy);
}

/** Which outputs of what is deployed can be listened to. */
import { parse } from 'yaml';
import { outputsOf } from '../../../schemas/pipelines/outputs.ts';
import { badRequest, preconditionFailed } from '../../platform/operation/errors.ts';

/** What is deployed of a pipeline. */
export interface DeployedPipeline {
  name: string;
  environmentId: string;
  /** Null where nothing is deployed. */
  configYaml: string | null;
  /** Components of its graph, switched off or not. */
  graphKeys: readonly string[];
}

interface Found {
  isSink: boolean;
  type: string;
  options: Record<string, unknown>;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function componentsOf(configYaml: string): Map<string, Found> {
  const config: unknown = parse(configYaml, { maxAliasCount: 1_000 });
  const found = new Map<string, Found>();
  for (const section of ['sources', 'transforms', 'sinks'] as const) {
    const components = isRecord(config) ? config[section] : null;
    if (!isRecord(components)) continue;
    for (const [key, component] of Object.entries(components)) {
      if (!isRecord(component)) continue;
      const { type, inputs: _, ...options } = component;
      found.set(key, { isSink: section === 'sinks', type: String(type), options });
    }
  }
  return found;
}

/** Why a key cannot be listened to; null when it can. */
function objectionTo(
  key: string,
  components: ReadonlyMap<string, Found>,
  pipeline: DeployedPipeline,
): string | null {
  const dot = key.indexOf('.');
  const name = dot < 0 ? key : key.slice(0, dot);
  const port = dot < 0 ? null : key.slice(dot + 1);
  const component = components.get(name);
  if (!component) {
    return pipeline.graphKeys.includes(name)
      ? `"${name}" is switched off, or has no input that is not: what is deployed is without it`
      : `"${name}" is no component of what is deployed`;
  }
  if (component.isSink) {
    return port === null
      ? null
      : `"${name}" is a sink and has no outputs; name it alone to see what comes in`;
  }
  const outputs = outputsOf(component);
  const named = outputs.named?.map((one) => `${name}.${one}`).join(', ') ?? '';
  if (port === null) return outputs.plain ? null : `"${name}" has named outputs only: ${named || 'none'}`;
  if (outputs.named === null || outputs.named.includes(port)) return null;
  return `"${name}" has no output "${port}"${named === '' ? '' : `; it has ${named}`}`;
}

/**
 * Those of `keys` that are sinks, which are listened to at their inputs.
 * @throws PRECONDITION_FAILED where nothing is deployed, BAD_REQUEST for a key that is not there
 */
export function sinksAmong(keys: readonly string[], pipeline: DeployedPipeline): string[] {
  if (pipeline.configYaml === null) {
    throw preconditionFailed(
      `"${pipeline.name}" is not deployed: there are no events to look at. Deploy it first`,
    );
  }
  const components = componentsOf(pipeline.configYaml);
  const objections = keys.flatMap((key) => objectionTo(key, components, pipeline) ?? []);
  if (objections.length > 0) {
    const more = objections.length > 5 ? `, and ${objections.length - 5} more` : '';
    throw badRequest(`componentKey: ${objections.slice(0, 5).join('; ')}${more}`);
  }
  return keys.filter((key) => components.get(key)?.isSink);
}

/** Decides which component outputs of the deployed version can be sampled. */
import { parse } from 'yaml';
import { outputsOf } from '../../../schemas/pipelines/outputs.ts';
import { badRequest, preconditionFailed } from '../../platform/operation/errors.ts';

/** The deployed version of a pipeline. */
export interface DeployedPipeline {
  name: string;
  environmentId: string;
  /** Null if nothing is deployed. */
  configYaml: string | null;
  /** Keys of all components of its graph, including disabled ones. */
  graphKeys: readonly string[];
}

interface ConfigComponent {
  isSink: boolean;
  type: string;
  options: Record<string, unknown>;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function componentsOf(configYaml: string): Map<string, ConfigComponent> {
  const config: unknown = parse(configYaml, { maxAliasCount: 1_000 });
  const found = new Map<string, ConfigComponent>();
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

/** Returns the reason why a key cannot be sampled; null if it can. */
function unavailableReason(
  key: string,
  components: ReadonlyMap<string, ConfigComponent>,
  pipeline: DeployedPipeline,
): string | null {
  const dot = key.indexOf('.');
  const name = dot < 0 ? key : key.slice(0, dot);
  const port = dot < 0 ? null : key.slice(dot + 1);
  const component = components.get(name);
  if (!component) {
    return pipeline.graphKeys.includes(name)
      ? `"${name}" is disabled, or all its inputs are; the deployed version does not contain it`
      : `"${name}" is not a component of the deployed version`;
  }
  if (component.isSink) {
    return port === null
      ? null
      : `"${name}" is a sink and has no outputs; use its name alone to see its input`;
  }
  const outputs = outputsOf(component);
  const outputNames = outputs.named?.map((output) => `${name}.${output}`).join(', ') ?? '';
  if (port === null)
    return outputs.plain ? null : `"${name}" has named outputs only: ${outputNames || 'none'}`;
  if (outputs.named === null || outputs.named.includes(port)) return null;
  return `"${name}" has no output "${port}"${outputNames === '' ? '' : `; it has ${outputNames}`}`;
}

/**
 * Returns the sinks among `keys`; a sink is sampled at its inputs.
 *
 * @throws PRECONDITION_FAILED if nothing is deployed, BAD_REQUEST for an unknown key
 */
export function sinksAmong(keys: readonly string[], pipeline: DeployedPipeline): string[] {
  if (pipeline.configYaml === null) {
    throw preconditionFailed(`"${pipeline.name}" is not deployed, so it has no events; deploy it first`);
  }
  const components = componentsOf(pipeline.configYaml);
  const problems = keys.flatMap((key) => unavailableReason(key, components, pipeline) ?? []);
  if (problems.length > 0) {
    const more = problems.length > 5 ? `, and ${problems.length - 5} more` : '';
    throw badRequest(`componentKey: ${problems.slice(0, 5).join('; ')}${more}`);
  }
  return keys.filter((key) => components.get(key)?.isSink);
}

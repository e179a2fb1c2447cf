/** Checks the components of one block as those of a pipeline are, without the other blocks: those may still be wrong. */
import type { ValidationError } from '../../../schemas/api/pipelines/validation.ts';
import { outputsOf } from '../../../schemas/pipelines/outputs.ts';
import type { Context } from '../../platform/operation/context.ts';
import { checkPipeline, compile, maskSensitiveIn, validationError, variablesNamedIn } from '../index.ts';
import { definitionOfComponents, findDrawingFault } from './migrated-definition.ts';
import type { TranslatedComponent } from './translation.ts';

/** Stand for the rest of the pipeline. */
const INPUT = 'migration_rest_input';
const OUTPUT = 'migration_rest_output';
/** Of one block, as JSON. */
const MAX_BYTES = 262_144;

/** Asks the engine, so it must not run in a transaction. An empty list: nothing is wrong. */
export async function checkBlock(
  ctx: Context,
  components: readonly TranslatedComponent[],
  others: readonly TranslatedComponent[],
): Promise<ValidationError[]> {
  if (components.length === 0) return [];
  const bytes = Buffer.byteLength(JSON.stringify(components));
  if (bytes > MAX_BYTES)
    return [
      {
        level: 'structure',
        message: `The block has ${bytes} bytes of components, the limit is ${MAX_BYTES}`,
      },
    ];
  const fault = findDrawingFault(components, others);
  if (fault !== null) return [{ level: 'structure', message: fault }];
  const definition = definitionOfComponents(amongOthers(components));
  const { configYaml } = compile(definition);
  const { findings } = await checkPipeline(definition, {
    secrets: variablesNamedIn(configYaml),
    engine: ctx.services.engine,
    engineLevel: { configYaml },
    nodeEngines: [],
    signal: ctx.signal,
  });
  // A checker may quote what it refuses.
  return findings.map((finding) => {
    const error = validationError(finding);
    return { ...error, message: maskSensitiveIn(components, error.message) };
  });
}

/** With a source for what comes from other blocks, and a sink for what goes to them. */
function amongOthers(components: readonly TranslatedComponent[]): TranslatedComponent[] {
  const own = new Set(components.map(({ componentKey }) => componentKey));
  const inside = components.map((component) => ({
    ...component,
    inputs: [
      ...new Set(component.inputs.map((input) => (own.has(input.split('.')[0] ?? '') ? input : INPUT))),
    ],
  }));
  const feeding = new Set(inside.flatMap(({ inputs }) => inputs.map((input) => input.split('.')[0] ?? '')));
  const loose = components
    .filter(({ componentKey, kind }) => kind !== 'SINK' && !feeding.has(componentKey))
    // A route has named outputs only, and may leave them unread.
    .filter(({ componentType: type, config }) => outputsOf({ type, options: config }).plain)
    .map(({ componentKey }) => componentKey);
  const source: TranslatedComponent = {
    ...{ componentKey: INPUT, kind: 'SOURCE', componentType: 'demo_logs', inputs: [] },
    config: { format: 'json' },
  };
  const sink: TranslatedComponent = {
    ...{ componentKey: OUTPUT, kind: 'SINK', componentType: 'blackhole', config: {} },
    inputs: [INPUT, ...loose],
  };
  return [source, ...inside, sink];
}

/** The types of a definition that an engine lacks, so that a test of it can be left out with the reason told. */
import type { Engine } from '../../controller/engine/index.ts';
import { componentsOf, type Definition } from '../../controller/pipelines/definition.ts';

const KIND = { sources: 'SOURCE', transforms: 'TRANSFORM', sinks: 'SINK' };

export async function typesLacking(engine: Engine, of: Definition): Promise<string[]> {
  const { components } = await engine.catalogue();
  return componentsOf(of)
    .filter(({ section, type }) => !components.some((one) => one.kind === KIND[section] && one.type === type))
    .map(({ section, type }) => `${type} in ${section}`);
}

/** Says in the test's own line why it is left out. */
export function leaveOut(test: Mocha.Context, lacking: readonly string[]): never {
  if (test.test) test.test.title += `: left out, the engine at hand lacks ${lacking.join(', ')}`;
  return test.skip();
}

/** The components of all blocks as one definition, which the checks and the compiler of pipelines read. Pure. */
import type { Definition } from '../index.ts';
import type { BlockTranslation, TranslatedComponent } from './translation.ts';

const SECTION = { SOURCE: 'sources', TRANSFORM: 'transforms', SINK: 'sinks' } as const;

export const componentsOf = (translations: readonly BlockTranslation[]): TranslatedComponent[] =>
  translations.flatMap(({ components }) => components);

export function definitionOfComponents(components: readonly TranslatedComponent[]): Definition {
  const section = (kind: TranslatedComponent['kind']) =>
    Object.fromEntries(
      components
        .filter((one) => one.kind === kind)
        .map(({ componentKey, componentType, inputs, config }) => [
          componentKey,
          { type: componentType, ...(kind === 'SOURCE' ? {} : { inputs: [...inputs] }), ...config },
        ]),
    );
  return {
    [SECTION.SOURCE]: section('SOURCE') as Definition['sources'],
    [SECTION.TRANSFORM]: section('TRANSFORM') as Definition['transforms'],
    [SECTION.SINK]: section('SINK') as Definition['sinks'],
    global: {},
    components: {},
    logLevel: 'info',
    deployed: true,
    dependsOn: [],
  } as Definition;
}

/**
 * Why components of a block cannot be drawn beside those of the other blocks; null where they can. Whether their options and
 * programs are right is another question.
 */
export function findDrawingFault(
  components: readonly TranslatedComponent[],
  others: readonly TranslatedComponent[],
): string | null {
  const taken = new Map(others.map(({ componentKey }) => [componentKey, 'another block']));
  for (const { componentKey: key, kind, config, inputs } of components) {
    if (key === '__proto__') return 'No component can have the key "__proto__"; choose another one';
    const other = taken.get(key);
    if (other) return `"${key}" is the key of a component of ${other}; give each component its own key`;
    taken.set(key, 'this block');
    for (const reserved of ['type', 'inputs'])
      if (Object.hasOwn(config, reserved))
        return `The config of "${key}" contains "${reserved}"; write it beside config, as componentType and inputs`;
    if (kind === 'SOURCE' && inputs.length > 0) return `The source "${key}" takes no inputs; remove them`;
    if (kind !== 'SOURCE' && inputs.length === 0)
      return `"${key}" lacks its inputs; name the components that feed it`;
    if (inputs.some((input) => /[*?[\]]/.test(input)))
      return `An input of "${key}" has a wildcard; name each component`;
    if (new Set(inputs).size < inputs.length)
      return `An input of "${key}" is listed twice; remove one of them`;
    if (inputs.some((input) => input.split('.')[0] === key))
      return `"${key}" takes its own output as input; name another component`;
  }
  return null;
}

/** The component whose VRL is written, its programs, and the event that they are tried on. */
import type { Pipeline } from '../../../../schemas/api/pipelines/pipelines.ts';
import { notFound } from '../../../platform/operation/errors.ts';
import { programsIn } from '../suggestions/programs.ts';
import { inputsOf } from '../suggestions/try-programs.ts';
import type { Section } from './sections.ts';

const PROGRAM_BYTES = 32_000;
const EVENT_BYTES = 12_000;

/** @throws NOT_FOUND */
export function vrlSections(
  pipeline: Pipeline,
  componentKey: string,
  { event, from }: { event: string | null; from: 'sample' | 'given' | 'none' },
): Section[] {
  const node = pipeline.nodes.find((one) => one.componentKey === componentKey);
  if (!node) throw notFound('Component');
  const inputs = inputsOf(pipeline, componentKey);
  const programs = programsIn(node);
  const about = [
    `Component: ${componentKey}, of the type ${node.componentType}`,
    `Fed by: ${inputs.join(', ') || 'nothing yet'}`,
    ...(programs.length === 0 ? ['It has no program yet.'] : []),
  ];
  return [
    { title: 'Component', text: about.join('\n'), maxBytes: 4_000 },
    ...programs.map(({ source, purpose, output }) => ({
      title: `Its ${purpose}${output === undefined ? '' : ` of the output ${output}`}`,
      text: source,
      maxBytes: PROGRAM_BYTES,
    })),
    {
      title: from === 'sample' ? 'The last sample of what feeds it' : 'The event of the user',
      ...{ text: event ?? '', isData: true as const, maxBytes: EVENT_BYTES },
    },
  ];
}

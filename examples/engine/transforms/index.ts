import type { Globals, Transform } from '../component.ts';
import type { OptionReader } from '../config/option-reader.ts';
import { configureDedupe } from './dedupe.ts';
import { configureFilter } from './filter.ts';
import { configureRemap } from './remap.ts';
import { configureRoute } from './route.ts';
import { configureSample } from './sample.ts';

/** Every transform by its `type`. */
export const TRANSFORMS: Record<string, (options: OptionReader, globals: Globals) => Transform> = {
  dedupe: configureDedupe,
  filter: configureFilter,
  remap: configureRemap,
  route: configureRoute,
  sample: configureSample,
};

import type { Globals, Transform } from '../component.ts';
import type { OptionReader } from '../config/option-reader.ts';
import { configureFilter } from './filter.ts';
import { configureRemap } from './remap.ts';
import { configureRoute } from './route.ts';

/** Every transform by its `type`. */
export const TRANSFORMS: Record<string, (options: OptionReader, globals: Globals) => Transform> = {
  filter: configureFilter,
  remap: configureRemap,
  route: configureRoute,
};

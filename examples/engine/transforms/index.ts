import type { ComponentType, Transform } from '../component.ts';
import { dedupe } from './dedupe.ts';
import { filter } from './filter.ts';
import { remap } from './remap.ts';
import { route } from './route.ts';
import { sample } from './sample.ts';

/** Every transform by its `type`. */
export const TRANSFORMS: Record<string, ComponentType<Transform>> = { dedupe, filter, remap, route, sample };

import type { Output } from './output.ts';

/** An output as `tap` knows it. */
export interface TapPoint {
  /** `id`, or `id.port` for a named output. */
  name: string;
  component: { component_id: string; component_kind: 'source' | 'transform'; component_type: string };
  /** Ids of the transforms and sinks that read it. */
  readers: string[];
  output: Output;
}

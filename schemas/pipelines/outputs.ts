/** The named outputs of component types: one rule for the checks of the server and for the ports that the editor draws. */

export interface Outputs {
  /** Whether there is the output that has no name. */
  plain: boolean;
  /** Null for types whose outputs are not known here: any name is taken there, the engine decides. */
  named: string[] | null;
}

/** An output without a name would be the default one. */
const entriesOf = (value: unknown): string[] =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.keys(value).filter((name) => name !== '')
    : [];
const namesOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.map((item: { name?: unknown } | null) => String(item?.name)) : [];

/** `options` is everything but `type` and `inputs`, as it is written: it may be of any shape. */
export function outputsOf({ type, options }: { type: string; options: Record<string, unknown> }): Outputs {
  switch (type) {
    case 'route': {
      const routes = entriesOf(options.route);
      return {
        plain: false,
        named: options.reroute_unmatched === false ? routes : [...routes, '_unmatched'],
      };
    }
    case 'exclusive_route':
      return { plain: false, named: [...namesOf(options.routes), '_unmatched'] };
    case 'remap':
      return { plain: true, named: options.reroute_dropped === true ? ['dropped'] : [] };
    case 'filter':
    case 'demo_logs':
    case 'file':
    case 'internal_metrics':
    case 'host_metrics':
      return { plain: true, named: [] };
    default:
      return { plain: true, named: null };
  }
}

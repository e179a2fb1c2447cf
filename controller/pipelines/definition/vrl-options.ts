/** Decides which options of components contain VRL. */

/** Options that hold a condition, which is VRL if it is a string. */
const CONDITIONS: ReadonlySet<string> = new Set([
  'condition',
  'starts_when',
  'ends_when',
  'flush_when',
  'forward_when',
]);

/** `path` leads from the component to the text; `parent` is the mapping or list that contains the text. */
export function isVrl(type: string, path: readonly string[], parent: unknown): boolean {
  const key = path.at(-1) ?? '';
  const { type: kind, strategy } = (parent ?? {}) as { type?: unknown; strategy?: unknown };
  if (key === 'source') {
    return (
      (type === 'remap' && path.length === 1) ||
      kind === 'vrl' ||
      strategy === 'custom' ||
      path.at(-2) === 'vrl'
    );
  }
  if (key === 'value' && kind === 'vrl') return true;
  if (CONDITIONS.has(key)) return true;
  if (path.length === 1) return key === 'exclude' && (type === 'sample' || type === 'throttle');
  return (
    (path.length === 2 && path[0] === 'route' && (type === 'route' || type === 'swimlanes')) ||
    // Unit tests of the engine list their conditions.
    path.at(-2) === 'conditions'
  );
}

import type { Static } from 'typebox';
import type { FieldChange } from '../../../../../schemas/api/delivery/git-plan.ts';
import { Diff } from '../../../ui/code/lazy-code.tsx';

type Field = Static<typeof FieldChange>;

/** Values that are longer, or have several lines, are compared line by line. */
const MAX_INLINE = 80;

/** A program is shown as it is written, a structure in lines. */
function textOf(json: string | null): string {
  if (json === null) return '';
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  } catch {
    // Values are cut at some length.
    return json;
  }
}

const isLong = (text: string): boolean => text.length > MAX_INLINE || text.includes('\n');

/** A default that a new object has says nothing. */
const saysSomething = ({ before, after }: Field): boolean =>
  before !== null || (after !== '""' && after !== '[]' && after !== '{}');

/** Field by field: what it was, what it becomes. */
export const FieldChanges = ({ fields, of }: { fields: readonly Field[]; of: string }) => {
  const shown = fields.filter(saysSomething);
  if (shown.length === 0) return null;
  return (
    <ul className="fields" aria-label={`Fields of ${of}`}>
      {shown.map((field) => (
        <FieldChangeRow key={field.pointer} field={field} of={of} />
      ))}
    </ul>
  );
};

const FieldChangeRow = ({ field: { pointer, before, after }, of }: { field: Field; of: string }) => {
  const [old, next] = [textOf(before), textOf(after)];
  return (
    <li>
      <span className="mono field-pointer">{pointer}</span>
      {isLong(old) || isLong(next) ? (
        <Diff
          before={old}
          after={next}
          beforeLabel={`${pointer} of ${of} now`}
          afterLabel={`${pointer} of ${of} as planned`}
        />
      ) : (
        <span className="field-values">
          {before === null ? (
            <span className="muted">added</span>
          ) : (
            <del className="mono">{old === '' ? '“”' : old}</del>
          )}
          <span aria-hidden="true">→</span>
          {after === null ? (
            <span className="muted">taken away</span>
          ) : (
            <ins className="mono">{next === '' ? '“”' : next}</ins>
          )}
        </span>
      )}
    </li>
  );
};

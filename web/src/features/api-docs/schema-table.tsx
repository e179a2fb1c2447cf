import { Fragment, useState } from 'react';
import { Icon } from '../../ui/primitives/icons.tsx';
import type { ApiDocument, Schema } from './document.ts';
import { type FieldOf, fieldsOf, ruleTexts, typeText } from './schema-text.ts';

interface Props {
  document: ApiDocument;
  schema: Schema;
  /** The caption, for screen readers. */
  label: string;
}

/** One row a field; what has fields of its own opens below. What is no object is one row. */
export const SchemaTable = ({ document, schema, label }: Props) => {
  const type = typeText(document, schema);
  const fields = fieldsOf(document, schema);
  const plain = !type.startsWith('list') && !type.startsWith('map') && fields.length > 0;
  const rows = plain ? fields : [{ name: '', schema, required: true }];
  return (
    <table className="schema" aria-label={label}>
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Type</th>
          <th scope="col">Rules</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((field) => (
          <FieldRows key={field.name} document={document} field={field} depth={0} alone={rows.length === 1} />
        ))}
      </tbody>
    </table>
  );
};

const FieldRows = ({
  document,
  field,
  depth,
  alone,
}: {
  document: ApiDocument;
  field: FieldOf;
  depth: number;
  alone: boolean;
}) => {
  const inner = fieldsOf(document, field.schema);
  // An only field is a wrapper: what is in it is what one came for.
  const [open, setOpen] = useState(alone);
  const name = field.name === '' ? 'the whole' : field.name;
  const rules = ruleTexts(document, field.schema);
  return (
    <Fragment>
      <tr>
        <th scope="row" style={{ paddingLeft: 8 + depth * 14 }}>
          {inner.length > 0 ? (
            <button
              type="button"
              className="schema-toggle"
              aria-expanded={open}
              onClick={() => setOpen(!open)}
            >
              <Icon name={open ? 'chevronDown' : 'chevronRight'} size={12} />
              <code>{name}</code>
            </button>
          ) : (
            <code className="schema-name">{name}</code>
          )}
          {!field.required && <span className="schema-optional"> optional</span>}
        </th>
        <td>{typeText(document, field.schema)}</td>
        <td>{rules.length > 0 ? rules.join('; ') : null}</td>
      </tr>
      {open &&
        inner.map((one) => (
          <FieldRows key={one.name} document={document} field={one} depth={depth + 1} alone={false} />
        ))}
    </Fragment>
  );
};

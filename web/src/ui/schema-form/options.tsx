import { useId, useState } from 'react';
import { Icon } from '../primitives/icons.tsx';
import { YamlText } from './code-fields.tsx';
import type { Field } from './field-model.ts';
import { childPointer } from './form-context.ts';
import { OptionField } from './option-field.tsx';
import { type FormSchema, isPlain, type Plain } from './schema.ts';
import { unknownOptions, withOption, withUnknown } from './value.ts';

interface Props {
  field: Extract<Field, { kind: 'section' }>;
  options: Plain;
  onChange: (next: Plain) => void;
  pointer: string;
}

/** The options of a section: first what must be set, is set or is often wanted; the others folded; then unknown ones. */
export const Options = ({ field, options, onChange, pointer }: Props) => {
  const id = useId();
  const known = field.properties.map(([name]) => name);
  // What is shown when the form opens stays where it is, also when it is emptied.
  const [shown] = useState(
    () =>
      new Set(
        field.properties
          .filter(
            ([name, schema]) =>
              field.required.includes(name) || Object.hasOwn(options, name) || !isRare(schema),
          )
          .map(([name]) => name),
      ),
  );
  const { required } = field;
  const sorted = [...field.properties].sort(
    ([a], [b]) => Number(required.includes(b)) - Number(required.includes(a)),
  );
  const rare = sorted.filter(([name]) => !shown.has(name) && !Object.hasOwn(options, name));
  const common = sorted.filter((entry) => !rare.includes(entry));
  const unknown = unknownOptions(options, known);
  const [hadUnknown] = useState(() => Object.keys(unknown).length > 0);
  const fieldFor = ([name, schema]: [string, FormSchema]) => (
    <OptionField
      key={name}
      name={name}
      schema={schema}
      value={options[name]}
      required={required.includes(name)}
      pointer={childPointer(pointer, name)}
      onChange={(next) => onChange(withOption(options, name, next))}
    />
  );
  return (
    <>
      {common.map(fieldFor)}
      {rare.length > 0 && (
        <details className="option-group option-rare">
          <summary>
            <Icon name="chevronRight" size={12} />
            More options
            <span className="muted option-summary">{rare.length}</span>
          </summary>
          <div className="option-body">{rare.map(fieldFor)}</div>
        </details>
      )}
      {(hadUnknown || Object.keys(unknown).length > 0) && (
        <div className="field option" data-option={pointer}>
          <span className="option-label" id={`${id}-unknown`}>
            Other options
          </span>
          <YamlText
            label="Other options as YAML"
            value={Object.keys(unknown).length > 0 ? unknown : undefined}
            pointer={`${pointer}/`}
            check={(value) =>
              value === undefined || isPlain(value) ? '' : 'Write options as a map, such as name: value.'
            }
            onChange={(next) => onChange(withUnknown(options, known, isPlain(next) ? next : {}))}
          />
          <span className="field-hint">What the engine’s schema does not tell of is kept as it is.</span>
        </div>
      )}
    </>
  );
};

const isRare = (schema: FormSchema): boolean => schema['x-advanced'] === true || schema.deprecated === true;

/** Fields that hold fields: sections, lists, and one of several forms. */
import { useId } from 'react';
import { Button } from '../primitives/button.tsx';
import { About, type FieldProps, OptionName, ProblemLines } from './field-frame.tsx';
import { type Arm, armAt, carryOver, type Field, initialOf } from './field-model.ts';
import { countWord, Fold, RemoveButton } from './fold.tsx';
import { childPointer, useForm } from './form-context.ts';
import { OptionField } from './option-field.tsx';
import { Options } from './options.tsx';
import { type FormSchema, isPlain } from './schema.ts';
import { inOneLine, unlessEmpty, withItem, withoutItem } from './value.ts';

type SectionProps = FieldProps & { field: Extract<Field, { kind: 'section' }> };

export const SectionField = ({ field, ...props }: SectionProps) => {
  const { value, required, onChange, pointer } = props;
  const options = isPlain(value) ? value : {};
  const count = Object.keys(options).length;
  return (
    <Fold {...props} open={required || count > 0} summary={count > 0 ? `${count} set` : 'not set'}>
      <Options
        field={field}
        options={options}
        pointer={pointer}
        onChange={(next) => onChange(required ? next : unlessEmpty(next))}
      />
    </Fold>
  );
};

export const ListField = ({ items, ...props }: FieldProps & { items: FormSchema }) => {
  const { name, schema, value, onChange, pointer, required } = props;
  const { readOnly } = useForm();
  const list = Array.isArray(value) ? value : [];
  const set = (next: unknown[]): void => onChange(required ? next : unlessEmpty(next));
  const fallback = value === undefined && schema.default !== undefined ? inOneLine(schema.default) : '';
  return (
    <Fold
      {...props}
      open={required || list.length > 0}
      summary={fallback ? `${fallback} (default)` : countWord(list.length)}
    >
      {list.map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: items of a list have no identity but their place.
        <div key={index} className="option-row">
          <OptionField
            name={`${name} ${index + 1}`}
            schema={items}
            value={item}
            required={false}
            pointer={childPointer(pointer, index)}
            onChange={(next) => set(withItem(list, index, next ?? initialOf(items)))}
          />
          {!readOnly && (
            <RemoveButton what={`${name} ${index + 1}`} onClick={() => set(withoutItem(list, index))} />
          )}
        </div>
      ))}
      {!readOnly && (
        <Button icon="plus" size="small" onClick={() => set([...list, initialOf(items)])}>
          Add to {name}
        </Button>
      )}
    </Fold>
  );
};

interface ChoiceProps extends FieldProps {
  arms: readonly Arm[];
  language?: string | undefined;
}

const UNSET = 'unset';

/** Which form the value has, and the fields of that form. */
export const ChoiceField = ({ arms, language, ...props }: ChoiceProps) => {
  const { name, schema, value, onChange, pointer, required } = props;
  const { readOnly } = useForm();
  const id = useId();
  const inherited = schema['x-language'] ?? language;
  const isText = arms[0]?.schema.type === 'string';
  // A text can be begun without choosing first.
  const chosen = value === undefined && isText && (required || inherited) ? 0 : armAt(arms, value);
  const arm = value === undefined && chosen < 0 ? undefined : arms[chosen];
  return (
    <div className="option option-choice" data-option={pointer}>
      <span className="option-head">
        <label htmlFor={id} className="option-label">
          <OptionName name={name} schema={schema} required={required} />
          <span className="sr-only">, form</span>
        </label>
        <select
          id={id}
          disabled={readOnly}
          value={arm ? chosen : UNSET}
          aria-describedby={`${id}-about`}
          onChange={(event) => {
            const next = arms[Number(event.target.value)];
            onChange(event.target.value === UNSET || !next ? undefined : carryOver(value, next));
          }}
        >
          {(!required || !arm) && <option value={UNSET}>{required ? 'Choose…' : 'Not set'}</option>}
          {arms.map((each, index) => (
            <option key={each.title} value={index}>
              {each.title}
            </option>
          ))}
        </select>
      </span>
      {arm ? (
        <OptionField
          name={name}
          schema={{
            ...arm.schema,
            title: undefined,
            description: arm.schema.description ?? schema.description,
          }}
          value={value}
          onChange={onChange}
          pointer={pointer}
          required={required}
          language={inherited}
          inner
        />
      ) : (
        <>
          <ProblemLines id={`${id}-problem`} pointer={pointer} />
          <About id={`${id}-about`} schema={schema} />
        </>
      )}
    </div>
  );
};

/** Fields of one value: text, number, yes or no, one of a few words. */
import { useEffect, useId, useState } from 'react';
import { takesBack } from './draft.ts';
import { FieldFrame, type FieldProps } from './field-frame.tsx';
import { isVariable, numberProblem, type Word } from './field-model.ts';
import { useForm } from './form-context.ts';
import { inOneLine } from './value.ts';

const placeholderOf = ({ default: fallback }: { default?: unknown }): string | undefined =>
  fallback === undefined || fallback === '' ? undefined : `${inOneLine(fallback)} (default)`;

export const TextField = ({ name, schema, value, onChange, pointer, required }: FieldProps) => {
  const { readOnly, secrets } = useForm();
  const list = useId();
  const text = typeof value === 'string' ? value : '';
  const isSensitive = schema['x-sensitive'] === true;
  const offers = isSensitive ? secrets : (schema['x-suggestions'] ?? []);
  const writtenOut = isSensitive && text !== '' && !isVariable(text);
  const props = {
    value: text,
    readOnly,
    placeholder: placeholderOf(schema),
    required,
    onChange: (event: { target: { value: string } }) =>
      onChange(event.target.value === '' ? undefined : event.target.value),
  };
  return (
    <FieldFrame
      name={name}
      schema={schema}
      required={required}
      pointer={pointer}
      problem={
        writtenOut
          ? 'A credential that is written out is kept in every version. Name a secret instead.'
          : undefined
      }
    >
      {({ id, describedBy, invalid }) => (
        <>
          {text.includes('\n') ? (
            <textarea
              {...props}
              id={id}
              rows={Math.min(text.split('\n').length + 1, 12)}
              className="mono"
              aria-describedby={describedBy}
              aria-invalid={invalid || undefined}
            />
          ) : (
            <input
              {...props}
              id={id}
              type="text"
              className="mono"
              autoComplete="off"
              spellCheck={false}
              list={offers.length > 0 ? list : undefined}
              aria-describedby={describedBy}
              aria-invalid={invalid || undefined}
            />
          )}
          {offers.length > 0 && (
            <datalist id={list}>
              {offers.map((offer) => (
                <option key={offer} value={offer} />
              ))}
            </datalist>
          )}
        </>
      )}
    </FieldFrame>
  );
};

export const NumberField = ({ name, schema, value, onChange, pointer, required }: FieldProps) => {
  const { readOnly, onDraft } = useForm();
  const written = value === undefined ? '' : String(value);
  const [text, setText] = useState(written);
  const problem = numberProblem(schema, text);
  // What is written elsewhere shows; a text that is no number yet stays until it is one.
  useEffect(() => setText(written), [written]);
  useEffect(() => {
    onDraft(pointer, problem === '' ? '' : `${name}: ${problem}`);
    return () => onDraft(pointer, '');
  }, [onDraft, pointer, name, problem]);
  return (
    <FieldFrame name={name} schema={schema} required={required} pointer={pointer} problem={problem}>
      {({ id, describedBy, invalid }) => (
        <input
          id={id}
          type="text"
          inputMode="decimal"
          className="mono"
          autoComplete="off"
          value={text}
          readOnly={readOnly}
          required={required}
          placeholder={placeholderOf(schema)}
          aria-describedby={describedBy}
          aria-invalid={invalid || undefined}
          onChange={(event) => {
            const next = event.target.value;
            setText(next);
            if (numberProblem(schema, next) !== '') return;
            onChange(next === '' ? undefined : isVariable(next) ? next : Number(next));
          }}
          onKeyDown={(event) => takesBack(event, problem, () => setText(written))}
          onBlur={() => problem === '' && setText(written)}
        />
      )}
    </FieldFrame>
  );
};

const UNSET = 'unset';

interface SelectProps extends FieldProps {
  words: readonly Word[];
}

/** The words of the schema, and what is written where it is none of them. */
const SelectOf = ({ name, schema, value, onChange, pointer, required, words }: SelectProps) => {
  const { readOnly } = useForm();
  const known = words.findIndex((word) => word.value === value);
  const about = words[known]?.about;
  const fallback = schema.default === undefined ? '' : inOneLine(schema.default);
  return (
    <FieldFrame name={name} schema={schema} required={required} pointer={pointer}>
      {({ id, describedBy, invalid }) => (
        <>
          <select
            id={id}
            value={value === undefined ? UNSET : known}
            disabled={readOnly}
            required={required}
            aria-describedby={`${id}-word ${describedBy}`}
            aria-invalid={invalid || undefined}
            onChange={(event) => {
              const chosen = event.target.value;
              onChange(chosen === UNSET ? undefined : words[Number(chosen)]?.value);
            }}
          >
            <option value={UNSET}>
              {fallback === '' ? (required ? 'Choose…' : 'Not set') : `${fallback} (default)`}
            </option>
            {words.map((word, index) => (
              <option key={inOneLine(word.value)} value={index}>
                {inOneLine(word.value)}
              </option>
            ))}
            {value !== undefined && known < 0 && (
              <option value={known}>{`${inOneLine(value)} (not known here)`}</option>
            )}
          </select>
          {about && about !== schema.description && (
            <span id={`${id}-word`} className="field-hint">
              {about}
            </span>
          )}
        </>
      )}
    </FieldFrame>
  );
};

const TRUTH: readonly Word[] = [
  { value: true, about: '' },
  { value: false, about: '' },
];

export const WordsField = SelectOf;
export const BooleanField = (props: FieldProps) => <SelectOf {...props} words={TRUTH} />;

/** A field of entries with names that people choose. */
import { useState } from 'react';
import { Button } from '../primitives/button.tsx';
import type { FieldProps } from './field-frame.tsx';
import { initialOf } from './field-model.ts';
import { countWord, Fold, RemoveButton } from './fold.tsx';
import { childPointer, useForm } from './form-context.ts';
import { OptionField } from './option-field.tsx';
import { type FormSchema, isPlain } from './schema.ts';
import { renameEntry, unlessEmpty, withOption } from './value.ts';

export const MapField = ({ values, ...props }: FieldProps & { values: FormSchema }) => {
  const { name, schema, value, onChange, pointer, required } = props;
  const { readOnly } = useForm();
  const [fresh, setFresh] = useState('');
  const map = isPlain(value) ? value : {};
  const keys = Object.keys(map);
  const set = (next: Record<string, unknown>): void => onChange(required ? next : unlessEmpty(next));
  const add = (): void => {
    if (fresh === '' || keys.includes(fresh)) return;
    set(withOption(map, fresh, initialOf(values)));
    setFresh('');
  };
  return (
    <Fold
      {...props}
      open={required || keys.length > 0 || schema['x-language'] !== undefined}
      summary={countWord(keys.length)}
    >
      {keys.map((key, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a key that is renamed must keep the focus.
        <div key={index} className="option-entry">
          <span className="option-row">
            <EntryKey
              name={key}
              of={name}
              taken={keys}
              onRename={(next) => set(renameEntry(map, key, next))}
            />
            {!readOnly && <RemoveButton what={key} onClick={() => set(withOption(map, key, undefined))} />}
          </span>
          <OptionField
            name={key}
            schema={values}
            value={map[key]}
            required={false}
            language={schema['x-language']}
            pointer={childPointer(pointer, key)}
            onChange={(next) => set(withOption(map, key, next ?? initialOf(values)))}
          />
        </div>
      ))}
      {!readOnly && (
        <span className="option-row">
          <input
            type="text"
            className="mono"
            value={fresh}
            aria-label={`New entry of ${name}`}
            placeholder="name"
            maxLength={200}
            onChange={(event) => setFresh(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return;
              event.preventDefault();
              add();
            }}
          />
          <Button icon="plus" size="small" disabled={fresh === '' || keys.includes(fresh)} onClick={add}>
            Add to {name}
          </Button>
        </span>
      )}
    </Fold>
  );
};

interface KeyProps {
  name: string;
  of: string;
  taken: readonly string[];
  onRename: (next: string) => void;
}

/** The key of an entry; it is another one when the field is left, or by Enter. */
const EntryKey = ({ name, of, taken, onRename }: KeyProps) => {
  const { readOnly } = useForm();
  const [text, setText] = useState(name);
  const [known, setKnown] = useState(name);
  if (known !== name) {
    setKnown(name);
    setText(name);
  }
  const isFree = text === name || (text !== '' && !taken.includes(text));
  const commit = (): void => {
    if (!isFree) setText(name);
    else if (text !== name) onRename(text);
  };
  return (
    <input
      type="text"
      className="mono"
      value={text}
      readOnly={readOnly}
      aria-label={`Name of ${name} in ${of}`}
      aria-invalid={!isFree || undefined}
      maxLength={200}
      onChange={(event) => setText(event.target.value)}
      onBlur={commit}
      onKeyDown={(event) => event.key === 'Enter' && commit()}
    />
  );
};

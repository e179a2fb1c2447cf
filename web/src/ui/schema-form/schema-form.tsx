/** A form for an object that a JSON Schema describes. What the schema does not know is kept. */
import './schema-form.css';
import { YamlText } from './code-fields.tsx';
import { fieldOf, fits } from './field-model.ts';
import { type FormContext, FormProvider } from './form-context.ts';
import { OptionField } from './option-field.tsx';
import { Options } from './options.tsx';
import { type FormSchema, isPlain, type Plain } from './schema.ts';

interface Props {
  schema: FormSchema;
  value: Plain;
  onChange: (next: Plain) => void;
  /** What the fields have in common; keep it the same object while nothing of it changes. */
  context: FormContext;
  /** For people who listen: whose options these are. */
  label: string;
}

export const SchemaForm = ({ schema, value, onChange, context, label }: Props) => {
  const field = fieldOf(schema);
  const set = (next: unknown): void => onChange(isPlain(next) ? next : {});
  return (
    <FormProvider value={context}>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would draw a frame and a legend; the label is enough. */}
      <div className="schema-form" role="group" aria-label={label}>
        {field.kind === 'section' ? (
          <Options field={field} options={value} onChange={onChange} pointer="" />
        ) : field.kind === 'choice' && fits(field, value) ? (
          <OptionField
            name="Form"
            schema={{ ...schema, title: undefined, description: undefined }}
            value={value}
            onChange={set}
            pointer=""
            required
          />
        ) : (
          <YamlText
            label={`${label} as YAML`}
            value={Object.keys(value).length > 0 ? value : undefined}
            onChange={set}
            pointer=""
            check={refuseOther}
          />
        )}
      </div>
    </FormProvider>
  );
};

export const refuseOther = (value: unknown): string =>
  value === undefined || isPlain(value) ? '' : 'Write options as a map, such as name: value.';

import { VrlField, YamlField } from './code-fields.tsx';
import type { FieldProps } from './field-frame.tsx';
import { fieldOf, fits } from './field-model.ts';
import { ChoiceField, ListField, SectionField } from './group-fields.tsx';
import { MapField } from './map-field.tsx';
import { Options } from './options.tsx';
import { BooleanField, NumberField, TextField, WordsField } from './scalar-fields.tsx';
import { isPlain } from './schema.ts';
import { unlessEmpty } from './value.ts';

interface Props extends FieldProps {
  /** Of the map or choice around it. */
  language?: string | undefined;
  /** Inside of a choice, which has the name and folds nothing. */
  inner?: boolean;
}

/** The field that fits the schema and the value. */
export const OptionField = ({ language, inner = false, ...props }: Props) => {
  const { schema, value, required, onChange, pointer } = props;
  const field = fieldOf(schema, language);
  if (!fits(field, value)) return <YamlField {...props} />;
  switch (field.kind) {
    case 'text':
      return field.language ? <VrlField {...props} /> : <TextField {...props} />;
    case 'number':
      return <NumberField {...props} />;
    case 'boolean':
      return <BooleanField {...props} />;
    case 'words':
      return <WordsField {...props} words={field.words} />;
    case 'section':
      if (!inner) return <SectionField {...props} field={field} />;
      return (
        <div className="option-body">
          <Options
            field={field}
            options={isPlain(value) ? value : {}}
            pointer={pointer}
            onChange={(next) => onChange(required ? next : unlessEmpty(next))}
          />
        </div>
      );
    case 'map':
      return <MapField {...props} values={field.values} />;
    case 'list':
      return <ListField {...props} items={field.items} />;
    case 'choice':
      return <ChoiceField {...props} arms={field.arms} language={language} />;
    case 'yaml':
      return <YamlField {...props} />;
  }
};

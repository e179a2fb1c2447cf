/** Fields of a text with lines: VRL programs, and YAML for what no other field can show. */
import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { useEffect, useMemo, useRef, useState } from 'react';
import { type CodeHandle, CodeInput, type CodeProblem } from '../code/code-editor.tsx';
import { completePaths } from '../code/path-completion.ts';
import { InsertSnippet } from '../code/snippet-select.tsx';
import { completionsAt } from './complete.ts';
import { FieldFrame, type FieldProps } from './field-frame.tsx';
import { useForm, useProblems } from './form-context.ts';
import type { FormSchema } from './schema.ts';
import { isEqual } from './value.ts';
import { fromYaml, type TextProblem, toYaml } from './yaml-value.ts';

const inGutter = (problems: readonly Partial<TextProblem>[]): CodeProblem[] =>
  problems.map(({ message = '', line = 1, column = 1 }) => ({ severity: 'error', message, line, column }));

export const VrlField = ({ name, schema, value, onChange, pointer, required }: FieldProps) => {
  const { readOnly, snippets, paths } = useForm();
  const handle = useRef<CodeHandle>(null);
  const problems = useProblems(pointer);
  const marks = useMemo(() => inGutter(problems), [problems]);
  const text = typeof value === 'string' ? value : '';
  return (
    <FieldFrame name={name} schema={schema} required={required} pointer={pointer} unlabelled>
      {() => (
        <>
          {!readOnly && (
            <InsertSnippet snippets={snippets} insert={(piece) => handle.current?.insert(piece)} />
          )}
          <CodeInput
            label={name}
            language="vrl"
            value={text}
            onChange={(next) => next !== text && onChange(next === '' ? undefined : next)}
            problems={marks}
            readOnly={readOnly}
            complete={paths && completePaths(paths)}
            handle={handle}
          />
        </>
      )}
    </FieldFrame>
  );
};

interface YamlTextProps {
  label: string;
  value: unknown;
  onChange: (next: unknown) => void;
  pointer: string;
  /** What else is wrong with a value that can be read; empty when nothing is. */
  check?: (value: unknown) => string;
  /** Of the value: what may be written is offered. */
  schema?: FormSchema;
}

/** The text stays as it is written while it can be read, and follows the value when that changes elsewhere. */
export const YamlText = ({ label, value, onChange, pointer, check, schema }: YamlTextProps) => {
  const { readOnly, onDraft } = useForm();
  const [text, setText] = useState(() => toYaml(value));
  const [problems, setProblems] = useState<readonly TextProblem[]>([]);
  const reported = useRef(value);
  useEffect(() => {
    if (isEqual(reported.current, value)) return;
    reported.current = value;
    setText(toYaml(value));
    setProblems([]);
  }, [value]);
  const [first] = problems;
  const message = first ? `${label}: line ${first.line}: ${first.message}` : '';
  useEffect(() => {
    onDraft(pointer, message);
    return () => onDraft(pointer, '');
  }, [onDraft, pointer, message]);
  const marks = useMemo(() => inGutter(problems), [problems]);
  const read = (next: string): void => {
    if (next === text) return;
    setText(next);
    const { value: written, problems: found } = fromYaml(next);
    const refusal = found.length === 0 ? (check?.(written) ?? '') : '';
    setProblems(refusal === '' ? found : [{ line: 1, column: 1, message: refusal }]);
    if (found.length > 0 || refusal !== '') return;
    reported.current = written;
    onChange(written);
  };
  return (
    <>
      <CodeInput
        label={label}
        language="yaml"
        value={text}
        onChange={read}
        problems={marks}
        readOnly={readOnly}
        complete={schema && ((context) => completing(schema, context))}
      />
      {first && (
        <p className="field-problem" role="status">
          Line {first.line}: {first.message}
        </p>
      )}
    </>
  );
};

function completing(schema: FormSchema, context: CompletionContext): CompletionResult | null {
  const found = completionsAt(schema, context.state.sliceDoc(0, context.pos));
  if (!found || (found.from === context.pos && !context.explicit)) return null;
  return {
    from: found.from,
    options: found.options.map(({ label, kind, about }) => ({
      label,
      info: about || undefined,
      apply: kind === 'option' ? `${label}: ` : label,
    })),
    validFor: /^[\w.-]*$/,
  };
}

export const YamlField = ({ name, schema, value, onChange, pointer, required }: FieldProps) => (
  <FieldFrame name={name} schema={schema} required={required} pointer={pointer} unlabelled>
    {() => <YamlText label={`${name} as YAML`} value={value} onChange={onChange} pointer={pointer} />}
  </FieldFrame>
);

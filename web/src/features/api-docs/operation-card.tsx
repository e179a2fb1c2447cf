import { CommandBlock } from '../../ui/primitives/command-block.tsx';
import { Icon } from '../../ui/primitives/icons.tsx';
import { CodeText } from '../../ui/text/code-text.tsx';
import { curlLines } from './curl.ts';
import type { ApiDocument, Operation, Parameter, Schema } from './document.ts';
import { SchemaTable } from './schema-table.tsx';
import { ruleTexts, typeText } from './schema-text.ts';

interface Props {
  document: ApiDocument;
  operation: Operation;
  open: boolean;
  setOpen: (open: boolean) => void;
}

/** Folded, one line; what is inside is made when it opens. */
export const OperationCard = ({ document, operation, open, setOpen }: Props) => {
  const { id, method, path, summary } = operation;
  return (
    <article id={id} className="operation" aria-label={summary}>
      <h4>
        <button type="button" className="operation-line" aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon name={open ? 'chevronDown' : 'chevronRight'} size={12} />
          <span className="operation-method" data-method={method}>
            {method}
          </span>
          <code className="operation-path">{path}</code>
          <span className="operation-summary">{summary}</span>
        </button>
      </h4>
      {open && <Details document={document} operation={operation} />}
    </article>
  );
};

const Details = ({ document, operation }: Pick<Props, 'document' | 'operation'>) => {
  const { id, method, path, parameters, body, answers } = operation;
  return (
    <div className="operation-body">
      <p>
        <CodeText text={operation.description} />{' '}
        <a href={`#${id}`} className="operation-link">
          <Icon name="link" size={12} /> Link to <code>{id}</code>
        </a>
      </p>
      {parameters.length > 0 && (
        <Part title="Parameters">
          <Parameters document={document} parameters={parameters} />
          {parameters.flatMap((one) => {
            const input = inputOf(one);
            return input ? [<Input key={one.name} document={document} schema={input} />] : [];
          })}
        </Part>
      )}
      {body && (
        <Part title={body.required ? 'Body' : 'Body, optional'}>
          <SchemaTable document={document} schema={envelopedIn(operation, body.schema)} label="Body" />
        </Part>
      )}
      <Part title="Answers">
        {answers.map(({ status, description, schema }) => (
          <div key={status} className="answer">
            <p>
              <strong>{status}</strong> <CodeText text={description} />
            </p>
            {schema && <SchemaTable document={document} schema={schema} label={`Answer ${status}`} />}
          </div>
        ))}
      </Part>
      <Part title="Example">
        <CommandBlock
          label={`Request of ${method} ${path}`}
          lines={curlLines(operation, window.location.origin)}
        />
        {answers.map(
          ({ status, example }) =>
            example !== undefined && (
              <CommandBlock
                key={status}
                label={`Answer ${status} of ${method} ${path}`}
                lines={JSON.stringify(example, null, 2).split('\n')}
              />
            ),
        )}
      </Part>
    </div>
  );
};

const Part = ({ title, children }: { title: string; children: React.ReactNode }) => (
  <div className="operation-part">
    <h5>{title}</h5>
    {children}
  </div>
);

/** A procedure's input stands below `json`, in the query or in the body. */
const envelopedIn = ({ role }: Operation, schema: Schema): Schema =>
  role === null ? schema : (schema.properties?.json ?? schema);

const inputOf = (parameter: Parameter): Schema | undefined =>
  parameter.content?.['application/json']?.schema.properties?.json;

const Input = ({ document, schema }: { document: ApiDocument; schema: Schema }) => (
  <>
    <p className="muted">
      The input, below <code>json</code>:
    </p>
    <SchemaTable document={document} schema={schema} label="Input" />
  </>
);

const Parameters = ({
  document,
  parameters,
}: {
  document: ApiDocument;
  parameters: readonly Parameter[];
}) => (
  <table className="schema" aria-label="Parameters">
    <thead>
      <tr>
        <th scope="col">Name</th>
        <th scope="col">Type</th>
        <th scope="col">Meaning</th>
      </tr>
    </thead>
    <tbody>
      {parameters.map(({ name, in: place, required, description, schema }) => (
        <tr key={`${place} ${name}`}>
          <th scope="row">
            <code className="schema-name">{name}</code>
            <span className="schema-optional"> {required ? place : `${place}, optional`}</span>
          </th>
          <td>{schema ? typeText(document, schema) : 'JSON'}</td>
          <td>
            <CodeText text={description ?? ''} />{' '}
            {schema && <span className="muted">{ruleTexts(document, schema).join('; ')}</span>}
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

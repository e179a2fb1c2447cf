/** One component: what it is called, what it is connected to, and its options. */
import { useEffect, useId, useState } from 'react';
import { CodeText } from '../../../components/code-text.tsx';
import { Icon } from '../../../components/icons.tsx';
import { takesBack } from '../../../components/schema-form/draft.ts';
import { KIND_ICON } from './component-node.tsx';
import { ComponentOptions } from './component-options.tsx';
import { Connections } from './connections.tsx';
import { useEditor } from './editor-context.ts';
import { keyProblem, renameComponent, setDisabled, setTitle } from './edits.ts';
import { type EditorNode, KIND_WORD } from './model.ts';
import { optionPointer, problemsOf } from './problems.ts';
import { SharedLink } from './shared-link.tsx';

interface Props {
  node: EditorNode;
  duplicate: () => void;
  remove: () => void;
}

export const ComponentInspector = ({ node, duplicate, remove }: Props) => {
  const { problems, readOnly } = useEditor();
  const own = problemsOf(problems, node).filter((problem) => optionPointer(problem, node) === '');
  return (
    <>
      <section className="inspector-part" aria-label="Component">
        <div className="inspector-head">
          <Icon name={KIND_ICON[node.kind]} />
          <h2>{node.componentKey}</h2>
          <span className="muted">
            {KIND_WORD[node.kind]}, <span className="mono">{node.componentType}</span>
          </span>
          {!readOnly && (
            <span className="inspector-tools">
              <button
                type="button"
                className="icon-button"
                aria-label={`Duplicate ${node.componentKey}`}
                onClick={duplicate}
              >
                <Icon name="copy" />
              </button>
              <button
                type="button"
                className="icon-button"
                aria-label={`Delete ${node.componentKey}`}
                onClick={remove}
              >
                <Icon name="trash" />
              </button>
            </span>
          )}
        </div>
        {own.length > 0 && (
          <ul className="field-problem" aria-label={`Problems of ${node.componentKey}`}>
            {own.map(({ message, path }) => (
              <li key={`${path} ${message}`}>
                <CodeText text={message} />
              </li>
            ))}
          </ul>
        )}
        <Identity node={node} />
      </section>
      <Connections node={node} />
      <SharedLink node={node} />
      <ComponentOptions node={node} />
    </>
  );
};

const Identity = ({ node }: { node: EditorNode }) => {
  const { graph, readOnly, change, onDraft } = useEditor();
  const id = useId();
  const [key, setKey] = useState(node.componentKey);
  const problem = keyProblem(graph, node.id, key);
  useEffect(() => setKey(node.componentKey), [node.componentKey]);
  useEffect(() => {
    onDraft('key', problem === '' ? '' : `Key: ${problem}`);
    return () => onDraft('key', '');
  }, [onDraft, problem]);
  return (
    <div className="inspector-identity">
      <div className="field">
        <label htmlFor={`${id}-key`}>Key</label>
        <input
          id={`${id}-key`}
          className="mono"
          value={key}
          readOnly={readOnly}
          autoComplete="off"
          spellCheck={false}
          aria-invalid={problem !== '' || undefined}
          aria-describedby={`${id}-key-note`}
          onKeyDown={(event) => takesBack(event, problem, () => setKey(node.componentKey))}
          onChange={(event) => {
            const next = event.target.value;
            setKey(next);
            if (keyProblem(graph, node.id, next) !== '') return;
            change({
              word: `Rename ${node.componentKey}`,
              burst: `key ${node.id}`,
              change: (now) => renameComponent(now, node.id, next),
            });
          }}
        />
        {problem && (
          <span id={`${id}-key-note`} className="field-problem">
            {problem}
          </span>
        )}
      </div>
      <div className="field">
        <label htmlFor={`${id}-title`}>Title</label>
        <input
          id={`${id}-title`}
          value={node.displayName ?? ''}
          readOnly={readOnly}
          autoComplete="off"
          maxLength={200}
          placeholder={node.componentKey}
          onChange={(event) => {
            const title = event.target.value;
            change({
              word: `Title of ${node.componentKey}`,
              burst: `title ${node.id}`,
              change: (now) => setTitle(now, node.id, title),
            });
          }}
        />
      </div>
      <label className="check">
        <input
          type="checkbox"
          checked={!node.disabled}
          disabled={readOnly}
          onChange={(event) => {
            const off = !event.target.checked;
            change({
              word: `Switch ${node.componentKey} ${off ? 'off' : 'on'}`,
              change: (now) => setDisabled(now, node.id, off),
            });
          }}
        />
        Part of the config
      </label>
    </div>
  );
};

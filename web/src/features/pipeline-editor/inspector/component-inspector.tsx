import { Checkbox, TextInput } from '@mantine/core';
/** One component: what it is called, what it is connected to, and its options. */
import { useEffect, useState } from 'react';
import { MONO_INPUT } from '../../../ui/form/field.tsx';
import { IconButton } from '../../../ui/primitives/button.tsx';
import { Icon } from '../../../ui/primitives/icons.tsx';
import { takesBack } from '../../../ui/schema-form/draft.ts';
import { CodeText } from '../../../ui/text/code-text.tsx';
import { KIND_ICON } from '../canvas/component-node.tsx';
import { useEditor } from '../editor-context.ts';
import { keyProblem, renameComponent, setDisabled, setTitle } from '../model/edits.ts';
import { type EditorNode, KIND_WORD } from '../model/graph.ts';
import { optionPointer, problemsOf } from '../model/problems.ts';
import { ComponentOptions } from './component-options.tsx';
import { Connections } from './connections.tsx';
import { SharedLink } from './shared-component-link.tsx';

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
              <IconButton icon="copy" label={`Duplicate ${node.componentKey}`} onClick={duplicate} />
              <IconButton icon="trash" label={`Delete ${node.componentKey}`} onClick={remove} />
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
  const [key, setKey] = useState(node.componentKey);
  const problem = keyProblem(graph, node.id, key);
  useEffect(() => setKey(node.componentKey), [node.componentKey]);
  useEffect(() => {
    onDraft('key', problem === '' ? '' : `Key: ${problem}`);
    return () => onDraft('key', '');
  }, [onDraft, problem]);
  return (
    <div className="inspector-identity">
      <TextInput
        label="Key"
        classNames={MONO_INPUT}
        value={key}
        readOnly={readOnly}
        autoComplete="off"
        spellCheck={false}
        error={problem}
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
      <TextInput
        label="Title"
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
      <Checkbox
        label="Part of the config"
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
    </div>
  );
};

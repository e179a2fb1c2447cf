/** What is selected, in full: one component, an edge, several components, or the pipeline as a whole. */
import { useEffect, useRef } from 'react';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { Icon } from '../../../ui/primitives/icons.tsx';
import { plural } from '../../../ui/text/format.ts';
import { KIND_ICON } from '../canvas/component-node.tsx';
import { edgeWord } from '../canvas/flow.ts';
import { type Focus, useEditor } from '../editor-context.ts';
import { disconnect, linkShared, setDisabled } from '../model/edits.ts';
import { edgeKey, KIND_WORD, titleOf } from '../model/graph.ts';
import { problemsOf } from '../model/problems.ts';
import { ComponentInspector } from './component-inspector.tsx';

interface Props {
  duplicate: () => void;
  remove: () => void;
}

export const Inspector = (actions: Props) => {
  const { graph, selection, focus } = useEditor();
  const panel = useRef<HTMLDivElement>(null);
  const [id] = selection.nodes;
  const node = selection.nodes.length === 1 ? graph.nodes.find((each) => each.id === id) : undefined;
  const edge =
    selection.nodes.length === 0 && selection.edges.length === 1
      ? graph.edges.find((each) => edgeKey(each) === selection.edges[0])
      : undefined;
  useEffect(() => {
    if (focus && focus.nodeId === node?.id) return focusOption(panel.current, focus);
  }, [focus, node?.id]);
  return (
    <div ref={panel} className="inspector">
      {node ? (
        <ComponentInspector key={node.id} node={node} {...actions} />
      ) : edge ? (
        <EdgeInspector edge={edge} />
      ) : selection.nodes.length > 1 ? (
        <SeveralInspector {...actions} />
      ) : (
        <DrawingInspector />
      )}
    </div>
  );
};

/** How long an option may take to appear: its schema and the code editor come first. */
const APPEAR_MS = 3_000;

/** Opens what is folded around the option and puts the focus on it, as soon as it is there. Gives a way to let it be. */
function focusOption(panel: HTMLElement | null, { pointer }: Focus): (() => void) | undefined {
  if (!panel) return undefined;
  const tryNow = (): boolean => {
    const option = nearest(panel, pointer);
    const field = option?.querySelector<HTMLElement>(
      '[contenteditable="true"], input, select, textarea, summary, button',
    );
    if (!option || !field) return false;
    for (let fold = option.closest('details'); fold; fold = fold.parentElement?.closest('details') ?? null)
      fold.open = true;
    field.focus();
    option.scrollIntoView({ block: 'nearest' });
    return true;
  };
  if (tryNow()) return undefined;
  const observer = new MutationObserver(() => tryNow() && observer.disconnect());
  observer.observe(panel, { childList: true, subtree: true });
  const timer = setTimeout(() => observer.disconnect(), APPEAR_MS);
  return () => {
    clearTimeout(timer);
    observer.disconnect();
  };
}

/** The option itself, or the closest one around it. */
function nearest(panel: HTMLElement, pointer: string): HTMLElement | null {
  const options = [...panel.querySelectorAll<HTMLElement>('[data-option]')];
  for (let path = pointer; ; path = path.slice(0, path.lastIndexOf('/'))) {
    const found = options.find((option) => option.dataset.option === path);
    if (found || path === '') return found ?? null;
  }
}

const EdgeInspector = ({ edge }: { edge: Parameters<typeof edgeKey>[0] }) => {
  const { graph, readOnly, change } = useEditor();
  const word = edgeWord(graph, edge);
  return (
    <section className="inspector-part" aria-label="Connection">
      <h2>Connection</h2>
      <p className="mono">{word}</p>
      {!readOnly && (
        <Button
          icon="trash"
          onClick={() =>
            change({ word: `Disconnect ${word}`, change: (now) => disconnect(now, [edgeKey(edge)]) })
          }
        >
          Remove the connection
        </Button>
      )}
    </section>
  );
};

const SeveralInspector = ({ duplicate, remove }: Props) => {
  const { selection, readOnly, change } = useEditor();
  const count = plural(selection.nodes.length, 'component');
  const switchAll = (disabled: boolean): void =>
    change({
      word: `Switch ${count} ${disabled ? 'off' : 'on'}`,
      change: (now) => selection.nodes.reduce((graph, id) => setDisabled(graph, id, disabled), now),
    });
  return (
    <section className="inspector-part" aria-label="Selection">
      <h2>{count} selected</h2>
      {!readOnly && (
        <div className="inspector-actions">
          <Button icon="copy" onClick={duplicate}>
            Duplicate
          </Button>
          <Button onClick={() => switchAll(true)}>Switch off</Button>
          <Button onClick={() => switchAll(false)}>Switch on</Button>
          <Button icon="trash" onClick={remove}>
            Delete
          </Button>
        </div>
      )}
    </section>
  );
};

/** Nothing is selected: every component, as a list that needs no pointer. */
const DrawingInspector = () => {
  const { graph, problems, shared, readOnly, select, change } = useEditor();
  const outdated = graph.nodes.flatMap((node) => {
    const newest = shared.get(node.sharedComponentId ?? '');
    return newest && newest.version !== node.sharedComponentVersion ? [{ node, newest }] : [];
  });
  return (
    <section className="inspector-part" aria-label="Components">
      <h2>{plural(graph.nodes.length, 'component')}</h2>
      {outdated.length > 0 && (
        <Notice icon="link" tone="moving">
          {plural(outdated.length, 'linked component has', 'linked components have')} a newer version.{' '}
          {!readOnly && (
            <Button
              size="small"
              onClick={() =>
                change({
                  word: 'Accept all updates',
                  change: (now) =>
                    outdated.reduce((next, { node, newest }) => linkShared(next, node.id, newest), now),
                })
              }
            >
              Accept all
            </Button>
          )}
        </Notice>
      )}
      {graph.nodes.length === 0 ? (
        <p className="muted">Select a component to see its options here.</p>
      ) : (
        <ul className="component-list">
          {graph.nodes.map((node) => {
            const count = problemsOf(problems, node).length;
            return (
              <li key={node.id}>
                <button
                  type="button"
                  className="component-line"
                  onClick={() => select({ nodes: [node.id], edges: [] })}
                >
                  <Icon name={KIND_ICON[node.kind]} size={14} />
                  <span className="component-line-name">{titleOf(node)}</span>
                  <span className="muted">
                    {KIND_WORD[node.kind]}, {node.componentType}
                    {node.disabled ? ', off' : ''}
                  </span>
                  {count > 0 && <span className="field-problem">{plural(count, 'problem')}</span>}
                </button>
              </li>
            );
          })}
        </ul>
      )}
    </section>
  );
};

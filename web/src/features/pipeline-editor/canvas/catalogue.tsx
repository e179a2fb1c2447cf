import { TextInput } from '@mantine/core';
/** What can be added: shared components, sources, transforms, sinks. Dragged, clicked, or chosen by keyboard. */
import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useMemo, useRef, useState } from 'react';
import { queries } from '../../../api/queries/index.ts';
import { InlineError, SkeletonRows } from '../../../ui/feedback/page-states.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { Icon } from '../../../ui/primitives/icons.tsx';
import { useEditor } from '../editor-context.ts';
import type { NewComponent } from '../model/edits.ts';
import { type ComponentKind, KIND_WORD } from '../model/graph.ts';
import { putComponent } from './catalogue-drag.ts';
import { type Entry, searchCatalogue } from './catalogue-search.ts';
import { KIND_ICON } from './component-node.tsx';

const KINDS: readonly ComponentKind[] = ['SOURCE', 'TRANSFORM', 'SINK'];
const TYPE_PATTERN = /^[a-z][a-z0-9_]{0,99}$/;

const entryId = ({ kind, type, shared }: Entry): string => shared?.id ?? `${kind} ${type}`;
const componentOf = ({ kind, type, shared }: Entry): NewComponent => ({
  kind,
  type,
  ...(shared ? { shared } : {}),
});

export const Catalogue = ({ add }: { add: (component: NewComponent) => void }) => {
  const { shared, readOnly } = useEditor();
  const catalogue = useQuery(queries.catalogue());
  const [text, setText] = useState('');
  const list = useRef<HTMLDivElement>(null);
  const entries = useMemo((): Entry[] => {
    const linked = [...shared.values()].map(
      ({ id, name, version, config, componentType, kind, description }): Entry => ({
        kind,
        type: componentType,
        title: name,
        description: description ?? '',
        shared: { id, version, config },
      }),
    );
    return [...linked, ...(catalogue.data?.components ?? [])];
  }, [shared, catalogue.data]);
  const groups = useMemo(() => searchCatalogue(entries, text), [entries, text]);
  const typed = text.trim();
  const isType = TYPE_PATTERN.test(typed) && !entries.some(({ type }) => type === typed);

  const buttons = (): HTMLButtonElement[] => [
    ...(list.current?.querySelectorAll<HTMLButtonElement>('.catalogue-entry') ?? []),
  ];
  /** The arrow keys walk the entries; they are one stop of the tab key. */
  const walk = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const all = buttons();
    const at = all.findIndex((button) => button.contains(document.activeElement));
    all[at + step]?.focus();
  };
  const first = groups[0]?.entries[0];

  return (
    <section className="catalogue" aria-label="Catalogue">
      <TextInput
        className="catalogue-search"
        type="search"
        aria-label="Search the catalogue"
        placeholder="Add a component"
        leftSection={<Icon name="search" size={14} />}
        value={text}
        disabled={readOnly}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && first) add(componentOf(first));
          else if (event.key === 'Escape') setText('');
          else walk(event);
        }}
      />
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the buttons in it. */}
      <div ref={list} className="catalogue-list" onKeyDown={walk}>
        {groups.map(({ key, word, entries: found }) => (
          <section key={key} aria-label={word}>
            <h2>{word}</h2>
            <ul>
              {found.map((entry) => (
                <li key={entryId(entry)}>
                  <button
                    type="button"
                    className="catalogue-entry"
                    disabled={readOnly}
                    draggable={!readOnly}
                    tabIndex={entry === first ? 0 : -1}
                    data-tip={entry.description || undefined}
                    onDragStart={(event) => putComponent(event.dataTransfer, componentOf(entry))}
                    onClick={() => add(componentOf(entry))}
                  >
                    <Icon name={entry.shared ? 'link' : KIND_ICON[entry.kind]} size={14} />
                    <span className="catalogue-title">{entry.title}</span>
                    <span className="catalogue-type mono">{entry.type}</span>
                  </button>
                </li>
              ))}
            </ul>
          </section>
        ))}
        {catalogue.isPending && <SkeletonRows rows={8} label="Loading the catalogue" />}
        {catalogue.isError && (
          <div className="catalogue-note">
            <InlineError error={catalogue.error} />
            <Button icon="sync" size="small" onClick={() => void catalogue.refetch()}>
              Try again
            </Button>
          </div>
        )}
        {isType && !readOnly && (
          <div className="catalogue-note">
            <p className="muted">
              {catalogue.data ? `${catalogue.data.engine} has no “${typed}”. ` : ''}A node’s engine may:
            </p>
            {KINDS.map((kind) => (
              <Button
                icon={KIND_ICON[kind]}
                key={kind}
                className="catalogue-entry-new"
                size="small"
                onClick={() => add({ kind, type: typed })}
              >
                Add {typed} as {KIND_WORD[kind]}
              </Button>
            ))}
          </div>
        )}
        {groups.length === 0 && !isType && catalogue.data && (
          <p className="catalogue-note muted">Nothing is called “{typed}”.</p>
        )}
      </div>
      {catalogue.data && (
        <p className="catalogue-engine muted">
          {catalogue.data.detail ?? `as ${catalogue.data.engine} has them`}
        </p>
      )}
    </section>
  );
};

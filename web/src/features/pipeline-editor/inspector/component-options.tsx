/** The options of a component: a form as the engine's schema has it, or YAML. */
import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import type { EventSchemas } from '../../../../../schemas/api/fleet/samples.ts';
import { describeFailure } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { usePlace } from '../../../app/scope.tsx';
import { type PathOffer, vrlPath } from '../../../ui/code/vrl-paths.ts';
import { InlineError, SkeletonRows } from '../../../ui/feedback/page-states.tsx';
import { SegmentedControl } from '../../../ui/primitives/segmented-control.tsx';
import { YamlText } from '../../../ui/schema-form/code-fields.tsx';
import { type FormContext, FormProvider } from '../../../ui/schema-form/form-context.ts';
import { isPlain, schemaFrom } from '../../../ui/schema-form/schema.ts';
import { refuseOther, SchemaForm } from '../../../ui/schema-form/schema-form.tsx';
import { isEqual } from '../../../ui/schema-form/value.ts';
import { AskAboutVrl } from '../../assistant/open-assistant.tsx';
import { useEditor } from '../editor-context.ts';
import { setConfig } from '../model/edits.ts';
import type { Config, EditorGraph, EditorNode } from '../model/graph.ts';
import { optionPointer, problemsOf } from '../model/problems.ts';

const VIEWS = [
  { value: 'form', word: 'Form' },
  { value: 'yaml', word: 'YAML' },
] as const;

/** Types whose options hold programs. */
const WITH_VRL: readonly string[] = ['remap', 'filter', 'route', 'exclusive_route'];

/** Those that the graph has in their own places. */
const RESERVED = ['type', 'inputs'];

function refuse(value: unknown): string {
  const found = isPlain(value) && RESERVED.find((name) => Object.hasOwn(value, name));
  return found
    ? `“${found}” is not written here: the type is fixed, and inputs are connections.`
    : refuseOther(value);
}

/** The first option that differs, for the history. */
function changedOption(before: Config, after: Config): string {
  const names = [...Object.keys(before), ...Object.keys(after)];
  return names.find((name) => !isEqual(before[name], after[name])) ?? '';
}

/** Fields of the events that come into a component, as samples showed them where they come from. */
function pathsInto(graph: EditorGraph, node: EditorNode, sampled: EventSchemas): PathOffer[] {
  const sources = graph.edges
    .filter(({ targetNodeId }) => targetNodeId === node.id)
    .map(({ sourceNodeId, sourcePort }) => {
      const key = graph.nodes.find(({ id }) => id === sourceNodeId)?.componentKey;
      return sourcePort ? `${key}.${sourcePort}` : key;
    });
  const known = new Map(
    sampled
      .filter(({ componentKey }) => sources.includes(componentKey))
      .flatMap(({ fields }) => fields)
      .map(({ path, type }) => [vrlPath(path), type]),
  );
  return [...known].map(([path, about]) => ({ path, about }));
}

export const ComponentOptions = ({ node }: { node: EditorNode }) => {
  const { pipelineId, environmentId, graph, readOnly, problems, change, onDraft } = useEditor();
  const [view, setView] = useState<'form' | 'yaml'>('form');
  const schema = useQuery(queries.componentSchema(node.kind, node.componentType));
  const secrets = useQuery(queries.secrets(environmentId));
  const { team } = usePlace();
  const snippets = useQuery(queries.snippets(team.id));
  const sampled = useQuery(queries.eventSchemas(pipelineId));
  const isLinked = node.sharedComponentId !== undefined;
  const context = useMemo(
    (): FormContext => ({
      readOnly: readOnly || isLinked,
      problems: problemsOf(problems, node).flatMap(({ line, column, message, ...problem }) => {
        const pointer = optionPointer({ ...problem, message }, node);
        return pointer === '' ? [] : [{ pointer, message, ...(line && { line }), ...(column && { column }) }];
      }),
      secrets: (secrets.data ?? []).map(({ variable }) => `\${${variable}}`),
      snippets: snippets.data ?? [],
      paths: pathsInto(graph, node, sampled.data ?? []),
      onDraft,
    }),
    [readOnly, isLinked, problems, graph, node, secrets.data, snippets.data, sampled.data, onDraft],
  );
  const { id, componentKey } = node;
  const set = useCallback(
    (config: Config): void => {
      if (isEqual(config, node.config)) return;
      const option = changedOption(node.config, config);
      change({
        word: `Change ${option} of ${componentKey}`,
        burst: `config ${id} ${option}`,
        change: (now) => setConfig(now, id, config),
      });
    },
    [change, id, componentKey, node.config],
  );
  const isUnknown = schema.isError && describeFailure(schema.error).code === 'NOT_FOUND';
  const hasForm = schema.data !== undefined && schema.data.detail === null;
  const label = `Options of ${componentKey}`;
  return (
    <section className="inspector-part" aria-label="Options">
      <div className="inspector-head">
        <h2>Options</h2>
        {WITH_VRL.includes(node.componentType) && <AskAboutVrl componentKey={componentKey} />}
        {hasForm && <SegmentedControl label="Options as" value={view} options={VIEWS} onChange={setView} />}
      </div>
      {schema.isPending && <SkeletonRows rows={4} label="Loading the options" />}
      {isUnknown && (
        <p className="muted">
          The engine here does not know {node.componentType}: its options are written as YAML, and the node’s
          engine decides.
        </p>
      )}
      {schema.isError && !isUnknown && <InlineError error={schema.error} />}
      {schema.data?.detail && <p className="muted">{schema.data.detail}</p>}
      {hasForm && view === 'form' ? (
        <SchemaForm
          schema={schemaFrom(schema.data?.schema)}
          value={node.config}
          onChange={set}
          context={context}
          label={label}
        />
      ) : (
        !schema.isPending && (
          <FormProvider value={context}>
            <div data-option="">
              <YamlText
                label={`${label} as YAML`}
                value={Object.keys(node.config).length > 0 ? node.config : undefined}
                onChange={(next) => set(isPlain(next) ? next : {})}
                pointer=""
                check={refuse}
                schema={hasForm ? schemaFrom(schema.data?.schema) : undefined}
              />
            </div>
          </FormProvider>
        )
      )}
    </section>
  );
};

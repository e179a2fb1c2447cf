import { NativeSelect } from '@mantine/core';
/** What feeds a component and what it feeds, as lists: everything that the canvas does with a pointer. */
import { useId } from 'react';
import { IconButton } from '../../../ui/primitives/button.tsx';
import { edgeWord } from '../canvas/flow.ts';
import { useEditor } from '../editor-context.ts';
import { type Choice, feedersFor, portsOf, takersFor } from '../model/connect.ts';
import { connect, disconnect } from '../model/edits.ts';
import { type EditorEdge, type EditorNode, edgeKey, outputName } from '../model/graph.ts';

export const Connections = ({ node }: { node: EditorNode }) => {
  const { graph } = useEditor();
  const keys = new Map(graph.nodes.map(({ id, componentKey }) => [id, componentKey]));
  const inputs = graph.edges.filter(({ targetNodeId }) => targetNodeId === node.id);
  const ports = portsOf(node, graph.edges);
  return (
    <section className="inspector-part" aria-label="Connections">
      {node.kind !== 'SOURCE' && (
        <ConnectionList
          title="Inputs"
          none="Nothing feeds it."
          edges={inputs.map((edge) => ({
            edge,
            word: outputName(keys.get(edge.sourceNodeId) ?? '', edge.sourcePort),
          }))}
          choices={feedersFor(graph, node)}
          choose="Add an input"
        />
      )}
      {ports.map(({ name, missing }) => (
        <ConnectionList
          key={name ?? ''}
          title={name === undefined ? 'Output' : `Output ${name}`}
          none="It feeds nothing."
          edges={graph.edges
            .filter((edge) => edge.sourceNodeId === node.id && edge.sourcePort === name)
            .map((edge) => ({ edge, word: keys.get(edge.targetNodeId) ?? '' }))}
          choices={missing ? [] : takersFor(graph, node, name)}
          choose={`Connect ${outputName(node.componentKey, name)} to`}
          problem={
            missing
              ? name === undefined
                ? 'It has named outputs only.'
                : 'It has no such output (any more).'
              : undefined
          }
        />
      ))}
    </section>
  );
};

interface ListProps {
  title: string;
  none: string;
  edges: readonly { edge: EditorEdge; word: string }[];
  choices: readonly Choice[];
  choose: string;
  problem?: string | undefined;
}

const ConnectionList = ({ title, none, edges, choices, choose, problem }: ListProps) => {
  const { graph, readOnly, change } = useEditor();
  const id = useId();
  return (
    <div className="connections">
      <h3 className="connections-title">{title}</h3>
      {problem && <p className="field-problem">{problem}</p>}
      {edges.length === 0 && <span className="muted">{none}</span>}
      {edges.length > 0 && (
        <ul aria-label={title}>
          {edges.map(({ edge, word }) => (
            <li key={edgeKey(edge)} className="connection">
              <span className="mono">{word}</span>
              {!readOnly && (
                <IconButton
                  icon="cross"
                  size={12}
                  label={`Disconnect ${word}`}
                  onClick={() =>
                    change({
                      word: `Disconnect ${edgeWord(graph, edge)}`,
                      change: (now) => disconnect(now, [edgeKey(edge)]),
                    })
                  }
                />
              )}
            </li>
          ))}
        </ul>
      )}
      {!readOnly && choices.length > 0 && (
        <NativeSelect
          id={id}
          aria-label={choose}
          value=""
          onChange={(event) => {
            const choice = choices[Number(event.target.value)];
            if (!choice) return;
            change({
              word: `Connect ${edgeWord(graph, choice.edge)}`,
              change: (now) => connect(now, choice.edge),
            });
          }}
        >
          <option value="">{choose}…</option>
          {choices.map(({ edge, word }, index) => (
            <option key={edgeKey(edge)} value={index}>
              {word}
            </option>
          ))}
        </NativeSelect>
      )}
    </div>
  );
};

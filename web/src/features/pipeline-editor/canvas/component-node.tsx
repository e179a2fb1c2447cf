/** A component on the canvas: its shape and icon say what it is, and each output has a port. */
import { Handle, type Node, type NodeProps, Position } from '@xyflow/react';
import { Icon } from '../../../ui/primitives/icons.tsx';
import type { Port } from '../model/connect.ts';
import { type EditorNode, KIND_WORD, titleOf } from '../model/graph.ts';
import { HEAD_HEIGHT, NODE_WIDTH, PORT_HEIGHT } from './layout.ts';

export interface ComponentData extends Record<string, unknown> {
  node: EditorNode;
  ports: readonly Port[];
  problems: number;
  /** Its shared component has a newer version. */
  outdated: boolean;
  readOnly: boolean;
}

export type ComponentFlowNode = Node<ComponentData, 'component'>;

export const KIND_ICON = { SOURCE: 'source', TRANSFORM: 'transform', SINK: 'sink' } as const;

/** The library wants a name for every handle. */
export const PLAIN_PORT = 'plain';
export const handleOf = (port: string | undefined): string => (port === undefined ? PLAIN_PORT : `:${port}`);
export const portOf = (handle: string | null | undefined): string | undefined =>
  handle?.startsWith(':') ? handle.slice(1) : undefined;

const HANDLE = 12;
const BORDER = 1;

/** The positions of the ports, given so that edges need no measuring and may lead out of the view. */
export function handlesOf(kind: EditorNode['kind'], ports: readonly Port[]): ComponentFlowNode['handles'] {
  const at = (x: number, y: number) => ({
    x: x - HANDLE / 2,
    y: y + BORDER - HANDLE / 2,
    width: HANDLE,
    height: HANDLE,
  });
  let row = 0;
  const outputs = ports.map(({ name }) => {
    const y = name === undefined ? HEAD_HEIGHT / 2 : HEAD_HEIGHT + (row++ + 0.5) * PORT_HEIGHT;
    return {
      id: handleOf(name),
      type: 'source' as const,
      position: Position.Right,
      ...at(NODE_WIDTH - BORDER, y),
    };
  });
  if (kind === 'SOURCE') return outputs;
  return [{ id: null, type: 'target', position: Position.Left, ...at(BORDER, HEAD_HEIGHT / 2) }, ...outputs];
}

export const ComponentNode = ({ data }: NodeProps<ComponentFlowNode>) => {
  const { node, ports, problems, outdated, readOnly } = data;
  const named = ports.filter(({ name }) => name !== undefined);
  const title = titleOf(node);
  return (
    <div
      className="graph-node editor-node"
      data-kind={node.kind}
      data-errors={problems > 0 || undefined}
      data-disabled={node.disabled || undefined}
    >
      {node.kind !== 'SOURCE' && (
        <Handle
          type="target"
          position={Position.Left}
          isConnectable={!readOnly}
          style={{ top: HEAD_HEIGHT / 2 }}
          role="img"
          aria-label={`Input of ${node.componentKey}`}
        />
      )}
      <Icon name={KIND_ICON[node.kind]} />
      <span className="graph-name">{title}</span>
      <span className="graph-type">
        {node.displayName ? `${node.componentKey} · ` : ''}
        {node.componentType}
        {node.disabled ? ', off' : ''}
      </span>
      {(problems > 0 || node.sharedComponentId) && (
        <span className="editor-node-marks">
          {node.sharedComponentId && (
            <span className="editor-node-mark" data-outdated={outdated || undefined}>
              <Icon name="link" size={12} />
              {outdated && 'update'}
            </span>
          )}
          {problems > 0 && (
            <span className="editor-node-mark" data-tone="failed">
              <Icon name="warning" size={12} />
              {problems}
            </span>
          )}
        </span>
      )}
      {ports.some(({ name }) => name === undefined) && (
        <Handle
          type="source"
          id={PLAIN_PORT}
          position={Position.Right}
          isConnectable={!readOnly}
          style={{ top: HEAD_HEIGHT / 2 }}
          role="img"
          aria-label={`Output of ${node.componentKey}`}
        />
      )}
      {named.length > 0 && (
        <ul className="editor-ports">
          {named.map(({ name, missing }) => (
            <li key={name} data-missing={missing || undefined} style={{ height: PORT_HEIGHT }}>
              {missing && <Icon name="warning" size={12} />}
              <span className="mono">{name}</span>
              <Handle
                type="source"
                id={handleOf(name)}
                position={Position.Right}
                isConnectable={!readOnly && !missing}
                role="img"
                aria-label={`Output ${name} of ${node.componentKey}`}
              />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
};

export function describeNode({ node, ports, problems }: ComponentData, inputs: readonly string[]): string {
  const parts = [
    `${KIND_WORD[node.kind]} ${node.componentKey}`,
    node.displayName,
    node.componentType,
    node.disabled ? 'switched off' : '',
    inputs.length > 0 ? `fed by ${inputs.join(', ')}` : '',
    ports.some(({ name }) => name !== undefined)
      ? `outputs ${ports.map(({ name }) => name ?? 'plain').join(', ')}`
      : '',
    problems > 0 ? `${problems} ${problems === 1 ? 'problem' : 'problems'}` : '',
  ];
  return parts.filter(Boolean).join(', ');
}

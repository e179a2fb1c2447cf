import type { NodeSummary } from '../../../../../schemas/api/fleet/fleet.ts';
import { paths } from '../../../app/paths.ts';
import { usePlace } from '../../../app/scope.tsx';
import { BatchForm, type BatchFormProps } from '../../../ui/form/batch-form.tsx';
import { useRenewFleet } from './node-actions.ts';

/** Each takes a moment on the controller; a browser sends six at a time to one host. */
const AT_ONCE = 4;

interface Props extends Omit<BatchFormProps<NodeSummary>, 'items' | 'noun' | 'hrefOf' | 'atOnce'> {
  nodes: readonly NodeSummary[];
}

/** An action on one or many nodes: one that is refused stops no other. */
export const NodesForm = ({ nodes, done, ...rest }: Props) => {
  const { environment } = usePlace();
  const renew = useRenewFleet();
  return (
    <BatchForm
      items={nodes}
      noun="node"
      hrefOf={({ id }) => paths.node(environment.id, id)}
      atOnce={AT_ONCE}
      done={(through) => {
        done(through);
        void renew();
      }}
      partly={() => void renew()}
      {...rest}
    />
  );
};

/** Nodes of the chosen ones that the action does not concern. */
export const NotConcerned = ({ nodes, why }: { nodes: readonly NodeSummary[]; why: string }) =>
  nodes.length === 0 ? null : (
    <p className="muted">
      Left out, {why}: {listed(nodes.map(({ name }) => name))}.
    </p>
  );

const MAX_NAMES = 8;

/** The first names, and how many more there are. */
export const listed = (names: readonly string[]): string =>
  names.length > MAX_NAMES
    ? `${names.slice(0, MAX_NAMES).join(', ')} and ${(names.length - MAX_NAMES).toLocaleString('en')} more`
    : names.join(', ');

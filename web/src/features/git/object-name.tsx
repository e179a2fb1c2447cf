import { Link } from 'react-router';
import { paths } from '../../app/paths.ts';

/** Where the object of a manifest is shown; null until there is one. */
function objectPage(env: string, kind: string, objectId: string | null): string | null {
  if (!objectId) return null;
  if (kind === 'Pipeline') return paths.pipeline(env, objectId);
  if (kind === 'NodeGroup') return paths.group(env, objectId);
  return kind === 'AlertRule' || kind === 'Silence' || kind === 'WebhookEndpoint' ? paths.alerts(env) : null;
}

interface Props {
  env: string;
  kind: string;
  name: string;
  objectId: string | null;
  renamedFrom?: string | null;
}

/** An object by name and kind, with the way to its page where it has one. */
export const ObjectName = ({ env, kind, name, objectId, renamedFrom }: Props) => {
  const page = objectPage(env, kind, objectId);
  return (
    <span className="manifest-name">
      {page ? <Link to={page}>{name}</Link> : name}
      <span className="manifest-kind">
        {kind}
        {renamedFrom && `, was ${renamedFrom}`}
      </span>
    </span>
  );
};

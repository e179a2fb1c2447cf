import { Link } from 'react-router';
import { paths } from '../../app/paths.ts';

/** Where the object of a manifest is shown; null until there is one. */
function objectPage(env: string, kind: string, objectId: string | null): string | null {
  if (!objectId) return null;
  if (kind === 'Pipeline') return paths.pipeline(env, objectId);
  if (kind === 'NodeGroup') return paths.group(env, objectId);
  if (kind === 'Silence') return paths.alerts(env, { tab: 'silences' });
  if (kind === 'WebhookEndpoint') return paths.alerts(env, { tab: 'endpoints' });
  return kind === 'AlertRule' ? paths.alerts(env, { tab: 'rules' }) : null;
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

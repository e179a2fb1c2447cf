/** Why an event is muted, with a link to the silence. */
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { alertQueries } from '../../../api/queries/alerts.ts';
import { paths } from '../../../app/paths.ts';
import { muteReason } from './event-text.ts';

export const MuteText = ({ env, mutedBy }: { env: string; mutedBy: string }) => {
  const silences = useQuery(alertQueries.silences(env)).data ?? [];
  const { text, silenceId } = muteReason(mutedBy, silences);
  return silenceId === null ? (
    <>Muted: {text}</>
  ) : (
    <>
      Muted by a silence: <Link to={paths.alerts(env, { tab: 'silences', silence: silenceId })}>{text}</Link>
    </>
  );
};

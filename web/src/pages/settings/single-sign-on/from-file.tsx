import type { SettingsView } from '../../../../../schemas/api/settings.ts';
import { Icon } from '../../../components/icons.tsx';

/** What of this page a file says. */
export const FromFile = ({ file }: { file: NonNullable<SettingsView['oidcFile']> }) => (
  <p className="notice" data-tone={file.error === null ? undefined : 'failed'} role="status">
    <Icon name={file.error === null ? 'shield' : 'warning'} size={14} />
    {file.error === null ? (
      <span>
        HEADGATE_OIDC_FILE says what stands here of {file.sets.join(', ')}. It is read again every quarter of
        a minute.
      </span>
    ) : (
      <span>
        HEADGATE_OIDC_FILE was not taken over, and what it said before counts on:{' '}
        <span className="breakable">{file.error}</span>
      </span>
    )}
  </p>
);

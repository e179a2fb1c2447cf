import type { SettingsView } from '../../../../../schemas/api/settings.ts';
import { Notice } from '../../../ui/feedback/notice.tsx';

/** Says that a file sets up sign-in, and what is wrong with the file. */
export const FileNotice = ({ file }: { file: NonNullable<SettingsView['oidcFile']> }) => (
  <Notice
    icon={file.error === null ? 'shield' : 'warning'}
    tone={file.error === null ? undefined : 'failed'}
    role="status"
  >
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
  </Notice>
);

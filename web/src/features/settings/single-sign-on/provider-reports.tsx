import type { OidcView } from '../../../../../schemas/api/identity/identity-providers.ts';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { Time } from '../../../ui/primitives/time.tsx';

/** What the last sign-ins showed: for administrators alone. */
export const ProviderReports = ({ oidc }: { oidc: OidcView }) => (
  <>
    {oidc.lastFailure && (
      <Notice icon="warning" tone="failed">
        A sign-in failed <Time at={oidc.lastFailure.at} />:{' '}
        <span className="breakable">{oidc.lastFailure.message}</span>
      </Notice>
    )}
    {oidc.lastWarning && (
      <Notice icon="warning" tone="held">
        At the last sign-in, <Time at={oidc.lastWarning.at} />:{' '}
        <span className="breakable">{oidc.lastWarning.message}</span>
      </Notice>
    )}
  </>
);

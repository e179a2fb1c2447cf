import type { OidcView } from '../../../../../schemas/api/identity-providers.ts';
import { Time } from '../../../components/bits.tsx';
import { Icon } from '../../../components/icons.tsx';

/** What the last sign-ins showed: for administrators alone. */
export const ProviderReports = ({ oidc }: { oidc: OidcView }) => (
  <>
    {oidc.lastFailure && (
      <p className="notice" data-tone="failed">
        <Icon name="warning" size={14} />
        <span>
          A sign-in failed <Time at={oidc.lastFailure.at} />:{' '}
          <span className="breakable">{oidc.lastFailure.message}</span>
        </span>
      </p>
    )}
    {oidc.lastWarning && (
      <p className="notice" data-tone="held">
        <Icon name="warning" size={14} />
        <span>
          At the last sign-in, <Time at={oidc.lastWarning.at} />:{' '}
          <span className="breakable">{oidc.lastWarning.message}</span>
        </span>
      </p>
    )}
  </>
);

import { Fragment, type ReactNode } from 'react';
import type { OidcTest } from '../../../../../schemas/api/identity/identity-providers.ts';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Icon } from '../../../ui/primitives/icons.tsx';

/** What a provider says of itself, and what of it would keep people from signing in. */
export const ProviderTest = ({ found }: { found: OidcTest }) => {
  const addresses = [
    ['Sign-in', found.authorizationEndpoint],
    ['Tokens', found.tokenEndpoint],
    ['Keys', found.jwksUri],
    ['Sign-out', found.endSessionEndpoint],
  ] as const;
  return (
    <section
      className="provider-test"
      aria-label="What the test found"
      data-tone={found.ok ? 'ok' : 'failed'}
    >
      <p className="provider-verdict" role="status">
        {found.ok ? <Badge tone="ok">Works</Badge> : <Badge tone="failed">Does not work</Badge>}
        {found.issuer ? (
          <span>
            It answers as <span className="mono breakable">{found.issuer}</span>
          </span>
        ) : (
          <span>No provider was found there.</span>
        )}
      </p>
      {found.problems.length > 0 && (
        <ul className="provider-problems" aria-label="Problems">
          {found.problems.map((problem) => (
            <li key={problem}>
              <Icon name="warning" size={14} />
              <span>{problem}</span>
            </li>
          ))}
        </ul>
      )}
      {found.warnings.length > 0 && (
        <ul className="provider-problems" aria-label="Warnings">
          {found.warnings.map((warning) => (
            <li key={warning} className="muted">
              <Icon name="warning" size={14} />
              <span>{warning}</span>
            </li>
          ))}
        </ul>
      )}
      {found.issuer && (
        <dl className="certificate-facts">
          {addresses.map(([name, address]) => (
            <Found key={name} name={name}>
              {address ? <span className="mono">{address}</span> : <span className="muted">none</span>}
            </Found>
          ))}
          <Found name="Client">
            {found.clientAccepted === null ? (
              <span className="muted">not tried: give its id and secret</span>
            ) : found.clientAccepted ? (
              'taken, with its secret'
            ) : (
              'not taken'
            )}
          </Found>
          <Found name="Scopes">
            <span className="mono">{found.scopes.join(' ') || 'not listed'}</span>
          </Found>
          <Found name="Claims">
            <span className="mono">{found.claims.join(' ') || 'not listed'}</span>
          </Found>
        </dl>
      )}
    </section>
  );
};

const Found = ({ name, children }: { name: string; children: ReactNode }) => (
  <Fragment>
    <dt>{name}</dt>
    <dd className="breakable">{children}</dd>
  </Fragment>
);

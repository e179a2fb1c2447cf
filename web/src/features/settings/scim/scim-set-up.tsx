import { Section } from '../../../ui/primitives/page.tsx';

/** Where each provider asks for it, in its own words. */
const PROVIDERS: readonly { name: string; where: string; docs: string }[] = [
  {
    name: 'Microsoft Entra ID',
    where:
      'Enterprise applications, the application, Provisioning, New configuration. The base URL is the Tenant URL, the token the Secret Token.',
    docs: 'https://learn.microsoft.com/entra/identity/app-provisioning/use-scim-to-provision-users-and-groups',
  },
  {
    name: 'Okta',
    where:
      'An application of its own, with SWA or SAML: Okta adds no SCIM to one with OpenID Connect. General: provisioning by SCIM; then Provisioning, Integration. Unique identifier: userName. Authentication: HTTP Header.',
    docs: 'https://help.okta.com/oie/en-us/content/topics/apps/apps_app_integration_wizard_scim.htm',
  },
];

export const ScimSetUp = () => (
  <Section title="Set it up at the provider">
    <div className="section-body form">
      <ol className="steps-list">
        <li>Switch SCIM on here, and generate a token.</li>
        <li>
          Give the base URL and the token to the provider, as an OAuth bearer token. <code>userName</code> is
          the email address.
        </li>
        <li>Let it test the connection, then assign people and groups to the application.</li>
        <li>
          Say under “Single sign-on” which group leads to which team: a group without a mapping gives none.
        </li>
      </ol>
      <dl className="certificate-facts">
        {PROVIDERS.map(({ name, where, docs }) => (
          <div key={name} className="facts-row">
            <dt>{name}</dt>
            <dd>
              {where}{' '}
              <a href={docs} target="_blank" rel="noreferrer">
                Its documentation
              </a>
            </dd>
          </div>
        ))}
      </dl>
      <p className="muted">
        Users that the provider deactivates are locked here and signed out within a second. Deleting locks
        too, so that the audit log keeps its names. More is in <code>docs/scim.md</code>.
      </p>
    </div>
  </Section>
);

import { Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import type { CertificateSummary } from '../../../../schemas/api/secrets/certificates.ts';
import { Notice } from '../../ui/feedback/notice.tsx';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Copyable } from '../../ui/primitives/copyable.tsx';
import { Fact } from '../../ui/primitives/fact.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import { useNow } from '../../ui/text/clock.ts';
import { formatDuration, formatExact, plural, sentence } from '../../ui/text/format.ts';

const DAY_MS = 86_400_000;
const YEAR_DAYS = 365;
/** From here on somebody should see to it. */
export const WARN_DAYS = 30;

/** When it ends, in words and, where that is soon or past, in colour. */
export const Expiry = ({ at }: { at: Date | null }) => {
  const now = useNow();
  if (!at) return <span className="muted">never</span>;
  const left = at.getTime() - now;
  const exact = formatExact(at);
  if (left <= 0)
    return (
      <Badge tone="failed" tip={exact}>
        Expired
      </Badge>
    );
  const days = Math.floor(left / DAY_MS);
  const words =
    days >= 2 * YEAR_DAYS
      ? plural(Math.floor(days / YEAR_DAYS), 'year')
      : days > 0
        ? plural(days, 'day')
        : formatDuration(left / 1000);
  return days < WARN_DAYS ? (
    <Badge tone="held" tip={exact}>
      in {words}
    </Badge>
  ) : (
    <span data-tip={exact}>in {words}</span>
  );
};

type Certificate = CertificateSummary['facts']['certificates'][number];

/** A part of a distinguished name that people know it by: its common name, else all of it. */
export const shortName = (distinguished: string): string =>
  /(?:^|\n|, ?)CN=([^\n,]+)/.exec(distinguished)?.[1] ?? distinguished.replaceAll('\n', ', ');

/** What is in the file, as far as it may be shown. */
export const CertificateFacts = ({ certificate }: { certificate: CertificateSummary }) => {
  const { facts, warning, reference } = certificate;
  const untold = facts.certificateCount - facts.certificates.length;
  return (
    <Stack gap="md">
      {warning && (
        <Notice icon="warning" tone="held">
          {sentence(warning)}
        </Notice>
      )}
      <dl className="facts">
        <Fact name="In configs">
          <Copyable value={reference} label="reference" />
        </Fact>
        {facts.key && (
          <Fact name="Private key">
            {facts.key.type.toUpperCase()}
            {facts.key.bits ? `, ${facts.key.bits} bits` : ''}
            {facts.key.curve ? `, ${facts.key.curve}` : ''}
          </Fact>
        )}
        <Fact name="Uploaded">
          <Time at={certificate.updatedAt} />
        </Fact>
        <Fact name="Used by">{certificate.usedBy.join(', ') || 'nothing that is deployed'}</Fact>
        {facts.publicKey && (
          <Fact name="Public key">
            <Fingerprint value={facts.publicKey} label="hash of the public key" />
          </Fact>
        )}
      </dl>
      {facts.certificates.map((each, index) => (
        <section key={each.fingerprint} className="certificate" aria-label={`Certificate ${index + 1}`}>
          <CertificateList certificate={each} />
        </section>
      ))}
      {untold > 0 && <p className="muted">and {plural(untold, 'more certificate')}</p>}
    </Stack>
  );
};

const CertificateList = ({ certificate }: { certificate: Certificate }) => (
  <dl className="certificate-facts">
    <Row name="Subject">{lines(certificate.subject)}</Row>
    <Row name="Issuer">{lines(certificate.issuer)}</Row>
    <Row name="Names">{certificate.alternativeNames.join(', ') || <span className="muted">none</span>}</Row>
    <Row name="Valid">
      {formatExact(new Date(certificate.notBefore))} to {formatExact(new Date(certificate.notAfter))}{' '}
      <Expiry at={new Date(certificate.notAfter)} />
    </Row>
    <Row name="Fingerprint">
      <Fingerprint value={certificate.fingerprint} label="fingerprint" />
    </Row>
    <Row name="Serial number">
      <span className="mono breakable">{certificate.serialNumber}</span>
    </Row>
    <Row name="Authority">{certificate.isAuthority ? 'yes' : 'no'}</Row>
  </dl>
);

const Row = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd className="breakable">{children}</dd>
  </>
);

const lines = (distinguished: string): string => distinguished.replaceAll('\n', ', ');

const Fingerprint = ({ value, label }: { value: string; label: string }) => (
  <Copyable value={value} label={label}>
    {value.slice(0, 23)}…
  </Copyable>
);

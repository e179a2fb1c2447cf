import type { AnomalySeverity } from '../../../../schemas/api/anomalies.ts';
import { Badge } from '../../ui/primitives/badge.tsx';
import { SEVERITY_TONES, SEVERITY_WORDS } from './anomaly-text.ts';

export const SeverityBadge = ({ severity }: { severity: AnomalySeverity }) => (
  <Badge tone={SEVERITY_TONES[severity]} icon={severity === 'info' ? 'question' : 'warning'}>
    {SEVERITY_WORDS[severity]}
  </Badge>
);

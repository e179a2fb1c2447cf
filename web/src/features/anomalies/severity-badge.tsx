import type { AnomalySeverity } from '../../../../schemas/api/insight/anomalies.ts';
import { Badge } from '../../ui/primitives/badge.tsx';
import { SEVERITY_LABELS, SEVERITY_TONES } from './anomaly-text.ts';

export const SeverityBadge = ({ severity }: { severity: AnomalySeverity }) => (
  <Badge tone={SEVERITY_TONES[severity]} icon={severity === 'info' ? 'question' : 'warning'}>
    {SEVERITY_LABELS[severity]}
  </Badge>
);

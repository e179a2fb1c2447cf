import encodeQR from 'qr';
import { useMemo } from 'react';

/** Modules of light around the code, as readers want it (ISO/IEC 18004, 9.1). */
const QUIET = 4;

/** A square of dark modules on white, in either scheme: readers want the contrast. */
export const QrCode = ({ text, label }: { text: string; label: string }) => {
  const modules = useMemo(() => encodeQR(text, 'raw', { ecc: 'medium', border: QUIET }), [text]);
  const path = modules.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('');
  return (
    <svg
      className="qr-code"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${modules.length} ${modules.length}`}
      shapeRendering="crispEdges"
    >
      <rect width="100%" height="100%" fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
};

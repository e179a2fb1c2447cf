import { Checkbox, Group } from '@mantine/core';
import { Button } from '../../ui/primitives/button.tsx';
import { SegmentedControl } from '../../ui/primitives/segmented-control.tsx';
import { formatExact } from '../../ui/text/format.ts';
import { RANGES } from './chart-range.ts';
import type { RangeControl } from './range.ts';

interface Props {
  range: RangeControl;
  /** Absent: nothing is compared. */
  comparable?: boolean;
}

export const RangePicker = ({ range, comparable = true }: Props) => (
  <Group gap="md" className="range-picker">
    <SegmentedControl
      label="Time range"
      value={range.isZoomed ? '' : range.range}
      options={RANGES}
      onChange={range.setRange}
    />
    {comparable && (
      <Checkbox
        checked={range.compares}
        onChange={(event) => range.setCompares(event.target.checked)}
        label="Compare with the period before"
      />
    )}
    {range.isZoomed && range.end && (
      <>
        <span className="muted">
          {formatExact(new Date(range.end.getTime() - range.minutes * 60_000))} to {formatExact(range.end)}
        </span>
        <Button size="small" onClick={range.reset}>
          Back to the last {RANGES.find(({ value }) => value === range.range)?.word}
        </Button>
      </>
    )}
  </Group>
);

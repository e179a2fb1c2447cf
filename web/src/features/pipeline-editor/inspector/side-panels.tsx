/** The parts around the canvas, which share a place as tabs where there is little room. */
import { Tabs } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon } from '../../../ui/primitives/icons.tsx';

export type PanelName = 'component' | 'yaml' | 'add' | 'problems';

const WORDS: Record<PanelName, string> = {
  component: 'Component',
  yaml: 'YAML',
  add: 'Add',
  problems: 'Problems',
};

interface Props {
  label: string;
  names: readonly PanelName[];
  shown: PanelName;
  show: (name: PanelName) => void;
  problemCount: number;
  panels: Record<PanelName, () => ReactNode>;
}

export const Panels = ({ label, names, shown, show, problemCount, panels }: Props) => (
  <Tabs
    className="editor-panels"
    value={shown}
    onChange={(value) => {
      const name = names.find((each) => each === value);
      if (name) show(name);
    }}
    keepMounted={false}
  >
    <Tabs.List aria-label={label}>
      {names.map((name) => (
        <Tabs.Tab key={name} value={name}>
          {WORDS[name]}
          {name === 'problems' && problemCount > 0 && (
            <span className="editor-count">
              <Icon name="warning" size={12} /> {problemCount}
            </span>
          )}
        </Tabs.Tab>
      ))}
    </Tabs.List>
    {names.map((name) => (
      <Tabs.Panel key={name} value={name}>
        {panels[name]()}
      </Tabs.Panel>
    ))}
  </Tabs>
);

export const panelNamed = (name: string | null): PanelName | null =>
  name === 'component' || name === 'yaml' || name === 'add' || name === 'problems' ? name : null;

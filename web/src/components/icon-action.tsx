import { Icon, type IconName } from './icons.tsx';

interface Props {
  icon: IconName;
  /** With the name of what is acted on: it is read out alone. */
  label: string;
  tip: string;
  disabled: boolean;
  act: () => void;
}

/** A button that shows an icon only. */
export const IconAction = ({ icon, label, tip, disabled, act }: Props) => (
  <button
    type="button"
    className="icon-button"
    aria-label={label}
    data-tip={tip}
    disabled={disabled}
    onClick={act}
  >
    <Icon name={icon} size={14} />
  </button>
);

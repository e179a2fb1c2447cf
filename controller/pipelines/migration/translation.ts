/**
 * What a migration consists of: the blocks of the original configuration, and what each becomes. Rules, assistants and users
 * produce the same data.
 */
/** A directive of the original configuration that has a plugin or settings of its own. */
export interface MigrationBlock {
  /** Stable while the original does not change: `b1`, `b2`, … in its order. */
  id: string;
  directive: 'source' | 'filter' | 'match' | 'system' | 'unknown';
  /** `@type`, without the prefix of its kind: `tail`, `record_transformer`, `copy`. Null without one. */
  plugin: string | null;
  /** The tag pattern of a filter or match. */
  pattern: string;
  /** The `<label>` that the block stands in; null outside of labels. */
  label: string | null;
  /** The lines of the original. */
  text: string;
  line: number;
  endLine: number;
}

/** `complete`: behaves as the original. `partial`: notes tell what differs. `open`: nothing stands for it yet. */
export type BlockStatus = 'complete' | 'partial' | 'open';

export interface BlockNote {
  /** `difference`: it behaves otherwise than the original. `action`: a user must do something first. */
  level: 'info' | 'difference' | 'action';
  message: string;
  /** Line in the original configuration. */
  line: number | null;
}

export interface TranslatedComponent {
  componentKey: string;
  kind: 'SOURCE' | 'TRANSFORM' | 'SINK';
  componentType: string;
  config: Record<string, unknown>;
  /** Component keys, with `.port` for named outputs. */
  inputs: readonly string[];
}

export interface BlockTranslation {
  blockId: string;
  status: BlockStatus;
  /** 0 to 1: how sure the translation is to behave as the original. */
  confidence: number;
  origin: 'rules' | 'assistant' | 'user';
  components: readonly TranslatedComponent[];
  notes: readonly BlockNote[];
}
